"""What a compiled graph refuses of the numbers in its arguments, looked at before a call of it is noted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compiler.demands import checked_base, demand_of
from ...compiler.evaluate import evaluate_nodes
from ...compiler.graph import Graph, Node, topological
from ...ops.core import Movement, Pointwise, Source
from ..common.classes import is_a
from ..common.pytree import Path, at
from ..lazy.deferred_calls import Deferred
from ..lazy.positions import POSITIONS

# Ops that refuse an index because of its own value, whatever else there is.
INDEXING = frozenset(
    ("gather", "scatter", "scatter_add", "scatter_prod", "scatter_amax", "scatter_amin", "take", "put", "index_add")
)
MOST = 65535  # up to which it is found out which indices are accepted
_largest = np.maximum.reduce


class LookedAt:
    """Values that follow from the arguments of a call, computed before it is noted."""

    def __init__(self, way: Sequence[Node], paths: dict[str, Path]) -> None:
        self._inputs = [(each, paths[each.label]) for each in way if each.is_input]
        self._inner = [each for each in way if not each.is_input]

    def values(self, deferred: Deferred, call_arguments: Any) -> dict[Node, Any]:
        """All of them; what is pending is done first."""
        given = {node: deferred.peek_if_pending(at(call_arguments, path)) for node, path in self._inputs}
        return evaluate_nodes(self._inner, given)


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
        one_by_one = node.op.name in INDEXING and len(self._inputs) == 1 and all(map(_is_one_by_one, self._inner))
        self._most = self._largest_from_zero(self._inputs[0][0]) if one_by_one else -1

    def passes(self, deferred: Deferred, call_arguments: Any) -> bool:
        """False for numbers that the call would refuse."""
        if self._most >= 0:
            given = deferred.peek_if_pending(at(call_arguments, self._inputs[0][1]))
            if given.flags.c_contiguous and _largest(given.reshape(-1).view(self._unsigned)) <= self._most:
                return True
        return self._accepts(self.values(deferred, call_arguments))

    def _largest_from_zero(self, node: Node) -> int:
        """The largest number for which it and all from 0 on are accepted, as far as that is worth finding out."""
        dtype, size = node.type.dtype.numpy, math.prod(node.type.shape)
        if dtype.kind != "i" or not size:
            return -1
        self._unsigned = np.dtype(f"u{dtype.itemsize}")
        most, tried = -1, min(size, MOST)
        while tried:
            numbers = np.minimum(np.arange(most + 1, most + 1 + size), most + tried).astype(dtype)
            if most + tried <= min(MOST, np.iinfo(dtype).max) and self._accepts(
                evaluate_nodes(self._inner, {node: numbers.reshape(node.type.shape)})
            ):
                most += tried
            else:
                tried //= 2
        return most

    def _accepts(self, values: dict[Node, Any]) -> bool:
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


def _is_one_by_one(node: Node) -> bool:
    """True if an element of the result follows from the element of the operands in its place."""
    lower = node.op.lower
    return is_a(lower, (Pointwise, Source)) or (is_a(lower, Movement) and lower.kind == "reshape")


def _are_within(node: Node) -> bool:
    """True for positions along an axis that is no longer than the one in which they index: of extremes, see
    `lazy.positions`."""
    demand = demand_of(node)
    if demand is None or demand.axis is None:
        return False
    base = checked_base(node)
    return base.op in POSITIONS and base.args[0].type.shape[base.param("axis")] <= demand.size


def checks_of(graph: Graph, paths: dict[str, Path]) -> list[ArgumentCheck | Requirement] | None:
    """What the nodes of the graph refuse; None if the numbers that they look at are known only when it is computed."""
    found: list[ArgumentCheck | Requirement] = []
    for node in graph.nodes():
        if node.op.check is not None and not _are_within(node):
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
