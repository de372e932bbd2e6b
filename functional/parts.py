"""Several views of one tensor that belong together: one node with an output for each, as PyTorch's split and unbind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.sources import zeros
from ..tape.nodes import Node
from ..tensors.tensor import Tensor


class PartsNode(Node):
    """The derivative of taking a tensor apart: its parts' cotangents put together by `join`."""

    of_primitives = True

    def __init__(self, title: str, whole: Tensor, parts: Sequence[Tensor], join: Callable[[list[Any]], Any]) -> None:
        super().__init__(title, (whole.gradient_edge(),))
        self.rename(title)
        self.outputs = len(parts)
        self.part_types = [part.type_ for part in parts]
        self.join = join

    def is_of_view(self) -> bool:
        return True

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        given = zip(cotangents, self.part_types, strict=True)
        return [self.join([zeros(of) if g is None else g for g, of in given])]


def together(
    title: str, whole: Tensor, parts: Sequence[Tensor], join: Callable[[list[Any]], Any]
) -> tuple[Tensor, ...]:
    """`parts`, views of `whole`, as the outputs of one node called `title`."""
    if any(part.grad_fn is not None for part in parts):
        first = parts[0].grad_fn
        node = PartsNode(title, whole, parts, join)
        node.origin = first.origin if first is not None else None
        for i, part in enumerate(parts):
            part.attach(node, i)
    for part in parts:
        part.view_of_several = title
    return tuple(parts)
