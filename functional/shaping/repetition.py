"""Tensors and single elements repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops import movement, reductions
from ...ops.core import switch
from ...ops.identity import copy, copy_primitive
from ...ops.memory import by_rows
from ...ops.requirements import Requirement, require
from ...ops.sources import iota
from ...ops.types import int32, int64
from ...tape.grad_mode import switches
from ...tape.moved import MovedNode
from ...tensors.arguments import Shape, axis_of, numbers_called, sizes_of
from ...tensors.composite import composite, relabel
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import Tensor, make
from ..shapes import flatten, unsqueeze


@numbers_called("repeats")
@composite("RepeatBackward0")
def repeat(input: Tensor, *repeats: int | Sequence[int]) -> Tensor:
    """The whole tensor repeated so many times along each axis, as a copy; counts in front make new axes.

    RuntimeError for negative counts and for fewer counts than axes. `tile` takes missing ones for 1; repeating single
    elements is `repeat_interleave`.

    >>> import tracegrad as tg
    >>> tg.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    counts = sizes_of(repeats)
    shape = input.ndarray.shape
    if len(counts) < len(shape):
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(count < 0 for count in counts):
        raise RuntimeError(f"Trying to create tensor with negative dimension: repeats must not be, got {list(counts)}")
    full = (1,) * (len(counts) - len(shape)) + shape
    if not switch.stack and type(input) in PLAIN_TENSORS:
        return _repeated_at_once(input, tuple(counts), full)
    apart = movement.reshape(input, tuple(x for n in full for x in (1, n)))
    spread = movement.broadcast(apart, tuple(x for count, n in zip(counts, full, strict=True) for x in (count, n)))
    return copy(movement.reshape(spread, tuple(count * n for count, n in zip(counts, full, strict=True))))


def _repeated_at_once(x: Any, counts: Shape, full: Shape) -> Tensor:
    out = make(by_rows(np.tile(x.ndarray, counts)))
    if switches.enabled and x.requires_grad:
        facts = counts, full, x.ndarray.shape
        out._node = MovedNode.made("RepeatBackward0", copy_primitive, (x,), out, (0,), _added_up, *facts)
    return out


def _added_up(g: Any, wanted: Sequence[bool], counts: Shape, full: Shape, shape: Shape) -> list[Any]:
    """The sum over the repetitions."""
    apart = movement.reshape(g, tuple([x for count, n in zip(counts, full, strict=True) for x in (count, n)]))
    return [movement.reshape(reductions.sum(apart, tuple(range(0, 2 * len(counts), 2))), shape)]


@numbers_called("dims")
def tile(input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """The whole tensor repeated so many times along the last axes: `repeat`, with missing counts taken as 1.

    `dims` are numbers or one sequence of them. RuntimeError for negative counts.

    >>> import tracegrad as tg
    >>> tg.tile(tg.tensor([[1, 2]]), (2,))
    tensor([[1, 2, 1, 2]])
    """
    counts = sizes_of(dims)
    return repeat(input, (1,) * (input.ndarray.ndim - len(counts)) + counts)


def repeat_interleave(
    input: Tensor, repeats: int | Tensor | None = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element repeated so many times in a row, along `dim` or of the flattened tensor, as a copy.

    `repeats` is a number, or a tensor of integers, one for each element along `dim` (how often is data then); alone, it
    is how often each of its own positions is repeated. `output_size` is the extent of the result, of which it is only
    checked that it is right. RuntimeError for negative counts and for others than there are elements,
    NotImplementedError for counts that are no int32 or int64.

    >>> import tracegrad as tg
    >>> tg.repeat_interleave(tg.tensor([1, 2]), 2), tg.repeat_interleave(tg.tensor([1, 2]), tg.tensor([0, 3]))
    (tensor([1, 1, 2, 2]), tensor([2, 2, 2]))
    """
    if repeats is None:
        places = iota((input.ndarray.size,), 0, int32 if input.dtype is int32 else int64)
        return repeat_interleave(places, input, 0, output_size=output_size)
    if dim is None:
        input, dim = flatten(input), 0
    axis = axis_of(dim, input.ndarray.ndim)
    shape = input.ndarray.shape
    if isinstance(repeats, int) and repeats < 0:
        raise RuntimeError(f"Repeats must be non-negative, got {repeats}")
    if isinstance(repeats, Tensor):
        positions = [i for i, count in enumerate(_counts(repeats, shape[axis])) for _ in range(count)]
        _check_extent(output_size, len(positions))
        return input[(slice(None),) * axis + (positions,)]
    times: Any = repeats  # a number
    _check_extent(output_size, shape[axis] * times)
    apart = unsqueeze(input, axis + 1)
    spread = movement.broadcast(apart, (*shape[: axis + 1], times, *shape[axis + 1 :]))
    out = copy(movement.reshape(spread, (*shape[:axis], shape[axis] * times, *shape[axis + 1 :])))
    relabel(out, "RepeatInterleaveBackward0", (input,))
    return out


def _check_extent(asked: int | None, extent: int) -> None:
    if asked is not None and asked != extent:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {extent} but got {asked}")


COUNTS = Requirement(lambda counts: (counts >= 0,), RuntimeError, "repeats can not be negative")


def _counts(repeats: Tensor, extent: int) -> list[int]:
    if repeats.dtype not in (int32, int64):
        message = f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.title}'; call .long()"
        raise NotImplementedError(message)
    if repeats.ndarray.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.ndarray.size not in (1, extent):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.ndarray.size} and input.size(0) = {extent}"
        )
    require(repeats, COUNTS)
    counts = repeats.tolist()
    counts = [counts] if isinstance(counts, int) else counts
    return counts * extent if len(counts) == 1 else counts
