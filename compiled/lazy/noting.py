"""Noting a call of a specialisation, in a re-recorded call of another function, instead of making it.

Everything that such a call does to Python objects happens at once: versions, histories, the tensors that it returns.
Only the numbers come later, when the segment is done; its program joins the graphs of all calls noted in it, forward,
backward and update, as if the function had been replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiler.graph import Graph
from ...ops.exposure import exposes_any
from ...tensors.tensor import Tensor, make
from ...tracing.watch import changes
from ..common.pytree import at
from .argument_checks import ArgumentCheck, Requirement, checks_of
from .program_calls import PendingArray, ProgramCall

if TYPE_CHECKING:
    from ..inputs.captured_inputs import CapturedInputs
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
        self.arguments = [(root.node.label, path) for path, root in recording.arguments if root.node.label in labels]
        captured = [each for each in specialisation.captured.all if each.root.node.label in labels]
        self.gradients = [each for each in captured if each.slot is not None]
        self._captured = [each for each in captured if each.slot is None]
        self.moving: list[Any] = []  # those that have been given other memory: operands, as arguments are
        self.numbers = specialisation.number_arrays(labels)
        self._checks = checks_of(self._graph, dict(self.arguments))
        self.call: ProgramCall | None = None
        self._calls = 0
        self._seen = -1  # the value of `changes` for which the captured arrays are known to be the same
        types = {r.name: r.node.type for r in self._graph.results if r.is_returned}
        self.fresh = [(types[o.name].shape, types[o.name].dtype.numpy) for o in specialisation.results.fresh]
        names = () if specialisation.backward is None else specialisation.backward.parts.saved
        self.saved = [(types[name].shape, types[name].dtype.numpy) for name in names]

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
        return None if plan._checks is None or any(each.written for each in plan.gradients) else plan

    def note(self, deferred: Deferred, call_arguments: Any) -> list[Tensor] | None:
        """Note a call that the specialisation matches; returns its new tensors, and attaches their history."""
        call = self._current()
        if call is None or exposes_any(call.owners):
            return None
        given = [at(call_arguments, path) for _, path in self.arguments]
        gradients = [each.now(call_arguments) for each in self.gradients]
        for check in self._checks or ():
            if not check.passes(deferred, call_arguments):
                return None  # it has to be made, and raises
        moving = [each.array for each in self.moving]
        numbers = [PendingArray.holding(array.copy()) for _, array in self.numbers]
        fresh = [make(np.empty(shape, dtype)) for shape, dtype in self.fresh]
        saved = [PendingArray(shape, dtype) for shape, dtype in self.saved]
        if not deferred.call(call, [*given, *gradients, *moving, *numbers], [*(t.ndarray for t in fresh), *saved]):
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

    @property
    def checks(self) -> Sequence[ArgumentCheck | Requirement]:
        """What calls refuse of the numbers in arguments."""
        return self._checks or ()

    def is_unmoved(self, captured: CapturedInputs) -> bool:
        """True if the tensors that calls are noted with are where they were, but for those that are operands."""
        return captured.are_unmoved(self.moving) and self.call is not None and self.call.is_current()

    def _current(self) -> ProgramCall | None:
        """The call with the captured arrays as they are now; None if it cannot be noted."""
        call = self.call
        now = changes.count + changes.memories
        if call is None or self._seen != now:
            self._seen = -1
            if call is None or not call.is_current():
                call = self._renewed(call)
            if call is None:
                return None
            self._seen = now
        return call if call.is_regular else None

    def _renewed(self, call: ProgramCall | None) -> ProgramCall | None:
        """The call after captured tensors have been given other memory: they are operands from now on."""
        if self._calls >= MOST_CALLS or self._of.captured.copied:
            return None
        self._calls += 1
        moved = () if call is None else call.moved()
        self.moving += [each for each in self._captured if each.root.node.label in moved and not each.written]
        self._captured = [each for each in self._captured if each not in self.moving]
        operands = [label for label, _ in self.arguments]
        operands += [each.root.node.label for each in (*self.gradients, *self.moving)]
        operands += [label for label, _ in self.numbers]
        captured = [(each.root.node.label, each.array) for each in self._captured]
        self.call = ProgramCall(self._graph, operands, captured)
        return self.call
