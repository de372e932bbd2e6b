"""Noting a call of a specialisation, in a re-recorded call of another function, instead of making it.

Everything that such a call does to Python objects happens at once: versions, histories, the tensors that it returns.
Only the numbers come later, when the segment is done; its program joins the graphs of all calls noted in it, forward,
backward and update, as if the function had been replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...compiler.graph import Graph
from ...ops.exposure import exposes_any
from ...ops.types import Type
from ...tensors.tensor import Tensor, make
from ...tracing.watch import changes
from ..common.pytree import at
from ..execution.shape_cache import Programs
from ..lazy.deferred_calls import NOT_NOTED, Deferred
from ..lazy.program_calls import PendingArray, ProgramCall
from ..recording.recording import Recording
from ..replay.arguments import Args, Kwargs
from ..replay.captured_inputs import CapturedInputs
from ..replay.returned import gives_its_own
from ..replay.specialisation import Specialisation
from .argument_checks import checks_of
from .guard_looks import Looks

MOST_CALLS = 4  # forms of a program's captured memory; what changes more often is not noted


class NotedSpecialisation(Specialisation):
    """A specialisation whose calls can be noted, if there is a `plan`."""

    def __init__(self, recording: Recording, programs: Programs) -> None:
        self.gives_its_own = gives_its_own(recording)
        super().__init__(recording, programs)
        self.plan = CallPlan.of(self)
        self.kinds = tuple(kind for kind in self.counted if kind != "grads")  # of changes that concern noted calls
        self._looks: tuple[ProgramCall | None, Looks | None] = None, None

    def note(self, deferred: Deferred, args: Args, kwargs: Kwargs) -> Any:
        """Let `deferred` make the call later, together with others; NOT_NOTED if it has to be made now.

        As for `call`, the caller has made sure that it matches, and holds `lock`.
        """
        fresh = None if self.plan is None else self.plan.note(deferred, (args, kwargs))
        return NOT_NOTED if fresh is None else self.results.hand_out(fresh, (args, kwargs), self.inputs.values)

    def looks_at(self, call: ProgramCall) -> Looks:
        """Whether calls can be noted as `call`, the plan's own, as they were."""
        known, looks = self._looks
        if known is not call or looks is None:
            looks = Looks(self, lambda: self.plan is not None and self.plan.is_unmoved(call, self.captured))
            self._looks = call, looks
        return looks


class CallPlan:
    """How calls of one specialisation are noted. ``note()`` gives None where this call has to be made."""

    def __init__(self, specialisation: Specialisation) -> None:
        self._of = specialisation
        self._graph: Graph = _without_presumed(specialisation)
        labels = {node.label for node in self._graph.inputs}
        recording = specialisation.recording
        self.arguments = [(root.node.label, path) for path, root in recording.arguments if root.node.label in labels]
        captured = [each for each in specialisation.captured.all if each.root.node.label in labels]
        self.gradients = [each for each in captured if each.slot is not None]
        self._captured = [each for each in captured if each.slot is None]
        self.moving: list[Any] = []  # those that have been given other memory: operands, as arguments are
        self.numbers = specialisation.number_arrays(labels)
        checks = checks_of(self._graph, dict(self.arguments))
        self.can_be_checked = checks is not None
        self.checks = checks or []  # what calls refuse of the numbers in arguments
        self.call: ProgramCall | None = None
        self._calls = 0
        self._seen = -1  # the value of `changes` for which the captured arrays are known to be the same
        types = {r.name: r.node.type for r in self._graph.results if r.is_returned}
        self.fresh = [(types[o.name], o.version) for o in specialisation.results.fresh]
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
        return plan if plan.can_be_checked and not any(each.written for each in plan.gradients) else None

    def note(self, deferred: Deferred, call_arguments: Any) -> list[Tensor] | None:
        """Note a call that the specialisation matches; returns its new tensors, and attaches their history."""
        call = self._current()
        if call is None:
            return None
        operands = [each.now(call_arguments) for each in self.gradients] + [each.array for each in self.moving]
        operands += [PendingArray.holding(array.copy()) for _, array in self.numbers]
        return self.noted(deferred, call, operands, call_arguments)

    def noted(
        self,
        deferred: Deferred,
        call: ProgramCall,
        operands: Sequence[Any],
        call_arguments: Any,
        instead: Mapping[int, Tensor] | None = None,
    ) -> list[Tensor] | None:
        """`note` for a call with these operands behind the arguments; `instead` stands for captured tensors, by the
        identity of these."""
        if exposes_any(call.owners) or not all(check.passes(deferred, call_arguments) for check in self.checks):
            return None  # what a check refuses raises when the call is made
        given = [at(call_arguments, path) for _, path in self.arguments]
        fresh = [_empty(of, version) for of, version in self.fresh]
        saved = [PendingArray(shape, dtype) for shape, dtype in self.saved]
        if not deferred.call(call, [*given, *operands], [*(t.ndarray for t in fresh), *saved]):
            return None
        for i, tensor in enumerate(fresh):
            tensor.place = deferred.place_of_result(i, len(fresh) + len(saved))
        of = self._of
        for buffer in of.captured.written_buffers:
            buffer.version += 1
        changes.count += of.captured.writes_normals
        of.join_tape(fresh, saved, call_arguments, deferred, instead)
        return fresh

    def is_unmoved(self, call: ProgramCall, captured: CapturedInputs) -> bool:
        """True if the tensors that calls are noted with are where they were, but for those that are operands."""
        return self.call is call and captured.are_unmoved(self.moving) and call.is_current()

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


def _without_presumed(of: Specialisation) -> Graph:
    """Its graph without the checks of which guards tell the outcome: they look at counts that may be pending."""
    presumed = of.recording.recorder.number_checks.given
    left = tuple(result for result in of.graph.results if not (result.is_check and result.node in presumed))
    return of.graph if len(left) == len(of.graph.results) else replace(of.graph, results=left)


def _empty(of: Type, version: int) -> Tensor:
    """A result whose numbers are still to be computed."""
    tensor = make(np.empty(of.shape, of.dtype.numpy))
    tensor.buffer.version = version
    return tensor
