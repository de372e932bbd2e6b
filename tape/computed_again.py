"""The derivative of what is one node, by computing it again with its primitives and going back through these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .engine import Sweep
from .grad_mode import recorded, switches
from .nodes import Edge, Node
from .tangents import alias_of


class _OperandNode(Node):
    """Where an operand enters what is computed again: what lies behind is not part of it."""

    def __init__(self, edge: Edge) -> None:
        super().__init__("Operand", (edge,))

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        return list(cotangents)


def derivative(
    chain: Callable[..., Sequence[Any]],
    arguments: list[Any],
    operands: Sequence[tuple[int, Edge, bool]],
    cotangents: Sequence[Any],
) -> list[Any]:
    """The gradients of the values of ``chain(*arguments)``, which may be differentiated again, if that is recorded.

    `operands` are those that require one: the place among the arguments, the edge, and whether a gradient is wanted
    (None is the gradient otherwise); arguments without one keep their histories. A cotangent may be None.
    """
    arguments, entries = list(arguments), []
    for place, edge, want in operands:
        entry = _OperandNode(edge) if want else None
        if entry is not None:
            arguments[place] = alias_of(arguments[place])
            arguments[place].attach(entry, 0)
        entries.append(entry)
    keep = switches.enabled
    with recorded():
        values = chain(*arguments)
    sweep = Sweep(keep, keep, _no_leaves)
    sweep.captures = {Edge(entry): None for entry in entries if entry is not None}
    given = [(value, g) for value, g in zip(values, cotangents, strict=True) if g is not None]
    for value, g in given:
        sweep.seed(value.gradient_edge(), g)
    sweep.run([value.gradient_edge() for value, _ in given])
    return [None if entry is None else sweep.captures[Edge(entry)] for entry in entries]


def _no_leaves(leaf: Any, g: Any, create_graph: bool, fresh: bool) -> None:
    raise AssertionError("what is captured accumulates nothing")
