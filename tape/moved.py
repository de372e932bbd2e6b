"""Elements at other places as one node, where plain eager mode does what is several primitives in one go."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from ..ops.core import Primitive
from .nodes import PrimitiveNode, class_called

NO_PARAMS: Any = types.MappingProxyType({})


class MovedNode(PrimitiveNode):
    """A linear operation on the tape that keeps nothing; `MovedNode.made` makes them.

    ``back(g, wanted, *facts)`` gives the cotangents of the operands, in ops where they may be differentiated again.
    `primitive` is what the program's graph has in its place, and says whether the result is a view.
    """

    stands_for_itself = False
    back: Callable[..., list[Any]]
    facts: tuple[Any, ...]

    @staticmethod
    def made(
        title: str, primitive: Primitive, operands: Sequence[Any], out: Any, on: tuple[int, ...], back: Any, *facts: Any
    ) -> MovedNode:
        """The node of `out`, with derivatives for the operands `on`."""
        node: Any = object.__new__(class_called(MovedNode, title))
        node.fill(primitive, operands, NO_PARAMS, out, on, ())
        node.back, node.facts = back, facts
        made: MovedNode = node
        return made

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.known or self.released:
            self.unpacked()  # what a composite in its place keeps must be as it was
        return self.back(cotangents[0], wanted, *self.facts)
