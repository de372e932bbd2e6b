"""What eager mode would have on its tape for a compiled call, in whose place one node stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...compiler.graph import Graph, Node, Result, topological
from ...compiler.passes.simplify import simplify
from ...compiler.split import Split
from ...ops.lazy import lazy
from ...ops.movement import reshape, reshape_primitive
from ...tape.saved import Saved


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

    @lazy
    def inputs(self) -> frozenset[str]:
        """The labels of all inputs of which anything is saved."""
        return self.themselves | self.views


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
