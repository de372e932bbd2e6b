"""Parts of tensors along an axis: several views of one that belong together, one node with an output for each, as
PyTorch's split and unbind; and the other way round, tensors that are stacked by one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops import movement
from ..ops.sources import zeros
from ..ops.types import DIFFERENTIABLE_KINDS, Type
from ..tape.grad_mode import switches
from ..tape.moved import MovedNode
from ..tape.nodes import Node
from ..tensors.composite import relabel
from ..tensors.rows import part_along
from ..tensors.tensor import EAGER, Tensor, make


class PartsNode(Node):
    """The derivative of taking a tensor apart: its parts' cotangents put together by `join`."""

    of_primitives = True

    def __init__(self, title: str, whole: Tensor, parts: Sequence[Tensor], join: Callable[[list[Any]], Any]) -> None:
        super().__init__(title, (whole.gradient_edge(),))
        self.rename(title)
        self.outputs = len(parts)
        self.parts = [part.ndarray.shape for part in parts]
        self.dtype = whole.dtype
        self.join = join

    def is_of_view(self) -> bool:
        return True

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        given = zip(cotangents, self.parts, strict=True)
        return [self.join([zeros(Type(self.dtype, shape)) if g is None else g for g, shape in given])]


def together(
    title: str, whole: Tensor, parts: Sequence[Tensor], join: Callable[[list[Any]], Any]
) -> tuple[Tensor, ...]:
    """`parts`, views of `whole`, as the outputs of one node called `title`."""
    if parts and switches.enabled and whole.requires_grad:
        first = parts[0].grad_fn
        node = PartsNode(title, whole, parts, join)
        node.origin = first.origin if first is not None else None
        for i, part in enumerate(parts):
            part.attach(node, i)
    for part in parts:
        part.view_of_several = title
    return tuple(parts)


def part(input: Any, axis: int, start: Any, length: Any, shape: tuple[int, ...], title: str) -> Any:
    """The view of `length` elements along `axis` in that shape, by a node of that name; one that is to belong together
    with others has none."""
    out = part_along(input, axis, start, length, shape, title)
    if out is None:
        extents = input.ndarray.shape
        starts, stops = [0] * len(extents), list(extents)
        starts[axis], stops[axis] = start, start + length
        out = movement.slice(input, tuple(starts), tuple(stops), (1,) * len(extents))
        out = out if out.ndarray.shape == shape else movement.reshape(out, shape)
        if title:
            relabel(out, title, (input,))
    return out


def stacked(tensors: Sequence[Tensor], axis: int) -> Any:
    """Tensors of one type and shape along a new axis, in plain eager mode: with one node, if a gradient is wanted."""
    out = EAGER.below.stacked(tensors, axis, make)
    if switches.enabled and out.ndarray.dtype.kind in DIFFERENTIABLE_KINDS:
        on = tuple([i for i, x in enumerate(tensors) if x.requires_grad])
        if on:
            joined = movement.concatenate_primitive
            out._node = MovedNode.made("StackBackward0", joined, tensors, out, on, _apart, axis)
    return out


def _apart(g: Any, wanted: Sequence[bool], axis: int) -> list[Any]:
    """The parts of `g` that belong to the tensors that were stacked."""
    shape = g.ndarray.shape
    shape = shape[:axis] + shape[axis + 1 :]
    return [part(g, axis, i, 1, shape, "SelectBackward0") if want else None for i, want in enumerate(wanted)]
