"""Compiled forward programs joined to the tape: their backward is one C call too.

When a compiled function returns tensors whose graph is still to be differentiated (``tg.compile(model)`` in an eager
loop), the recorded graph is differentiated and split: the forward program hands out what the backward program needs,
and one tape node stands for the whole call.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...compiler.absent import without
from ...compiler.differentiate import differentiate
from ...compiler.graph import Graph
from ...compiler.passes.simplify import simplify
from ...compiler.split import Split, split
from ...ops.array import Buffer, eager
from ...ops.exposure import is_exposed
from ...ops.layouts.formats import in_order
from ...ops.lazy import lazy
from ...ops.locks import new_lock
from ...runtime.errors import RuntimeFault
from ...tape.fused import Watched
from ...tape.grad_mode import is_recording
from ...tape.nodes import SECOND_BACKWARD, Edge, Saved, class_called
from ...tape.nodes import Node as TapeNode
from ...tape.saved import HandedOut, PastVersions
from ...tensors.tensor import Tensor, make
from ...tracing.watch import serve
from ..common.autograd_graph import leading_to
from ..common.classes import is_a
from ..common.outermost import clean_up, entry
from ..execution.binding import Binding
from ..execution.double_backward import Again, evaluated, gradients_of, inputs_of
from ..execution.shape_cache import Programs
from .deferred_calls import Deferred, deferring
from .eager_tape import EagerTape, ResultsRead
from .inner_results import computed_of, require_no_others
from .kept_input import KeptInput, Snapshot
from .program_calls import PendingArray, ProgramCall
from .tiers import runs_worth_building


class Backward:
    """The backward programs of one specialisation: one for each set of results that a gradient arrives at."""

    def __init__(
        self,
        graph: Graph,
        live: Sequence[str],
        wrt: Sequence[str],
        programs: Programs,
        eager: EagerTape,
        orders: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.eager = eager
        self._orders = {f"grad_{label}": order for label, order in orders.items()}
        gradients = differentiate(graph, live, wrt)
        reached = {result.name for result in gradients.results}
        self.wrt = tuple(label for label in wrt if f"grad_{label}" in reached)  # not what is detached on the way
        self.live = tuple(live)
        self.graph = graph
        reads = inputs_of(graph, live)
        self.parts: Split = split(graph, gradients, reads)
        self.programs = programs
        seeds = [node for node in self.parts.backward.inputs if node.label not in self.parts.saved]
        arriving = seeds[len(seeds) - len(self.live) :]
        self._cotangent_labels = [node.label for node in arriving]
        self._cotangent_types = [(node.type.shape, node.type.dtype.numpy) for node in arriving]
        self._lock = new_lock()
        self._whole = BackwardProgram(programs, self.parts.backward)
        self._partial: dict[frozenset[str], BackwardProgram] = {}
        self._wholes: dict[tuple[tuple[str, ...], ...], Again] = {}  # by what they read, what arrives, what is wanted
        computed = (*self.parts.saved, *self._cotangent_labels)
        self.own = tuple(label for label in self._whole.labels if label not in computed)
        # What the graph reads, so that it can be done again: what is still there after the call, and what is saved.
        self.reads = tuple(label for label in reads if label not in self.parts.before)
        self.before = {label: name for label, name in self.parts.before.items() if label in reads}

    @property
    def copied(self) -> bool:
        """True if a call copies inputs that eager mode does not look at again."""
        return not self.eager.inputs.issuperset(self.own)

    @lazy
    def results_read(self) -> ResultsRead:
        """Which results the backward pass reads where their holders see them."""
        return ResultsRead.of(self.eager, self.live, self.graph, self.parts)

    @lazy
    def computed_of(self) -> Mapping[int, frozenset[int]]:
        """By the place of a result of which others are computed: the places of these."""
        return computed_of(self.graph, self.live)

    @lazy
    def told_of(self) -> tuple[int, ...]:
        """The results that eager mode's tape keeps, where the backward pass does not read just what that reads: a call
        is told when their memory is given to code outside, which may write to it uncounted."""
        return () if self.results_read.are_all else self.eager.outputs

    @lazy
    def kept(self) -> tuple[str, ...]:
        """The inputs of the graph that a node of the tape keeps, in their order: gradients are recorded in it."""
        kept = {*self.own, *self.eager.inputs, *self.reads}
        return tuple([node.label for node in self.graph.inputs if node.label in kept])

    def snapshot(self, label: str, tensor: Any) -> Snapshot:
        """How an input is now. Of one that no gradient goes to, a node keeps the memory, as that of `detach()` does,
        not the history: a state that is detached in each call would keep those of all calls before."""
        if label not in self.wrt and is_a(tensor, Tensor) and tensor._node is not None:
            shown = make(tensor.ndarray, tensor.buffer, tensor.steps)
            shown.place = tensor.place
            tensor = shown
        return label, tensor, tensor.ndarray, tensor.buffer, tensor.steps

    @property
    def needed(self) -> set[str]:
        """The inputs of the graph that a node of the tape has to do with: it leads there, or keeps them."""
        return {*self.wrt, *self.kept}

    def run(
        self, own: Mapping[str, Any], saved: Sequence[Any], cotangents: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """The gradients in the order of `wrt`, None where there is none. Values are tensors, or arrays of their own."""
        arrived = dict(zip(self._cotangent_labels, cotangents, strict=True))
        given: dict[str, Any] = {label: g for label, g in arrived.items() if g is not None}
        given.update(zip(self.parts.saved, saved, strict=True))
        given.update(own)
        absent = frozenset(label for label, g in arrived.items() if g is None)
        program = self._without(absent) if absent else self._whole
        gradients = program.note_or_run(given)
        for name, order in self._orders.items():
            if name in gradients:
                gradients[name] = in_order(gradients[name], order)
        return [gradients.get(f"grad_{label}") for label in self.wrt]

    def require_types(self, cotangents: Sequence[Tensor | None]) -> None:
        """RuntimeError for gradients that are not as the results: C would read their memory as if they were."""
        for g, (shape, dtype) in zip(cotangents, self._cotangent_types, strict=True):
            if g is not None and (g.ndarray.shape != shape or g.ndarray.dtype != dtype):
                raise RuntimeError(
                    f"a gradient of {g.dtype} and shape {list(g.shape)} has come to a compiled call whose result is "
                    f"of {dtype} and shape {list(shape)}\n  in backward()\n"
                    "  Give gradients the type and shape of their results."
                )

    def _without(self, absent: frozenset[str]) -> BackwardProgram:
        with self._lock:
            if absent not in self._partial:
                graph = simplify(without(self.parts.backward, absent, self._cotangent_labels))
                self._partial[absent] = BackwardProgram(self.programs, graph)
            return self._partial[absent]

    def run_again(
        self, given: dict[str, Tensor], cotangents: Sequence[Tensor | None], wanted: Sequence[bool]
    ) -> list[Tensor | None]:
        """The gradients with a history, by doing the recorded graph once more as eager mode does.

        That is a piece of the library's work with tensors as arguments: in re-recorded calls a part, whose backward
        pass is a program, too, and so on.
        """
        arrived = {name: g for name, g in zip(self.live, cotangents, strict=True) if g is not None}
        wrt = tuple([label for label, want in zip(self.wrt, wanted, strict=True) if want])
        whole = self._again(tuple(given), tuple(arrived), wrt)
        tensors = (*given.values(), *arrived.values())
        found = whole(*tensors) if deferring() is None else serve(whole, whole, tensors, {})
        gradients = dict(zip(wrt, found, strict=True))
        return [gradients.get(label) for label in self.wrt]

    def _again(self, labels: tuple[str, ...], live: tuple[str, ...], wrt: tuple[str, ...]) -> Again:
        with self._lock:
            return self._wholes.setdefault((labels, live, wrt), gradients_of(self.graph, labels, live, wrt))


class BackwardProgram:
    """One backward pass. It is built when it is first made by itself, not as part of a segment."""

    def __init__(self, programs: Programs, graph: Graph) -> None:
        self._programs = programs
        self._graph = graph
        self._results = [r.name for r in graph.results]
        self.labels = tuple(node.label for node in graph.inputs)
        self._types = {r.name: r.node.type for r in graph.results}
        self._call = ProgramCall(graph, self.labels, ())
        self._runs = 0

    def note_or_run(self, given: Mapping[str, Any]) -> dict[str, Tensor]:
        """The gradients by name: noted by an interpreter that computes later, else computed now."""
        deferred = deferring()
        if deferred is None:
            return self.run(given)
        fresh = {name: make(np.empty(of.shape, of.dtype.numpy)) for name, of in self._types.items()}
        arrays = [gradient.ndarray for gradient in fresh.values()]
        operands = [given[label] for label in self._call.operands]
        operands = [PendingArray.holding(o) if type(o) is np.ndarray else o for o in operands]
        deferred.call(self._call, operands, arrays)
        for i, gradient in enumerate(fresh.values()):
            gradient.place = deferred.place_of_result(i, len(fresh))
        return fresh

    @lazy
    def _binding(self) -> Binding | None:
        """The program's table; None if it cannot be built, which is said in a warning."""
        try:
            binding = Binding(self._programs.of(self._graph))
            binding.build()
        except RuntimeFault:
            return None
        return binding

    def run(self, given: Mapping[str, Any]) -> dict[str, Tensor]:
        """The gradients by name. `given` holds the inputs by label (as `numbers_now` takes them), and may hold more."""
        self._runs += 1
        waits = self._programs.patient and self._runs < runs_worth_building(self._graph)
        binding = None if waits else self._binding
        if binding is None:  # the forward pass is done, and needs its gradients
            return self._evaluated(given)
        with binding.lock:
            kept = [dense(np.asarray(numbers_now(given[label]))) for label in self.labels]
            for label, values in zip(self.labels, kept, strict=True):
                binding.point(binding.slot_of[label], values)
            # Arrays of numpy's own, which a leaf takes for its gradient as they are.
            gradients = {name: binding.fresh_result(i, empty=np.empty) for i, name in enumerate(self._results)}
            binding.run()
        del kept
        for gradient in gradients.values():
            gradient.is_of_program = True
        return gradients

    def _evaluated(self, given: Mapping[str, Any]) -> dict[str, Tensor]:
        inputs = {label: make(numbers_now(given[label])) for label in self.labels}
        found = evaluated(self._graph, self._results, inputs)
        return {name: make(_copied(value)) for name, value in zip(self._results, found, strict=True)}


class CompiledNode(TapeNode):
    """One call of a compiled function on the tape. `still` is set, and counted `made_at`, where it was expected."""

    still: Any = None
    made_at = -1
    _watched: tuple[Watched, ...] = ()  # besides what the backward pass reads
    _shown: tuple[PastVersions, ...] = ()  # results' memory that may be written to unseen

    def __init__(
        self,
        backward: Backward,
        sources: dict[str, Tensor],
        known: Mapping[str, Edge],
        saved: Sequence[Any],
        live: list[Tensor],
        deferred: Deferred | None = None,
    ) -> None:
        edges = [known.get(label) or sources[label].gradient_edge() for label in backward.wrt]
        super().__init__(backward.eager.title, tuple(edges))
        self.rename(backward.eager.title)
        self._backward = backward
        self.inputs: tuple[Snapshot, ...] = tuple([backward.snapshot(label, sources[label]) for label in backward.kept])
        self.versions = tuple([kept[3].version for kept in self.inputs])
        self._outputs = [Saved(live[i], is_output=True) for i in backward.eager.outputs]
        for i in backward.told_of:
            live[i].buffer.reader = weakref.ref(self)
        # Where eager mode does not look at an input again, it may be overwritten before the backward pass.
        copied = _copied if deferred is None else deferred.copied
        self._copies = {label: copied(sources[label]) for label in backward.own if label not in backward.eager.inputs}
        self._saved = saved
        # Where the call was noted, if it was.
        self.segment, self.token = (None, -1) if deferred is None else (deferred.segment, deferred.here.tokens)
        self._released = False
        self.outputs = len(live)

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
        if not self._backward.results_read.are_all:
            self._shown = (*self._shown, PastVersions(buffer))

    def handed_out(self, buffer: Buffer) -> None:
        if not self._released and not any(each.has_numbers_of(buffer) for each in self._shown):
            self._shown = (*self._shown, HandedOut(buffer))

    def is_intact(self) -> bool:
        """True if a backward pass can go through: it has not yet, and what it needs has not been overwritten."""
        if self._released or any(each.is_written for each in self._shown):
            return False
        for output in self._outputs:
            if output.tensor.buffer.version != output.version or is_exposed(output.tensor.ndarray):
                return False
        if not all(each.holds() for each in self._watched):
            return False
        for version, (_, tensor, array, buffer, _) in zip(self.versions, self.inputs, strict=True):
            if tensor.ndarray is not array or buffer.version != version:
                return False
        return True

    def require_whole(self, asked: Sequence[int], arrived: Collection[int]) -> None:
        require_no_others(self._backward.computed_of, asked, arrived)

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
        for shown in self._shown:
            shown.look(self)
        for each in self._watched:
            each.check(self)
        for output in self._outputs:
            output.look(self)  # it is not read, but eager mode refuses if somebody has written to it
        self._backward.require_types(cotangents)
        if is_recording():
            gradients = self._backward.run_again(self._given_again(), cotangents, wanted)
        else:
            tape = self._backward.eager
            inputs = self._kept()
            kept = {label: inputs[label].as_in_eager_mode(self, tape) for label in tape.inputs}
            saved = self._backward.results_read.put_into(self._saved, self._outputs)
            gradients = self._backward.run({**kept, **self._copies}, saved, cotangents)
        return [g if want else None for g, want in zip(gradients, wanted, strict=True)]

    def _given_again(self) -> dict[str, Tensor]:
        backward = self._backward
        inputs = self._kept()
        given = {label: inputs[label].unpack_again(self) for label in backward.reads}
        for label, edge in zip(backward.wrt, self.edges, strict=True):
            if label in given and given[label].gradient_edge() != edge:
                given[label] = leading_to(edge, given[label])
        for label in backward.eager.inputs.difference(given):
            inputs[label].as_in_eager_mode(self, backward.eager)
        saved = dict(zip(backward.parts.saved, self._saved, strict=True))
        before = {label: make(numbers_now(saved[name])) for label, name in backward.before.items()}
        # Memory of what is pending was made just now; it is peek() that waits for the numbers.
        return given | {label: make(eager().peek(tensor).copy()) for label, tensor in before.items()}

    def release(self) -> None:
        if self.inputs or self._saved:
            self._released = True
            self.inputs, self.versions, self._copies, self._saved, self._outputs = (), (), {}, (), []
            self._watched, self._shown = (), ()


def dense(values: np.ndarray) -> np.ndarray:
    """The same array if C can read it, else its copy."""
    flags = values.flags
    return values if flags.c_contiguous and flags.aligned else np.array(values, order="C")


def numbers_now(value: Any) -> np.ndarray:
    """What a tensor, an array or what stands for one holds."""
    if type(value) is np.ndarray:
        return value
    if isinstance(value, Tensor):
        return eager().peek(value)
    array: np.ndarray = value.now() if isinstance(value, PendingArray) else value
    return array


def _copied(tensor: Tensor) -> np.ndarray:
    """Its numbers now, in memory of their own."""
    return np.array(tensor.ndarray, order="C")
