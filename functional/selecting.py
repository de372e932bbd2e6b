"""Elements chosen by indices, masks and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..ops import comparison, indexing, logic, movement, scans
from ..ops import reductions as folds
from ..ops.array import eager
from ..ops.comparison import eq
from ..ops.core import current
from ..ops.division import remainder
from ..ops.identity import copy
from ..ops.layouts.formats import gradient_as, laid_as
from ..ops.pointwise import cast, converted
from ..ops.requirements import require
from ..ops.sources import full
from ..ops.sources import zeros as zeros_of
from ..ops.types import bool_, broadcast_shapes, int32, int64, uint8
from ..tape.grad_mode import no_grad
from ..tensors.arguments import axis_of, mask_of_bytes
from ..tensors.composite import OUT, composite, relabel
from ..tensors.data import fitting
from ..tensors.in_place import require_castable
from ..tensors.indexing import getitem
from ..tensors.short_floats import rounded_once
from ..tensors.tensor import Tensor
from . import return_types
from .checks.shapes import check_number
from .index_requirements import PLACES, PLACES_WITHIN, TAKEN
from .places.arguments import as_row, from_front, long_index, only_long, to_front, with_extent
from .shapes import contiguous, flatten
from .statistics.extremes import along, lower_median

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import Number


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...


@overload
def where(condition: Tensor, input: Tensor | Number, other: Tensor | Number) -> Tensor: ...


def where(
    condition: Tensor, input: Tensor | Number | None = None, other: Tensor | Number | None = None
) -> Tensor | tuple[Tensor, ...]:
    """`input` where `condition` is true, else `other`; with the condition alone, its ``nonzero(as_tuple=True)``.

    The three are broadcast to one shape; `input` and `other` are tensors or numbers, and the result has the type that
    they are promoted to. The one that is not chosen gets a gradient of 0. RuntimeError for a condition that is not
    bool (uint8 is taken, with a warning), TypeError where only one of the others is given.

    >>> import tracegrad as tg
    >>> x = tg.tensor([-1.0, 2.0])
    >>> tg.where(x > 0, x, 0.5)
    tensor([0.5000, 2.0000])
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise TypeError("where() takes a condition alone, or with both 'input' and 'other' (tensors or numbers)")
    if condition.dtype is uint8:
        condition = mask_of_bytes(condition, "where received a uint8 condition tensor. This is deprecated: use bool.")
    if condition.dtype is not bool_:
        found = f"a tensor with dtype {condition.dtype.title}"
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got {found}")
    if not condition.ndarray.flags.c_contiguous:  # PyTorch's derivative names the condition first
        input, other = gradient_as(input, condition.ndarray), gradient_as(other, condition.ndarray)
    return comparison.where(condition, input, other)


@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False) -> Tensor: ...


@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The positions of the elements that are not 0, row by row, as the rows of an int64 tensor ``[found, ndim]``.

    With `as_tuple` one tensor ``[found]`` for each axis, as an index takes them (a 0-d tensor counts as one element).
    How many there are is data, so a compiled function is re-recorded around it.

    >>> import tracegrad as tg
    >>> tg.nonzero(tg.tensor([[1, 0], [0, 2]]))
    tensor([[0, 0],
            [1, 1]])
    """
    values = eager().read(input.detach(), "nonzero()")
    found = np.nonzero(values) if values.ndim else (np.zeros(int(values != 0), np.int64),)
    if as_tuple:
        return tuple(eager().literal(positions.astype(np.int64)) for positions in found)
    rows = np.stack(found) if values.ndim else np.zeros((0, int(values != 0)))
    rows = rows.astype(np.int64)
    by_columns = rows.T if rows.size else as_strided(rows, rows.shape[::-1], (rows.itemsize, 0))
    return eager().literal(by_columns)  # as PyTorch's, which lie so where there are none, too


# ------------------------------------------------------------------------------------------------------- by an index


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """``out[i][j] = input[index[i][j]][j]`` along `dim` 0: one element for each of `index`, in the shape of `index`.

    `index` (int64 or int32) has as many axes as `input` and is not larger except along `dim`; an empty one may have
    any shape. RuntimeError for an index outside. Difference: the gradient is dense, with `sparse_grad` too.

    >>> import tracegrad as tg
    >>> tg.gather(tg.tensor([[1, 2], [3, 4]]), 1, tg.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    if not index.ndarray.size:
        out = movement.reshape(movement.slice(flatten(input), (0,), (0,), (1,)), index.ndarray.shape)
    else:
        out = along(input, long_index("gather", index), dim)
    relabel(out, "GatherBackward0", (input,), [input])
    return out


@composite("IndexSelectBackward0")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """A copy of the parts of `input` at the positions `index` ``[k]`` (int64 or int32) along `dim`, in their order.

    The result has k parts along `dim`. IndexError for more than one axis of `index`, for positions outside and for an
    axis that is not there, RuntimeError for another type of `index`.

    >>> import tracegrad as tg
    >>> tg.index_select(tg.tensor([[1, 2], [3, 4]]), 1, tg.tensor([1, 1]))
    tensor([[2, 2],
            [4, 4]])
    """
    axis = axis_of(dim, input.ndarray.ndim)
    if index.ndarray.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    places = as_row(long_index("index_select", index))
    if not input.ndarray.ndim and places.ndarray.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {places.ndarray.size} value(s)")
    x = as_row(input)
    require(places, PLACES if axis == 0 else PLACES_WITHIN, x.ndarray.shape[axis])
    rows = contiguous(from_front(indexing.take(to_front(x, axis), places), axis))
    return rows if input.ndarray.ndim else movement.reshape(rows, ())


@composite("TakeBackward0", {"input": ("input",)})
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at the positions `index` (int64) of the flattened `input`, in the shape of `index`.

    Negative positions count from the end. IndexError for one outside, RuntimeError for another type of `index`.

    >>> import tracegrad as tg
    >>> tg.take(tg.tensor([[1, 2], [3, 4]]), tg.tensor([0, -1]))
    tensor([1, 4])
    """
    flat, places = flatten(input), only_long("take", index)
    try:
        return indexing.take(flat, places)
    except IndexError:
        require(places, TAKEN, flat.ndarray.size)  # in PyTorch's words
        raise


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` along `dim` with sizes broadcast elsewhere; without `dim` from the flattened `input`, as a vector.

    `indices` (int64) have as many axes as `input`; -1 is the last place. What `argsort` and `argmax` give fits.
    RuntimeError for another type or number of axes, and for places outside of the flattened `input`. Along `dim`
    indices count round and round, as in PyTorch.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[3, 1], [2, 4]])
    >>> tg.take_along_dim(x, x.argsort(1), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    indices = only_long("take_along_dim", indices)
    if dim is None:
        return gather(flatten(input), 0, flatten(indices))
    axis = axis_of(dim, input.ndarray.ndim)
    extent = input.ndarray.shape[axis]
    if input.ndarray.ndim != indices.ndarray.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndarray.ndim} dimensions for input, and {indices.ndarray.ndim} dimensions for indices"
        )
    there, wanted = (with_extent(x.ndarray.shape, axis, 1) for x in (input, indices))
    common = broadcast_shapes(there, wanted)
    source = movement.broadcast(input, with_extent(common, axis, extent))
    index = movement.broadcast(indices, with_extent(common, axis, indices.ndarray.shape[axis]))
    return gather(source, axis, remainder(index, extent) if extent else index)


# --------------------------------------------------------------------------------------------------------- by a mask


@composite("MaskedFillBackward0")
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """A copy of `input` with `value`, a number or a 0-d tensor, where `mask` (bool, broadcast) is true.

    The result has the type of `input`. RuntimeError for a mask of another type, for a `value` with axes, and for a
    number that the type cannot hold.

    >>> import tracegrad as tg
    >>> tg.masked_fill(tg.tensor([1.0, 2.0]), tg.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype!r}")
    check_number(value)
    if not isinstance(value, Tensor):
        value = current().constant(fitting(value, input.dtype), input.dtype)
    elif value.dtype.is_complex:
        require_castable(value.dtype, input.dtype)
    value = converted(value, input.dtype)
    if input.ndarray.flags.c_contiguous and mask.ndarray.flags.c_contiguous:
        return comparison.where(mask, value, input)
    return contiguous(comparison.where(mask, value, movement.by_rows(input)))  # as PyTorch's


@composite("MaskedSelectBackward0", {"input": ("input",), "mask": ("input",)})
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of `input` where `mask` (bool) is true, in one row; both are broadcast to one shape.

    How many there are is data, so a compiled function is re-recorded around it. RuntimeError for a mask of another
    type.

    >>> import tracegrad as tg
    >>> tg.masked_select(tg.tensor([1, 2, 3]), tg.tensor([True, False, True]))
    tensor([1, 3])
    """
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype!r}; compare, or call .bool()")
    shape = broadcast_shapes(input.ndarray.shape, mask.ndarray.shape)
    return getitem(movement.broadcast(input, shape), movement.broadcast(mask, shape))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The positions (int64, in the shape of `input`) that sort `input` along `dim`: smallest first, or `descending`.

    NaN is the largest. Equal elements keep their order, whatever `stable` says (PyTorch: only with it).

    >>> import tracegrad as tg
    >>> tg.argsort(tg.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    if not input.ndarray.ndim:
        axis_of(dim, 0)
        return full((), 0, int64)
    indices = scans.argsort(input, axis_of(dim, input.ndarray.ndim), bool(descending))
    return indices if input.ndarray.flags.c_contiguous else laid_as(indices, input.ndarray)


def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False) -> return_types.sort:
    """(values, indices): the elements in order along `dim`, and where they stood (int64), see `argsort`.

    Both have the shape of `input`; a value's gradient goes to the element that it was.

    >>> import tracegrad as tg
    >>> tg.sort(tg.tensor([3, 1, 2])).values
    tensor([1, 2, 3])
    """
    indices = argsort(input, dim, descending)
    values = along(input, indices, dim)
    if not input.ndarray.flags.c_contiguous:
        values = laid_as(values, input.ndarray)
    relabel(values, "SortBackward0", (input,))
    return return_types.sort(values, indices)


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> return_types.topk:
    """(values, indices) of the `k` largest (or smallest) elements along `dim`, in order whatever `sorted` says.

    The extent of `dim` becomes k; indices are int64, NaN is the largest. RuntimeError for a k that the axis has not and
    for bool.

    >>> import tracegrad as tg
    >>> values, indices = tg.topk(tg.tensor([3.0, 1.0, 2.0]), 2)
    >>> values, indices
    (tensor([3., 2.]), tensor([0, 2]))
    """
    if input.dtype is bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU. Convert it first, e.g. with .int().")
    ndim = input.ndarray.ndim
    axis = axis_of(dim, ndim)
    if not 0 <= k <= (input.ndarray.shape[axis] if ndim else 1):
        raise RuntimeError("selected index k out of range")
    indices = scans.argsort(input, axis, bool(largest), k) if ndim else full((), 0, int64)
    values = along(input, indices, dim)
    relabel(values, "TopkBackward0", (input,))
    return return_types.topk(values, indices)


@overload
def median(input: Tensor) -> Tensor: ...


@overload
def median(input: Tensor, dim: int, keepdim: bool = False) -> return_types.median: ...


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | return_types.median:
    """The lower of the two middle elements of all, 0-d; with `dim`, (values, indices) along it, kept with `keepdim`.

    NaN where there is one. Of all elements, those equal to the median share its gradient; along an axis the one at its
    index has it. IndexError for an axis without elements, NotImplementedError for bool.

    >>> import tracegrad as tg
    >>> tg.median(tg.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    >>> tg.median(tg.tensor([[3, 1, 2]]), 1).indices
    tensor([2])
    """
    if input.dtype is bool_:
        raise NotImplementedError("\"median_cpu\" not implemented for 'Bool'. Convert it first, e.g. with .int().")
    if dim is None:
        return _overall_median(input)
    if not input.ndarray.ndim:
        return return_types.median(copy(input), full((), 0, int64))
    axis = axis_of(dim, input.ndarray.ndim)
    if not input.ndarray.shape[axis]:
        raise IndexError(
            f"median(): Expected reduction dim {axis} to have non-zero size. Nothing has no middle: leave empty "
            "tensors out."
        )
    with no_grad():
        indices = lower_median(input, axis)
    values = indexing.gather(input, indices, axis)
    if not keepdim:
        shape = input.ndarray.shape[:axis] + input.ndarray.shape[axis + 1 :]
        values, indices = movement.reshape(values, shape), movement.reshape(indices, shape)
    relabel(values, "MedianBackward1", (input,))
    return return_types.median(values, indices)


@composite("MedianBackward0", {"input": ("input",), OUT: ("input",)})
def _overall_median(input: Tensor) -> Tensor:
    """Elements equal to the median share the gradient evenly."""
    flat = flatten(input)
    if not flat.ndarray.size:
        if input.dtype.is_floating_point:
            return folds.sum(flat, (0,)) + float("nan")
        # What a NaN is as such a number.
        return full((), -1 << 8 * input.dtype.itemsize - 1 if input.dtype in (int32, int64) else 0, input.dtype)
    with no_grad():
        value = indexing.gather(flat, lower_median(flat, 0), 0)
    hit = logic.logical_or(eq(flat, value), logic.logical_and(comparison.isnan(flat), comparison.isnan(value)))
    if not input.dtype.is_floating_point:
        return movement.reshape(value, ())
    count = folds.sum(cast(hit, input.dtype), (0,))
    return folds.sum(comparison.where(hit, flat / count, zeros_of(flat.type_)), (0,))


# ------------------------------------------------------------------------------------------------------------- scans


def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The sum of each element and those before it along `dim`: ``out[k] = input[0] + ... + input[k]``.

    It is computed in `dtype`, which is that of `input` unless given; of bool and integers int64. IndexError for an axis
    that is not there.

    >>> import tracegrad as tg
    >>> tg.cumsum(tg.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    x = converted(input, dtype or folds.sum_dtype(input.dtype))
    if not x.ndarray.ndim:
        axis_of(dim, 0)
        return movement.reshape(scans.cumsum(movement.reshape(x, (1,)), 0), ())
    return scans.cumsum(x, axis_of(dim, x.ndarray.ndim))


@rounded_once
@composite("CumprodBackward0", {"input": ("input",), OUT: ("input",)}, zero=True)
def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The product of each element and those before it along `dim`: ``out[k] = input[0] * ... * input[k]``.

    It is computed in `dtype`, by default that of `input`, int64 of integers. IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.cumprod(tg.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """
    x = converted(input, dtype or folds.sum_dtype(input.dtype))
    return x * 1 if not x.ndarray.ndim else scans.cumprod(x, axis_of(dim, x.ndarray.ndim))
