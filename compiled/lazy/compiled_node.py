"""Calls of compiled programs on the tape: one node stands for all that eager mode would have there, or one for each
group of results that eager mode can go back through by itself."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...ops.array import Buffer, eager
from ...ops.exposure import is_exposed
from ...tape.fused import Watched
from ...tape.grad_mode import is_recording
from ...tape.node import class_called
from ...tape.nodes import SECOND_BACKWARD, Edge, Saved
from ...tape.nodes import Node as TapeNode
from ...tape.saved import HandedOut, PastVersions
from ...tensors.tensor import Tensor, make
from ..common.autograd_graph import leading_to
from ..common.outermost import clean_up, entry
from .backward_program import Backward, Group, Needed, copied_numbers, numbers_now
from .deferred_calls import Deferred
from .inner_results import require_no_others, require_no_watched
from .kept_input import KeptInput, Snapshot


class CompiledNode(TapeNode):
    """One call of a compiled function on the tape, or a group of its results. `still` is set, and counted `made_at`,
    where it was expected."""

    still: Any = None
    made_at = -1
    _watched: tuple[Watched, ...] = ()  # besides what the backward pass reads
    _shown: tuple[PastVersions, ...] = ()  # results' memory that may be written to unseen

    def __init__(
        self,
        backward: Backward,
        group: Group,
        sources: dict[str, Tensor],
        known: Mapping[str, Edge],
        saved: Sequence[Any],
        live: list[Tensor],
        deferred: Deferred | None = None,
    ) -> None:
        wrt = [backward.wrt[i] for i in group.wrt]
        edges = [known.get(label) or sources[label].gradient_edge() for label in wrt]
        super().__init__(group.title, tuple(edges))
        self.rename(group.title)
        self._backward, self._group = backward, group
        concerned = {*group.own, *group.saved, *group.labels.intersection(backward.reads)}
        kept = [label for label in backward.kept if label in concerned]
        self.inputs: tuple[Snapshot, ...] = tuple([backward.snapshot(label, sources[label]) for label in kept])
        self.versions = tuple([kept[3].version for kept in self.inputs])
        places = enumerate(backward.eager.outputs)
        self._outputs = {j: Saved(live[i], is_output=True) for j, i in places if i in group.outputs}
        for i in backward.eager.outputs:  # code outside that is given their memory may write to it uncounted
            if i in group.outputs:
                live[i].buffer.reader = weakref.ref(self)
        # Where eager mode does not look at an input again, it may be overwritten before the backward pass.
        copied = copied_numbers if deferred is None else deferred.copied
        self._copies = {label: copied(sources[label]) for label in backward.own if label in group.copied}
        self._saved = saved
        # Where the call was noted, if it was.
        self.segment, self.token = (None, -1) if deferred is None else (deferred.segment, deferred.here.tokens)
        self._released = False
        self.outputs = len(group.places)

    @classmethod
    def called(cls, title: str) -> type[CompiledNode]:
        """The class of nodes with this title."""
        return class_called(cls, title)  # type: ignore[return-value]

    @property
    def backward_programs(self) -> Backward:
        return self._backward

    def _kept(self) -> dict[str, KeptInput]:
        return {kept[0]: KeptInput(kept, version) for kept, version in zip(self.inputs, self.versions, strict=True)}

    def keep(self, tensors: Mapping[str, Any], out: Any) -> None:
        """As of nodes of primitives: a write to one of `tensors` is an error from now on; `out` is the result."""
        self._watched = (*self._watched, *[Watched.of(x, x is out) for x in tensors.values()])

    def shown_past_versions(self, buffer: Buffer) -> None:
        self._shown = (*self._shown, PastVersions(buffer))

    def handed_out(self, buffer: Buffer) -> None:
        if not self._released and not any(each.has_numbers_of(buffer) for each in self._shown):
            self._shown = (*self._shown, HandedOut(buffer))

    def is_intact(self) -> bool:
        """True if a backward pass can go through: it has not yet, and what it needs has not been overwritten."""
        if self._released or (not self._backward.results_read.are_all and any(s.is_written for s in self._shown)):
            return False
        for output in self._outputs.values():
            if output.tensor.buffer.version != output.version or is_exposed(output.tensor.ndarray):
                return False
        if not all(each.holds() for each in self._watched):
            return False
        for version, (_, tensor, array, buffer, _) in zip(self.versions, self.inputs, strict=True):
            if tensor.ndarray is not array or buffer.version != version:
                return False
        return True

    def require_whole(self, asked: Sequence[int], arrived: Collection[int]) -> None:
        places = self._group.places
        computed = self._backward.computed_of
        require_no_others(computed, [places[i] for i in asked], [places[i] for i in arrived])

    @entry
    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        try:
            return self._backward_of(cotangents, wanted)
        except BaseException:
            clean_up()
            raise

    def _backward_of(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self._released:
            raise RuntimeError(SECOND_BACKWARD)
        group, backward = self._group, self._backward
        needed = backward.needed_for(group, cotangents, wanted)
        arrived: list[Any] = [None] * len(backward.live)
        for place, g in zip(group.places, cotangents, strict=True):
            if place in needed.leading:
                arrived[place] = g
        backward.require_types(arrived)
        self._look(needed)
        if is_recording():
            watched = [place for i, place in enumerate(group.places) if i in self.tensor_hooks or i in self.retained]
            require_no_watched(needed.outputs.intersection(watched))
            asked = spread(wanted, group.wrt, len(backward.wrt), False)
            gradients = backward.run_again(self._given_again(needed), arrived, asked)
        else:
            inputs = self._kept()
            kept = {label: inputs[label].as_in_eager_mode(self, backward.eager) for label in needed.inputs}
            # C reads more than what is asked for needs.
            kept.update({label: inputs[label].unchecked() for label in needed.others})
            saved = backward.results_read.put_into(self._saved, self._outputs)
            gradients = backward.run({**kept, **self._copies}, saved, arrived)
        return [gradients[i] if want else None for i, want in zip(group.wrt, wanted, strict=True)]

    def on_the_way(self, wanted: Sequence[bool]) -> Collection[int]:
        leading = self._backward.leading(self._group, wanted)
        return [i for i, place in enumerate(self._group.places) if place in leading]

    def beside(self, outputs: Collection[int]) -> Collection[int]:
        places, nodes = self._group.places, self._backward.eager.nodes
        same = {nodes[places[i]] for i in outputs}
        return [i for i, place in enumerate(places) if nodes[place] in same]

    def _look(self, needed: Needed) -> None:
        """RuntimeError where somebody has written to what eager mode would look at."""
        # A backward program reads results where their holders write; where the call is done again, or something was
        # computed of a result, that is not so.
        if is_recording() or not self._backward.results_read.are_all:
            for shown in self._shown:
                shown.look(self)
        for each in self._watched:
            each.check(self)
        for j, output in self._outputs.items():
            if self._backward.eager.outputs[j] in needed.outputs:
                output.look(self)  # it is not read, but eager mode refuses if somebody has written to it

    def _given_again(self, needed: Needed) -> dict[str, Tensor]:
        backward = self._backward
        inputs = self._kept()
        labels, saved_by_tape = self._group.labels & needed.again, needed.inputs
        given = {label: inputs[label].unpack_again(self) for label in backward.reads if label in labels}
        for label, edge in zip([backward.wrt[i] for i in self._group.wrt], self.edges, strict=True):
            if label in given and given[label].gradient_edge() != edge:
                given[label] = leading_to(edge, given[label])
        for label in saved_by_tape.difference(given):
            inputs[label].as_in_eager_mode(self, backward.eager)
        saved = dict(zip(backward.parts.saved, self._saved, strict=True))
        before = {k: make(numbers_now(saved[name])) for k, name in backward.before.items() if k in labels}
        # Memory of what is pending was made just now; it is peek() that waits for the numbers.
        return given | {label: make(eager().peek(tensor).copy()) for label, tensor in before.items()}

    def release(self) -> None:
        if self.inputs or self._saved:
            self._released = True
            self.inputs, self.versions, self._copies, self._saved, self._outputs = (), (), {}, (), {}
            self._watched, self._shown = (), ()


def spread(values: Sequence[Any], places: Sequence[int], count: int, otherwise: Any) -> list[Any]:
    """A list of `count` with the `values` in their places."""
    found = [otherwise] * count
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found
