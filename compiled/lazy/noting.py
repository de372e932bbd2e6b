"""Noting a call of a specialisation, in a re-recorded call of another function, instead of making it.

Everything that such a call does to Python objects happens at once: versions, histories, the tensors that it returns.
Only the numbers come later, when the segment is done; its program joins the graphs of all calls noted in it, forward,
backward and update, as if the function had been replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiler.graph import Graph, Node, topological
from ...ops.exposure import exposes_any
from ...tensors.tensor import Tensor, make
from ...tracing.watch import changes
from ..common.pytree import Path, at
from .program_calls import PendingArray, ProgramCall

if TYPE_CHECKING:
    from ..replay.specialisation import Specialisation
    from .deferred_calls import Deferred

MOST_CALLS = 4  # forms of a program's captured memory; what changes more often is not noted


class CallPlan:
    """How calls of one specialisation are noted. ``note()`` gives None where this call has to be made."""

    def __init__(self, specialisation: Specialisation) -> None:
        self._of = specialisation
        self._graph: Graph = specialisation.graph
        labels = {node.label for node in self._graph.inputs}
        recording = specialisation.recording
        self._arguments = [(root.node.label, path) for path, root in recording.arguments if root.node.label in labels]
        captured = [each for each in specialisation.captured.all if each.root.node.label in labels]
        self._gradients = [each for each in captured if each.slot is not None]
        self._captured = [each for each in captured if each.slot is None]
        self._numbers = specialisation.number_arrays(labels)
        self._checks = _checks(self._graph, dict(self._arguments))
        self._call: ProgramCall | None = None
        self._calls = 0
        self._seen = -1  # the value of `changes` for which the captured arrays are known to be the same
        types = {r.name: r.node.type for r in self._graph.results if r.is_returned}
        self._fresh = [(types[o.name].shape, types[o.name].dtype.numpy) for o in specialisation.results.fresh]
        names = () if specialisation.backward is None else specialisation.backward.parts.saved
        self._saved = [(types[name].shape, types[name].dtype.numpy) for name in names]

    @staticmethod
    def of(specialisation: Specialisation) -> CallPlan | None:
        """The plan, None if calls cannot be noted: they set gradients, write to arguments, lay results out in another
        way, or append to lists; or what they check is known only when they are made."""
        of = specialisation
        if len(of.grads) or of.grads.to_none or of.written_arguments or of.results.appends_anything:
            return None
        if any(output.strides is not None for output in of.results.fresh):
            return None
        plan = CallPlan(of)
        return None if plan._checks is None or any(each.written for each in plan._gradients) else plan

    def note(self, deferred: Deferred, call_arguments: Any) -> list[Tensor] | None:
        """Note a call that the specialisation matches; returns its new tensors, and attaches their history."""
        call = self._current()
        if call is None or exposes_any(call.owners):
            return None
        given = [at(call_arguments, path) for _, path in self._arguments]
        gradients = [each.now(call_arguments) for each in self._gradients]
        for check in self._checks or ():
            if not check.passes(deferred, call_arguments):
                return None  # it has to be made, and raises
        numbers = [PendingArray.holding(array.copy()) for _, array in self._numbers]
        fresh = [make(np.empty(shape, dtype)) for shape, dtype in self._fresh]
        saved = [PendingArray(shape, dtype) for shape, dtype in self._saved]
        if not deferred.call(call, [*given, *gradients, *numbers], [*(t.ndarray for t in fresh), *saved]):
            return None
        count = len(fresh) + len(saved)
        for i, tensor in enumerate(fresh):
            tensor.place = deferred.place_of_result(i, count)
        of = self._of
        for buffer in of.captured.written_buffers:
            buffer.version += 1
        changes.count += of.captured.writes_normals
        of.join_tape(fresh, saved, call_arguments, deferred)
        return fresh

    def _current(self) -> ProgramCall | None:
        call = self._call
        if call is not None and self._seen == changes.count:
            return call if call.is_regular else None
        self._seen = changes.count
        if call is None or not call.is_current():
            if self._calls >= MOST_CALLS or self._of.captured.copied:
                return None
            self._calls += 1
            operands = [label for label, _ in self._arguments]
            operands += [each.root.node.label for each in self._gradients]
            operands += [label for label, _ in self._numbers]
            captured = [(each.root.node.label, each.array) for each in self._captured]
            call = self._call = ProgramCall(self._of.program, self._graph, operands, captured)
        return call if call.is_regular else None


class LookedAt:
    """Values that follow from the arguments of a call, computed before it is noted."""

    def __init__(self, way: Sequence[Node], paths: dict[str, Path]) -> None:
        self._inputs = [(each, paths[each.label]) for each in way if each.is_input]
        self._inner = [each for each in way if not each.is_input]

    def values(self, deferred: Deferred, call_arguments: Any) -> dict[Node, Any]:
        """All of them; what is pending is done first."""
        values: dict[Node, Any] = {}
        for node, path in self._inputs:
            values[node] = deferred.peek_if_pending(at(call_arguments, path))
        with np.errstate(all="ignore"):
            for node in self._inner:
                operands = [values[arg] for arg in node.args]
                values[node] = np.asarray(node.op.evaluate(*operands, **dict(node.params)))
        return values


class ArgumentCheck(LookedAt):
    """What one node of the graph refuses of the numbers in arguments."""

    def __init__(self, node: Node, way: Sequence[Node], paths: dict[str, Path]) -> None:
        super().__init__(way, paths)
        check = node.op.check
        assert check is not None
        self._rule = check.rule
        operands = list(zip(node.op.inputs, node.args, strict=True))
        known = {**dict(node.params), **{f"{name}_type": arg.type for name, arg in operands}}
        self._known = {name: known[name] for name in check.needs if name in known}
        self._operands = [(name, arg) for name, arg in operands if name in check.needs]

    def passes(self, deferred: Deferred, call_arguments: Any) -> bool:
        """False for numbers that the call would refuse."""
        values = self.values(deferred, call_arguments)
        try:
            self._rule(**self._known, **{name: values[arg] for name, arg in self._operands})
        except Exception:  # what it is comes from the call itself
            return False
        return True


class Requirement(LookedAt):
    """A result of the graph that is true where it refuses arguments."""

    def __init__(self, node: Node, way: Sequence[Node], paths: dict[str, Path]) -> None:
        super().__init__(way, paths)
        self._node = node

    def passes(self, deferred: Deferred, call_arguments: Any) -> bool:
        """False for numbers that the call would refuse."""
        return not self.values(deferred, call_arguments)[self._node]


def _checks(graph: Graph, paths: dict[str, Path]) -> list[ArgumentCheck | Requirement] | None:
    """What the nodes of the graph refuse; None if the numbers that they look at are known only when it is computed."""
    found: list[ArgumentCheck | Requirement] = []
    for node in graph.nodes():
        if node.op.check is not None:
            operands = zip(node.op.inputs, node.args, strict=True)
            way = topological(arg for name, arg in operands if name in node.op.check.needs)
            if any((n.is_input and n.label not in paths) or n.type.dtype.is_floating_point for n in way):
                return None
            found.append(ArgumentCheck(node, way, paths))
    for result in graph.results:
        if result.is_check:
            way = topological([result.node])
            if any(n.is_input and n.label not in paths for n in way):
                return None
            found.append(Requirement(result.node, way, paths))
    return found
