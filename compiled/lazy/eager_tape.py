"""What eager mode would have on its tape for a compiled call, in whose place one node stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...compiler.graph import Graph, Node, Result, topological
from ...compiler.passes.simplify import simplify
from ...compiler.split import Split
from ...ops.lazy import lazy
from ...ops.movement import reshape, reshape_primitive
from ...tape.nodes import Node as TapeNode
from ...tape.nodes import PrimitiveNode
from ...tape.saved import Saved
from ...tensors.tensor import Tensor
from ..common.autograd_graph import Ends, history_of, kept_by_tape, places_of_bits
from ..common.classes import is_a

Reached = Mapping[TapeNode, frozenset[str]]  # by node: the labels of the inputs to which it leads


class Saving(NamedTuple):
    """What nodes of eager mode's tape save that lie behind the same results and lead to the same inputs."""

    results: frozenset[int]  # behind which they are, among those that have a history
    ends: frozenset[str]  # the labels of the inputs to which they lead
    inputs: frozenset[str]  # the labels of those that they save
    outputs: frozenset[int]  # the results that they save, among those that have a history


@dataclass(frozen=True)
class EagerTape:
    """What eager mode has on its tape for a call: the names of the nodes behind the results, and what is saved.

    Of inputs (by label) the tensors themselves are saved, or views of them; or both.
    """

    titles: tuple[str, ...]  # of the results that have a history
    themselves: frozenset[str]
    views: frozenset[str]
    saved_behind: tuple[frozenset[str], ...]  # for each of these results: the labels of inputs that are saved for it
    outputs: tuple[int, ...]  # results, in the order of those that have a history
    outputs_read: frozenset[int]  # those of them whose numbers a rule reads; of others the version is looked at
    composites: bool  # whether one is the value of a composite that only eager mode's form of the derivative reads
    saving: tuple[Saving, ...]
    leading: tuple[frozenset[str], ...]  # for each of these results: the labels of the inputs to which it leads
    nodes: tuple[int, ...]  # for each of these results: the number of the node whose output it is

    @staticmethod
    def of(live: Sequence[Tensor], roots: Sequence[Any], reached: Reached, ends: Ends) -> EagerTape:
        """The tape behind results `live` of a recorded call with `roots`, whose gradients go to `ends`; `reached` says
        to which of these the nodes of that tape lead."""
        nodes: list[Any] = [history_of(tensor) for tensor in live]
        kept = kept_by_tape(live)
        read = {id(tensor.buffer) for tensor in kept_by_tape(live, PrimitiveNode.read_by_rules)}
        of_composites = {id(tensor.buffer) for tensor in kept_by_tape(live, PrimitiveNode.read_by_form)}
        themselves, views = _inputs_among(kept, roots)
        behind = [_inputs_among(kept_by_tape([tensor]), roots) for tensor in live]
        return EagerTape(
            tuple(tensor.grad_fn.title for tensor in live if tensor.grad_fn is not None),
            themselves,
            views,
            tuple(one | other for one, other in behind),
            tuple(_results_among(kept, live)),
            frozenset(i for i, tensor in enumerate(live) if id(tensor.buffer) in read),
            any(id(tensor.buffer) in of_composites for tensor in live),
            _saving(live, roots, reached, ends),
            tuple(reached.get(node, frozenset()) for node in nodes),
            tuple(nodes.index(node) for node in nodes),
        )

    @lazy
    def inputs(self) -> frozenset[str]:
        """The labels of all inputs of which anything is saved."""
        return self.themselves | self.views

    def saved_between(self, arrived: Collection[int], wanted: Collection[str]) -> tuple[frozenset[str], frozenset[int]]:
        """What eager mode looks at when gradients have arrived at results and go to inputs: the labels of inputs, and
        the results among those that have a history."""
        visited = [s for s in self.saving if not (s.results.isdisjoint(arrived) or s.ends.isdisjoint(wanted))]
        inputs, outputs = [each.inputs for each in visited], [each.outputs for each in visited]
        return frozenset().union(*inputs), frozenset().union(*outputs)


def _saving(live: Sequence[Tensor], roots: Sequence[Any], reached: Reached, ends: Ends) -> tuple[Saving, ...]:
    """What the nodes behind `live` save, by where they are: nodes behind the same results that lead to the same inputs
    are looked at together."""
    results = dict.fromkeys(reached, 0)  # behind which a node is, as bits
    for i, tensor in enumerate(live):
        start: Any = history_of(tensor)
        if start in results:
            results[start] |= 1 << i
    kept: dict[tuple[int, frozenset[str]], list[Tensor]] = {}
    for node in sorted(reached, key=lambda node: node.sequence, reverse=True):  # they only lead to older ones
        for edge in node.edges:
            if edge.node in results and edge not in ends:
                results[edge.node] |= results[node]
        if is_a(node, PrimitiveNode) and node.saves:
            saved = [each.tensor for each in node.all_kept() if is_a(each, Saved)]
            kept.setdefault((results[node], reached[node]), []).extend(saved)
    return tuple(
        Saving(
            frozenset(places_of_bits(of)),
            names,
            frozenset().union(*_inputs_among(tensors, roots)),
            frozenset(_results_among(tensors, live)),
        )
        for (of, names), tensors in kept.items()
    )


def _results_among(kept: Sequence[Tensor], live: Sequence[Tensor]) -> list[int]:
    buffers = {id(tensor.buffer) for tensor in kept}
    return [i for i, tensor in enumerate(live) if id(tensor.buffer) in buffers]


def _inputs_among(kept: Sequence[Tensor], roots: Sequence[Any]) -> tuple[frozenset[str], frozenset[str]]:
    """The labels of the inputs that are kept themselves, and of those of which views are."""
    found = {id(tensor) for tensor in kept}
    inputs = {id(root.array) for root in roots}
    viewed = {id(tensor.buffer) for tensor in kept if id(tensor) not in inputs}
    themselves = frozenset(root.node.label for root in roots if id(root.array) in found)
    return themselves, frozenset(root.node.label for root in roots if id(root.array.buffer) in viewed)


def shown_by(node: Node) -> Node:
    """The value that a node shows."""
    return shown_by(node.args[0]) if node.op.is_view else node


def is_computed_once(graph: Graph, value: Node) -> bool:
    """False if another node of the recorded `graph` has this value, too: in eager mode that is other memory."""
    alike = [node for node in graph.nodes() if node.op is value.op and node.type == value.type]
    if len(alike) == 1:
        return True
    asked = Graph(graph.name, graph.inputs, tuple(Result(f"value_{i}", node) for i, node in enumerate(alike)))
    found = [result.node for result in simplify(asked).results]
    own = next(one for node, one in zip(alike, found, strict=True) if node is value)
    return sum(one is own for one in found) == 1


def is_reshaped(node: Node) -> bool:
    """True if a node has the elements of what it shows in the same order."""
    return not node.op.is_view or (node.op is reshape_primitive and is_reshaped(node.args[0]))


@dataclass(frozen=True)
class ResultsRead:
    """The saved values that eager mode's tape reads in the memory of a result, which its holder may write to unseen.

    Of each the position among the saved values, that of the result among `EagerTape.outputs`, and its shape. `are_all`
    says whether the backward program reads of results just what eager mode reads: no copy, nor what was computed of it.
    """

    places: tuple[tuple[int, int, tuple[int, ...]], ...]
    are_all: bool

    @staticmethod
    def of(tape: EagerTape, live: Sequence[str], graph: Graph, parts: Split) -> ResultsRead:
        """Of a recorded `graph` that is split into `parts`, with results named `live` that have a history."""
        made = {result.name: result.node for result in parts.forward.results}
        recorded = {result.name: shown_by(result.node) for result in graph.results}
        shown: dict[Node, int] = {}
        for j, i in enumerate(tape.outputs):
            result, value = made[live[i]], recorded[live[i]]
            if i in tape.outputs_read and is_reshaped(result) and is_computed_once(graph, value):
                shown.setdefault(shown_by(result), j)
        values = [made[name] for name in parts.saved]
        places = tuple((i, shown[node], node.type.shape) for i, node in enumerate(values) if node in shown)
        read = {shown_by(made[live[i]]) for i in tape.outputs_read}
        others = [node for node in values if node not in shown]
        are_all = not tape.composites and read.issubset(shown) and read.issubset(values)
        return ResultsRead(places, are_all and read.isdisjoint(topological(others)))

    def put_into(self, saved: Sequence[Any], outputs: Mapping[int, Saved]) -> Sequence[Any]:
        """The `saved` values of a call, where they are results those that the holders of `outputs` see now."""
        if not self.places:
            return saved
        values = list(saved)
        for i, j, shape in self.places:
            if j in outputs:
                result = outputs[j].tensor
                values[i] = result if result.ndarray.shape == shape else reshape(result, shape)
        return values
