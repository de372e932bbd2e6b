"""Copies of a tensor in which a slice, a diagonal or a strided part is another tensor."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops import indexing, movement
from ...ops.places.strided import strided_places
from ...ops.pointwise import converted
from ...ops.sources import full, iota
from ...ops.types import int64
from ...tensors.arguments import axis_of, sizes_of
from ...tensors.composite import composite
from ..shapes import flatten
from ..shaping.diagonals import diagonal
from ..shaping.strides import check_strides
from .arguments import as_shaped

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _check_part(src: Tensor, shape: tuple[int, ...]) -> None:
    if src.ndarray.shape != shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(shape)}"
        )


@composite("SliceScatterBackward0")
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of `input` whose slice ``start:end:step`` along `dim` is `src`, which has the slice's shape.

    Bounds are Python's: negative ones count from the end, and what is outside is cut off. RuntimeError for a `step`
    below 1, and for another shape.

    >>> import tracegrad as tg
    >>> tg.zeros(4).slice_scatter(tg.ones(2), start=0, end=4, step=2)
    tensor([1., 0., 1., 0.])
    """
    axis, shape = axis_of(dim, input.ndarray.ndim), input.ndarray.shape
    if not shape:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, step = slice(start, end, step).indices(shape[axis])
    _check_part(src, tuple(len(range(first, last, step)) if a == axis else n for a, n in enumerate(shape)))
    return _with_slice(input, src, axis, first, step)


def _with_slice(input: Tensor, src: Tensor, axis: int, first: int, step: int) -> Tensor:
    ndim = input.ndarray.ndim
    starts, steps = (tuple(x if a == axis else of for a in range(ndim)) for x, of in ((first, 0), (step, 1)))
    starts = starts if src.ndarray.size else (0,) * ndim
    return movement.update_slice(input, converted(src, input.dtype), starts, steps)


@composite("SelectScatterBackward0")
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of `input` whose elements at `index` along `dim` are `src`, which has one axis less.

    IndexError for an index outside, RuntimeError for another shape.

    >>> import tracegrad as tg
    >>> tg.zeros(2, 2).select_scatter(tg.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    axis, shape = axis_of(dim, input.ndarray.ndim), input.ndarray.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place = operator.index(index)
    if not -shape[axis] <= place < shape[axis]:
        raise IndexError(f"select(): index {place} out of range for tensor of size {list(shape)} at dimension {axis}")
    _check_part(src, (*shape[:axis], *shape[axis + 1 :]))
    part = movement.reshape(src, (*shape[:axis], 1, *shape[axis + 1 :]))
    return _with_slice(input, part, axis, place % shape[axis], 1)


@composite("DiagonalScatterBackward0")
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of `input` whose `diagonal` is `src`, which has the diagonal's shape. RuntimeError for another one.

    >>> import tracegrad as tg
    >>> tg.zeros(2, 2).diagonal_scatter(tg.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    shape = input.ndarray.shape
    places = diagonal(_places_of(shape), offset, dim1, dim2)
    return _put_at(input, src, places)


@composite("AsStridedScatterBackward0")
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of `input`, laid out row by row, whose elements at these strides are `src`; see `as_strided`.

    RuntimeError for strides that `input` does not have, and for a `src` of another shape than `size`.

    >>> import tracegrad as tg
    >>> tg.zeros(2, 2).as_strided_scatter(tg.ones(2), (2,), (3,))
    tensor([[1., 0.],
            [0., 1.]])
    """
    shape, strides, offset = sizes_of((size,)), tuple(stride), storage_offset or 0
    check_strides(input, shape, strides, offset)
    places = strided_places(shape, strides, offset)
    return _put_at(input, src, places)


def _places_of(shape: tuple[int, ...]) -> Any:
    """For each element its place in a row of all."""
    places: Any = full(shape, 0, int64)
    for axis, extent in enumerate(shape):
        places = places * extent + iota(shape, axis, int64)
    return places


def _put_at(input: Tensor, src: Tensor, places: Tensor) -> Tensor:
    _check_part(src, places.ndarray.shape)
    out = indexing.put(flatten(input), flatten(places), flatten(converted(src, input.dtype)))
    return as_shaped(out, input.ndarray.shape)
