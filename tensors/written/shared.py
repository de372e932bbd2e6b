"""Writes of what is read in the same memory: where ``x[key] = value`` is refused, as PyTorch refuses it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import dropwhile
from typing import Any

from ...ops import movement
from ...ops.places.overlaps import refuse_overlap
from ...tape.selected import declare_write_to_picked
from ..in_place import copy_into
from ..tensor import Tensor
from .values import common_shape, without_leading_ones


def copy_to(region: Any, value: Any) -> None:
    """Store `value` in a region that is a view. RuntimeError where it shows a part of the region.

    Where it is broadcast, it repeats elements, of which the rule tells nothing, unless there are as many as before.
    """
    value, shape = without_leading_ones(value, region.ndarray.ndim), region.ndarray.shape
    if isinstance(value, Tensor) and common_shape(value.ndarray.shape, shape) != shape:
        refuse_shape(value, shape)
    if getattr(value, "buffer", None) is region.buffer and value.ndarray.size == region.ndarray.size:
        if common_shape(value.ndarray.shape, shape) == shape:
            refuse_overlap(region, (value if value.ndarray.shape == shape else movement.reshape(value, shape),))
    copy_into(region, value)


def refuse_shared(target: Any, operands: Iterable[Any]) -> None:
    """`refuse_overlap` for a write to `target`, which this declares: what a recording has picked counts as the view
    that it is in eager mode."""
    declare_write_to_picked(target.buffer)
    refuse_overlap(target, operands)


def refuse_shape(value: Any, shape: tuple[int, ...]) -> None:
    """RuntimeError, in PyTorch's words: it expands what is left of `value` without axes of extent 1 in front."""
    sizes = list(dropwhile(lambda extent: extent == 1, value.ndarray.shape))
    if len(sizes) > len(shape):
        raise RuntimeError(
            f"expand(torch.{value.dtype.title}Tensor{{{sizes}}}, size={list(shape)}): the number of sizes provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({len(sizes)})"
        )
    movement.broadcast(movement.reshape(value, tuple(sizes)), shape)


def reads_own(x: Any, plan: Any, value: Any) -> list[Any]:
    """What shows memory of `x` of `value` and of the indices of a plan by which it is written to picked places. Those
    without dimensions are numbers, which are read before."""
    indices = [index for _, index in plan.picks if index.ndarray.ndim]
    return [each for each in (value, *indices) if getattr(each, "buffer", None) is x.buffer]
