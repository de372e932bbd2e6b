"""Parts and elements written at positions, and at places of masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import comparison, indexing, movement, scans
from ...ops.array import quietly
from ...ops.comparison import eq
from ...ops.division import remainder
from ...ops.identity import copy
from ...ops.layouts.formats import laid_as
from ...ops.logic import logical_and
from ...ops.pointwise import cast, converted
from ...ops.requirements import require
from ...ops.sources import full, iota, zeros
from ...ops.types import Type, bool_, broadcast_shapes, int64
from ...tensors import indexing as subscripts
from ...tensors.arguments import axis_of
from ...tensors.autocasting import widest_type
from ...tensors.composite import composite, relabel
from ...tensors.data import fitting
from ...tensors.in_place import writes_plainly
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import Tensor
from ..checks.shapes import check_count, check_tensors, check_vector
from ..index_requirements import ADDED_TO, COPIED_TO, FILLED_AT, PLACES, SCATTERED, TAKEN
from ..shapes import contiguous, flatten
from .arguments import as_row, as_shaped, from_front, long_index, of_type, only_long, to_front
from .scattering import check_other_sizes

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number


# ---------------------------------------------------------------------------------------------------------- by parts


@composite("IndexAddBackward0", {"source": ("source",)})
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """`input` with the parts of `source` (times `alpha`) added at the positions `index` along `dim`.

    `index` is a vector or a number with a position for each part of `source`. RuntimeError for what does not fit.

    >>> import tracegrad as tg
    >>> tg.zeros(3).index_add(0, tg.tensor([1, 1]), tg.ones(2), alpha=2)
    tensor([0., 4., 0.])
    """
    axis = axis_of(dim, input.ndarray.ndim)
    source = of_type("index_add", input, source)
    check_count("index_add_", RuntimeError, index, source, axis, f": ({{}}), for dim: {dim}")
    check_other_sizes(input, source, axis)
    if isinstance(alpha, float) and not input.dtype.is_floating_point and not input.dtype.is_complex:
        alpha = int(alpha)
    source = converted(source if alpha == 1 else source * alpha, input.dtype)
    moved, rows = to_front(as_row(input), axis), to_front(as_row(source), axis)
    places = as_row(long_index("index_add", index))
    if moved.ndarray.ndim == 1:
        require(places, PLACES, moved.ndarray.size)
    else:
        require(places, ADDED_TO, moved.ndarray.shape[0], axis)
    return as_shaped(from_front(indexing.index_add(moved, places, rows), axis), input.ndarray.shape)


def _added_directly(self: Tensor, dim: Any, index: Tensor, source: Tensor, *, alpha: float = 1) -> bool:
    """`index_add` in the memory of `self` itself, where rows are added and nothing is recorded or to be refused."""
    if type(dim) is not int or alpha != 1 or not writes_plainly(self, source) or type(index) not in PLAIN_TENSORS:
        return False
    out, places, rows = self.ndarray, index.ndarray, source.ndarray
    if dim != 0 or places.ndim != 1 or places.dtype != np.int64 or rows.shape != (places.size, *out.shape[1:]):
        return False
    if not out.ndim or not out.flags.c_contiguous or not out.flags.writeable:
        return False
    if self.buffer in (source.buffer, index.buffer):
        return False
    if ((places < 0) | (places >= len(out))).any():
        return False
    quietly(indexing.add_rows, out, places, rows)
    self.buffer.version += 1
    return True


index_add.directly = _added_directly  # type: ignore[attr-defined]


@widest_type
@composite("IndexCopyBackward0", {"source": ("source",)})
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """`input` with the parts of `source` at the positions `index` (a vector or a number) along `dim`.

    RuntimeError or IndexError for what does not fit.

    >>> import tracegrad as tg
    >>> tg.zeros(3).index_copy(0, tg.tensor([2]), tg.ones(1))
    tensor([0., 0., 1.])
    """
    axis = axis_of(dim, input.ndarray.ndim)
    places = as_row(only_long("index_copy", index))
    check_count("index_copy_", IndexError, index, source, axis, " ({})")
    moved = to_front(as_row(input), axis)
    rows = to_front(as_row(of_type("index_copy", input, source)), axis)
    require(places, COPIED_TO, moved.ndarray.shape[0], axis)
    return as_shaped(from_front(indexing.put(moved, places, rows), axis), input.ndarray.shape)


@composite("IndexFillBackward0", {"index": ("input", "value")})
def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """`input` with one number at the positions `index` along `dim`; a 0-d tensor `value` gets a gradient.

    `index` is a vector or a number of int64; negative ones count from the end. IndexError outside.

    >>> import tracegrad as tg
    >>> tg.zeros(3).index_fill(0, tg.tensor([0, -1]), 2.0)
    tensor([2., 0., 2.])
    """
    axis = axis_of(dim, input.ndarray.ndim)
    check_vector(index)
    places, x = as_row(only_long("index_fill", index, IndexError)), as_row(input)
    extent = x.ndarray.shape[axis]
    try:
        filled = indexing.put(zeros(Type(bool_, (extent,))), places, full(places.ndarray.shape, True, bool_))
    except IndexError:
        require(places, FILLED_AT, extent, axis)  # names the axis
        raise
    here = movement.reshape(filled, tuple(extent if a == axis else 1 for a in range(x.ndarray.ndim)))
    return as_shaped(comparison.where(here, _one_number(value, input.dtype), x), input.ndarray.shape)


def _one_number(value: Any, dtype: Any) -> Any:
    if not isinstance(value, Tensor):
        return full((), fitting(value, dtype), dtype)
    if value.ndarray.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndarray.ndim} dimension(s)."
        )
    return converted(value, dtype)


# ------------------------------------------------------------------------------------------------------ by elements


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`input` with the elements of `source` at the places `index` of its elements in a row, or added to those there.

    `index` (int64, any shape) and `source` (of `input`'s type) have equally many elements. Negative places count from
    the end. RuntimeError for other types, IndexError for places outside and for other numbers of elements.

    >>> import tracegrad as tg
    >>> tg.zeros(2, 2).put(tg.tensor([1, -1]), tg.tensor([5.0, 6.0]))
    tensor([[0., 5.],
            [0., 6.]])
    """
    places = only_long("put_", index)
    source = of_type("put_", input, source)
    if index.ndarray.size != source.ndarray.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.ndarray.size}, index.numel() = {index.ndarray.size}"
        )
    flat, places, elements = (flatten(x) for x in (input, places, source))
    try:
        out = (indexing.index_add if accumulate else indexing.put)(flat, places, elements)
    except IndexError:
        require(places, TAKEN, flat.ndarray.size)  # in PyTorch's words
        raise
    out = laid_as(as_shaped(out, input.ndarray.shape), input.ndarray)
    relabel(out, "PutBackward0", (input, source), [source] if source.requires_grad else [])
    return out


def index_put_(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """``input[indices] = values`` in its own memory, or ``+=`` with `accumulate`, which counts repeated indices.

    `indices` are tensors of integers or masks, one for each leading axis (of a mask, for several); `values`, of
    `input`'s type, is broadcast. Returns `input`. TypeError for indices that are no tensors, RuntimeError and
    IndexError for what does not fit.

    >>> import tracegrad as tg
    >>> tg.zeros(3).index_put_((tg.tensor([0, 0]),), tg.tensor(2.0), accumulate=True)
    tensor([4., 0., 0.])
    """
    if isinstance(indices, Tensor):
        raise TypeError("index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not Tensor")
    check_tensors("index_put_", list(indices))
    if values.dtype is not input.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {input.dtype.title} for the destination "
            f"and {values.dtype.title} for the source. Convert the source, e.g. with .to(input)."
        )
    return subscripts.index_put_(input, indices, values, accumulate)


def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of `input` with ``out[indices] = values``; see `index_put_`.

    >>> import tracegrad as tg
    >>> tg.zeros(3).index_put((tg.tensor([True, False, True]),), tg.tensor(2.0))
    tensor([2., 0., 2.])
    """
    out = index_put_(laid_as(copy(input), input.ndarray), indices, values, accumulate)
    relabel(out, "IndexPutBackward0", (input, values))
    return out


# --------------------------------------------------------------------------------------------------------- by masks


@composite("MaskedScatterBackward0")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`input` with the elements of `source`, in order, where `mask` (bool) is true; `input` and `mask` are broadcast.

    RuntimeError where `source` has another type or fewer elements than there are places.

    >>> import tracegrad as tg
    >>> tg.zeros(3).masked_scatter(tg.tensor([True, False, True]), tg.tensor([5.0, 6.0]))
    tensor([5., 0., 6.])
    """
    source = of_type("masked_scatter", input, source)
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.title}")
    shape = broadcast_shapes(input.ndarray.shape, mask.ndarray.shape)
    input, mask = (x if x.ndarray.shape == shape else movement.broadcast(x, shape) for x in (input, mask))
    order = scans.cumsum(cast(flatten(mask), int64), 0) - 1
    order = comparison.where(flatten(mask), order, 0)
    require(comparison.where(flatten(mask), order, -1), SCATTERED, source.ndarray.size)
    if not source.ndarray.size:
        return contiguous(copy(input))
    picked = indexing.take(flatten(source), order)
    return contiguous(comparison.where(mask, movement.reshape(picked, shape), input))


def fill_diagonal(input: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """`input` with one number where all positions are equal; with `wrap` the diagonal of a tall matrix begins anew.

    RuntimeError for fewer than two axes, and for several of different extents.
    """
    shape = input.ndarray.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1: a diagonal takes two axes")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"all dimensions of input must be of equal length, got {list(shape)}")
    first: Any = iota(shape, 0, int64)
    here = eq(iota(shape, 1, int64), first)
    for axis in range(2, len(shape)):
        here = logical_and(here, eq(iota(shape, axis, int64), first))
    if wrap and len(shape) == 2:
        here = eq(remainder(first * shape[1] + iota(shape, 1, int64), shape[1] + 1), 0)
    out = comparison.where(here, _one_number(fill_value, input.dtype), input)
    relabel(out, "FillDiagonalBackward0", (input,))
    return out
