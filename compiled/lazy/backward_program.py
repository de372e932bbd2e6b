"""Compiled forward programs joined to the tape: their backward is one C call too.

When a compiled function returns tensors whose graph is still to be differentiated (``tg.compile(model)`` in an eager
loop), the recorded graph is differentiated and split: the forward program hands out what the backward program needs,
and a node of the tape stands for the whole call (`compiled_node.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...compiler.absent import without
from ...compiler.differentiate import differentiate
from ...compiler.graph import Graph, Node
from ...compiler.passes.simplify import simplify
from ...compiler.split import Split, split
from ...ops.array import eager
from ...ops.layouts.formats import in_order
from ...ops.lazy import lazy
from ...ops.locks import new_lock
from ...ops.sources import zeros
from ...runtime.errors import RuntimeFault
from ...tensors.tensor import Tensor, make
from ...tracing.watch import serve
from ..common.classes import is_a
from ..execution.binding import Binding
from ..execution.double_backward import Again, evaluated, gradients_of, inputs_of
from ..execution.shape_cache import Programs
from .deferred_calls import deferring
from .eager_tape import EagerTape, ResultsRead
from .inner_results import computed_of, independent
from .kept_input import Snapshot
from .program_calls import PendingArray, ProgramCall
from .tiers import runs_worth_building


class Group(NamedTuple):
    """Results of a call that one node of the tape stands for."""

    title: str  # of the node
    places: tuple[int, ...]  # of the results, among those with a history
    wrt: tuple[int, ...]  # to which inputs their gradients go, among `Backward.wrt`
    labels: frozenset[str]  # of the inputs of the graph that they are computed of
    saved: frozenset[str]  # of those that eager mode saves for them
    own: frozenset[str]  # of those that the backward program reads for them
    outputs: frozenset[int]  # the results that eager mode saves for them, which may be others: behind a detach()

    @property
    def copied(self) -> frozenset[str]:
        """The inputs that are copied: eager mode does not look at them again."""
        return self.own - self.saved


class Needed(NamedTuple):
    """What a backward pass through a group needs as it was in the call."""

    leading: frozenset[int]  # places of the results from which gradients go on to what is wanted
    inputs: frozenset[str]  # of `Group.saved` those of which eager mode looks at the versions, or C reads numbers
    others: frozenset[str]  # the rest of `Group.saved`
    outputs: frozenset[int]  # results, among those with a history
    again: frozenset[str]  # labels of the inputs of which the results are computed that gradients arrived at


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
        depending_by_zero: Sequence[frozenset[str]],
    ) -> None:
        self.eager = eager
        self._orders = {f"grad_{label}": order for label, order in orders.items()}
        self._depending_by_zero = depending_by_zero
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
        self._needed: dict[Any, Needed] = {}  # by the group, what arrives and what is wanted
        self._ends: dict[frozenset[int], tuple[frozenset[str], tuple[Node, ...]]] = {}
        self._wholes: dict[tuple[tuple[str, ...], ...], Again] = {}  # by what they read, what arrives, what is wanted
        computed = (*self.parts.saved, *self._cotangent_labels)
        self.own = tuple(label for label in self._whole.labels if label not in computed)
        # What the graph reads, so that it can be done again: what is still there after the call, and what is saved.
        self.reads = tuple(label for label in reads if label not in self.parts.before)
        self.before = {label: name for label, name in self.parts.before.items() if label in reads}

    @lazy
    def groups(self) -> tuple[Group, ...]:
        """The results that share operations on the tape. Eager mode goes back through each group by itself, frees what
        that has saved, and looks at no more than that."""
        found = independent(self.graph, self.live, self.wrt)
        return tuple([self._group(places, ends) for places, ends in found])

    def _group(self, places: tuple[int, ...], ends: frozenset[str]) -> Group:
        is_whole = len(places) == len(self.live)
        wrt = tuple(i for i, label in enumerate(self.wrt) if is_whole or label in ends)
        labels = frozenset(inputs_of(self.graph, [self.live[i] for i in places]))
        saved = frozenset().union(*(self.eager.saved_behind[i] for i in places))
        absent = frozenset(label for i, label in enumerate(self._cotangent_labels) if i not in places)
        program = self._without(absent) if absent else self._whole
        own = frozenset(program.labels).intersection(self.own)
        _, outputs = self.eager.saved_between(places, [self.wrt[i] for i in wrt])
        return Group(self.eager.titles[places[0]], places, wrt, labels, saved, own, outputs.union(places))

    def needed_for(self, group: Group, cotangents: Sequence[Any], wanted: Sequence[bool]) -> Needed:
        """What a backward pass through `group` needs, where these gradients have arrived at its results (None at
        others) and go to those of its inputs that are `wanted`."""
        key = (group.places, tuple([g is None for g in cotangents]), tuple(wanted))
        found = self._needed.get(key)
        if found is None:
            leading = self.leading(group, wanted)
            pairs = zip(group.places, cotangents, strict=True)
            arrived = {place for place, g in pairs if g is not None and place in leading}
            labels = [self.wrt[i] for i, want in zip(group.wrt, wanted, strict=True) if want]
            found = self._needed[key] = self._needed_between(group, leading, arrived, labels)
        return found

    def _needed_between(
        self, group: Group, leading: frozenset[int], arrived: Collection[int], wanted: Collection[str]
    ) -> Needed:
        inputs, outputs = self.eager.saved_between(arrived, wanted)
        absent = frozenset(label for i, label in enumerate(self._cotangent_labels) if i not in arrived)
        program = self._without(absent) if absent else self._whole
        labels = program.reads([f"grad_{label}" for label in wanted])
        read = [self.eager.outputs[j] for i, j, _ in self.results_read.places if self.parts.saved[i] in labels]
        needed = group.saved & inputs.union(labels)
        again = frozenset(inputs_of(self.graph, [self.live[i] for i in sorted(arrived)]))
        return Needed(leading, needed, group.saved - needed, outputs.union(read), again)

    def leading(self, group: Group, wanted: Sequence[bool]) -> frozenset[int]:
        """The places of the results of a group from which gradients go on to those of its inputs that are `wanted`, and
        of those that are results of the same operations."""
        labels = {self.wrt[i] for i, want in zip(group.wrt, wanted, strict=True) if want}
        nodes = {self.eager.nodes[i] for i in group.places if not labels.isdisjoint(self.eager.leading[i])}
        return frozenset(i for i in group.places if self.eager.nodes[i] in nodes)

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
        arrived_at = frozenset(i for i, g in enumerate(cotangents) if g is not None)
        reached, constant = self._reached(arrived_at, gradients)
        for node in constant:
            gradients[f"grad_{node.label}"] = zeros(node.type)
        return [gradients[f"grad_{label}"] if label in reached else None for label in self.wrt]

    def _reached(self, arrived: frozenset[int], gradients: Collection[str]) -> tuple[frozenset[str], tuple[Node, ...]]:
        """The inputs to which eager mode would come from the results `arrived`, and those of them whose gradients are
        zeros whatever arrives: a program has no `gradients` to which no cotangent leads."""
        found = self._ends.get(arrived)
        if found is None:
            reached = frozenset().union(*[self.eager.leading[i] for i in arrived]).intersection(self.wrt)
            missing = {label for label in reached if f"grad_{label}" not in gradients}
            constant = tuple(node for node in self.graph.inputs if node.label in missing)
            found = self._ends[arrived] = (reached, constant)
        return found

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
        wrt = tuple([label for label, want in zip(self.wrt, wanted, strict=True) if want and label in given])
        whole = self._again(tuple(given), tuple(arrived), wrt)
        tensors = (*given.values(), *arrived.values())
        found = whole(*tensors) if deferring() is None else serve(whole, whole, tensors, {})
        gradients = dict(zip(wrt, found, strict=True))
        return [gradients.get(label) for label in self.wrt]

    def _again(self, labels: tuple[str, ...], live: tuple[str, ...], wrt: tuple[str, ...]) -> Again:
        with self._lock:
            return self._wholes.setdefault(
                (labels, live, wrt), gradients_of(self.graph, labels, live, wrt, self._depending_by_zero)
            )


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

    def reads(self, results: Sequence[str]) -> set[str]:
        """The inputs that are read for the gradients `results`, as far as there are these."""
        return set(inputs_of(self._graph, [name for name in results if name in self._types]))

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
        return {name: make(copied_numbers(value)) for name, value in zip(self._results, found, strict=True)}


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


def copied_numbers(tensor: Tensor) -> np.ndarray:
    """Its numbers now, in memory of their own."""
    return np.array(tensor.ndarray, order="C")
