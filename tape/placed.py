"""Reads and writes through an index as one node, where plain eager mode does what is several primitives in one go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.core import Primitive
from .moved import NO_PARAMS, MovedNode
from .nodes import class_called
from .saved import Saved


class PlacedNode(MovedNode):
    """A linear operation at the places that index tensors name, which it keeps; `PlacedNode.at` makes them.

    ``back(g, wanted, indices, *facts)`` gives the cotangents of the operands as that of a `MovedNode` does.
    """

    @staticmethod
    def at(
        indices: Sequence[Any],
        title: str,
        primitive: Primitive,
        operands: Sequence[Any],
        out: Any,
        on: tuple[int, ...],
        back: Any,
        *facts: Any,
    ) -> PlacedNode:
        """The node of `out`, with derivatives for the operands `on`; a write to `indices` is an error from now on."""
        node: Any = object.__new__(class_called(PlacedNode, title))
        node.fill(primitive, operands, NO_PARAMS, out, on, ())
        node.back, node.facts = back, facts
        if indices:
            node.known, node.saves = {f"index {i}": Saved(index, False) for i, index in enumerate(indices)}, True
        made: PlacedNode = node
        return made

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        return self.back(cotangents[0], wanted, tuple(self.unpacked().values()), *self.facts)

    def release(self) -> None:
        super().release()
        if self.released:
            self.facts = ()
