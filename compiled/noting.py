"""Noting a call of a specialisation, in a re-recorded call of another function, instead of making it.

Everything that such a call does to Python objects happens at once: versions, histories, the tensors that it returns.
Only the numbers come later, when the segment is done; its program joins the graphs of all calls noted in it, forward,
backward and update, as if the function had been replayed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.tensor import Tensor, make
from ..autograd.watch import changes
from ..compiler.graph import Graph, Node, topological
from ..ops.exposure import exposes_any
from .program_calls import PendingArray, ProgramCall
from .structure import Path, at

if TYPE_CHECKING:
    from .deferred import Deferred
    from .specialisation import Specialisation

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
        self._checks = _checks(self._graph, {label for label, _ in self._arguments})
        self._call: ProgramCall | None = None
        self._calls = 0
        self._seen = -1  # the value of `changes` for which the captured arrays are known to be the same
        types = {r.name: r.node.type for r in self._graph.results if r.into is None}
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
        if not self._passes_checks(deferred, call_arguments):
            return None
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

    def _passes_checks(self, deferred: Deferred, call_arguments: Any) -> bool:
        """False if an argument holds numbers that the call would refuse: then it is made, and raises."""
        return not self._checks or _pass(self._checks, dict(self._arguments), deferred, call_arguments)


def _checks(graph: Graph, arguments: set[str]) -> list[tuple[Node, list[Node]]] | None:
    """The nodes that refuse some numbers, with what leads there from the arguments; None if these numbers are only
    known when the graph is computed."""
    found = []
    for node in graph.nodes():
        if node.op.check is not None:
            names = node.op.inputs
            looked_at = [arg for name, arg in zip(names, node.args, strict=True) if name in node.op.check.needs]
            way = topological(looked_at)
            if any(n.is_input and n.label not in arguments for n in way) or any(_is_float(n) for n in way):
                return None
            found.append((node, way))
    return found


def _is_float(node: Node) -> bool:
    return node.type.dtype.is_floating_point


def _pass(checks: Any, paths: dict[str, Path], deferred: Deferred, call_arguments: Any) -> bool:
    values: dict[Node, Any] = {}
    for node, way in checks:
        for each in way:
            if each.is_input:
                values[each] = deferred.peek_if_pending(at(call_arguments, paths[each.label]))
            elif each not in values:
                values[each] = np.asarray(each.op.evaluate(*(values[a] for a in each.args), **dict(each.params)))
        known = dict(node.params)
        for name, arg in zip(node.op.inputs, node.args, strict=True):
            known[f"{name}_type"] = arg.type
            if arg in values:
                known[name] = values[arg]
        try:
            node.op.check.rule(**{name: known[name] for name in node.op.check.needs})
        except Exception:  # what it is comes from the call itself
            return False
    return True
