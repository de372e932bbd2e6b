"""Elements chosen by indices, masks and order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops import comparison, indexing, logic, movement, scans
from ..ops import reductions as folds
from ..ops.array import eager
from ..ops.comparison import eq
from ..ops.core import current
from ..ops.division import remainder
from ..ops.pointwise import cast, converted
from ..ops.requirements import require
from ..ops.sources import full
from ..ops.sources import zeros as zeros_of
from ..ops.types import bool_, broadcast_shapes, int64
from ..tape.grad_mode import no_grad
from ..tensors.arguments import axis_of
from ..tensors.composite import OUT, composite, relabel
from ..tensors.data import fitting
from ..tensors.indexing import getitem
from ..tensors.tensor import Tensor
from . import return_types
from .checks.shapes import check_count, check_number, check_vector
from .index_requirements import ADDED_TO, COPIED_TO, FILLED_AT, PLACES, PLACES_WITHIN, SCATTERED, TAKEN
from .reductions import along
from .shapes import flatten


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition` is true, else `other`; with the condition alone, its ``nonzero(as_tuple=True)``."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise TypeError("where() takes a condition alone, or with both 'input' and 'other' (tensors or numbers)")
    if condition.dtype is not bool_:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype!r}"
        )
    return comparison.where(condition, input, other)


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not 0, as rows (or one tensor for each axis). How many is data."""
    values = eager().read(input.detach(), "nonzero()")
    found = np.nonzero(values) if values.ndim else (np.zeros(int(values != 0), np.int64),)
    if as_tuple:
        return tuple(eager().literal(positions.astype(np.int64)) for positions in found)
    rows = np.stack(found, 1) if values.ndim else np.zeros((int(values != 0), 0))
    return eager().literal(rows.astype(np.int64))


# ------------------------------------------------------------------------------------------------------- by an index


def gather(input: Any, dim: int, index: Any) -> Any:
    """``out[i][j] = input[index[i][j]][j]`` along `dim` 0. RuntimeError for an index outside."""
    out = along(input, _long("gather", index), dim)
    relabel(out, "GatherBackward0", (input,), [input])
    return out


def _long(name: str, index: Any, error: type[Exception] = RuntimeError) -> Any:
    """`index` in int64; what is neither that nor int32 is refused. See `_only_long` for what takes int64 alone."""
    if index.dtype.is_floating_point or index.dtype is bool_:
        raise error(f"{name}(): Expected dtype int32/int64 for index, got {index.dtype!r}; convert it with .long()")
    return index if index.dtype is int64 else cast(index, int64)


def _only_long(name: str, index: Any, error: type[Exception] = RuntimeError) -> Any:
    if index.dtype is not int64:
        raise error(f"{name}(): Expected a long tensor for index, but got {index.dtype!r}; convert it with .long()")
    return index


def _of_type(name: str, input: Any, source: Any) -> Any:
    """`source`, which is stored in `input`: it must have the same type."""
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): self and source expected to have the same dtype, but got (self) {input.dtype.title} and "
            f"(source) {source.dtype.title}. Convert the source, e.g. with .to(input)."
        )
    return source


def _moved(x: Any, axis: int) -> Any:
    """`x` with `axis` in front."""
    return movement.transpose(x, (axis, *(a for a in range(x.ndarray.ndim) if a != axis)))


def _moved_back(x: Any, axis: int) -> Any:
    return movement.transpose(x, (*range(1, axis + 1), 0, *range(axis + 1, x.ndarray.ndim)))


@composite("IndexSelectBackward0")
def index_select(input: Any, dim: int, index: Any) -> Any:
    """The parts of `input` at the positions `index` along `dim`."""
    axis = axis_of(dim, input.ndarray.ndim)
    if index.ndarray.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    places = _long("index_select", movement.reshape(index, (index.ndarray.size,)))
    extent = input.ndarray.shape[axis] if input.ndarray.ndim else 1
    require(places, PLACES if axis == 0 else PLACES_WITHIN, extent)
    rows = indexing.take(_moved(input, axis), places)
    return _moved_back(rows, axis)


@composite("TakeBackward0", {"input": ("input",)})
def take(input: Any, index: Any) -> Any:
    """Elements of the flattened `input`."""
    flat, places = flatten(input), _only_long("take", index)
    try:
        return indexing.take(flat, places)
    except IndexError:
        require(places, TAKEN, flat.ndarray.size)  # in PyTorch's words
        raise


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """`gather` along `dim`, or from the flattened `input`.

    Sizes are broadcast, except along `dim`, where an index counts round and round: -1 is the last place.
    """
    indices = _only_long("take_along_dim", indices)
    if dim is None:
        return gather(flatten(input), 0, flatten(indices))
    axis = axis_of(dim, input.ndarray.ndim)
    extent = input.ndarray.shape[axis]
    if input.ndarray.ndim != indices.ndarray.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndarray.ndim} dimensions for input, and {indices.ndarray.ndim} dimensions for indices"
        )
    there, wanted = _but_for(input, axis), _but_for(indices, axis)
    common = broadcast_shapes(there, wanted)
    source = movement.broadcast(input, _with_extent(common, axis, extent))
    index = movement.broadcast(indices, _with_extent(common, axis, indices.ndarray.shape[axis]))
    return gather(source, axis, remainder(index, extent) if extent else index)


def _but_for(x: Any, axis: int) -> tuple[int, ...]:
    """The sizes of `x`, with 1 along `axis`."""
    return _with_extent(x.ndarray.shape, axis, 1)


def _with_extent(shape: tuple[int, ...], axis: int, extent: int) -> tuple[int, ...]:
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _source(input: Any, index: Any, src: Any) -> Any:
    """What to scatter: a number everywhere, or the part of `src` that `index` covers."""
    if not isinstance(src, Tensor):
        return full(index.ndarray.shape, fitting(src, input.dtype), input.dtype)
    shape = index.ndarray.shape
    src = _of_type("scatter", input, src)
    if src.ndarray.shape == shape:
        return src
    _check_source(input, index, src)
    return movement.slice(src, (0,) * len(shape), shape, (1,) * len(shape))


def _check_source(input: Any, index: Any, src: Any) -> None:
    """RuntimeError unless `src` has a value for each index."""
    if src.ndarray.ndim != index.ndarray.ndim:
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as src tensor: {list(index.shape)} and "
            f"{list(src.shape)}"
        )
    if any(wanted > there for wanted, there in zip(index.ndarray.shape, src.ndarray.shape, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} and to be no larger "
            f"size than src {list(src.shape)}"
        )


def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """`input` with ``out[index[i][j]][j] = src[i][j]`` along `dim` 0; `src` may be a number."""
    if src is None and value is None:
        raise TypeError("scatter(): argument 'src' (position 3) must be Tensor or a number, not NoneType")
    index = _long("scatter", index)
    source = _source(input, index, value if src is None else src)
    axis = axis_of(dim, input.ndarray.ndim)
    if reduce == "add":
        return indexing.scatter_add(input, index, source, axis)
    if reduce is not None:
        raise RuntimeError(f"scatter(): reduce argument must be None or 'add' here, got {reduce!r}")
    return indexing.scatter(input, index, source, axis)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """`input` with ``out[index[i][j]][j] += src[i][j]`` along `dim` 0."""
    index = _long("scatter_add", index)
    return indexing.scatter_add(input, index, _source(input, index, src), axis_of(dim, input.ndarray.ndim))


@composite("IndexAddBackward0", {"source": ("source",)})
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """`input` with the parts of `source` (times `alpha`) added at the positions `index` along `dim`."""
    axis = axis_of(dim, input.ndarray.ndim)
    source = _of_type("index_add", input, source)
    check_count("index_add_", RuntimeError, index, source, axis, f": ({{}}), for dim: {dim}")
    rows = _moved(converted(source if alpha == 1 else source * alpha, input.dtype), axis)
    moved, places = _moved(input, axis), _long("index_add", index)
    if input.ndarray.ndim == 1:
        require(places, PLACES, input.ndarray.size)
    elif input.ndarray.ndim:
        require(places, ADDED_TO, input.ndarray.shape[axis], axis)
    return _moved_back(indexing.index_add(moved, places, rows), axis)


@composite("IndexCopyBackward0", {"source": ("source",)})
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """`input` with the parts of `source` at the positions `index` along `dim`."""
    axis = axis_of(dim, input.ndarray.ndim)
    check_count("index_copy_", IndexError, index, source, axis, " ({})")
    rows = _moved(_of_type("index_copy", input, source), axis)
    moved, places = _moved(input, axis), _only_long("index_copy", index)
    if input.ndarray.ndim:
        require(places, COPIED_TO, input.ndarray.shape[axis], axis)
    return _moved_back(indexing.put(moved, places, rows), axis)


@composite("IndexFillBackward0")
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """`input` with one number at the positions `index` along `dim`."""
    axis = axis_of(dim, input.ndarray.ndim)
    check_vector(index)
    moved = _moved(input, axis)
    index = _only_long("index_fill", movement.reshape(index, (index.ndarray.size,)), IndexError)
    shape = index.ndarray.shape + moved.ndarray.shape[1:]
    if isinstance(value, Tensor):
        rows = movement.broadcast(converted(value, input.dtype), shape)
    else:
        rows = full(shape, fitting(value, input.dtype), input.dtype)
    try:
        return _moved_back(indexing.put(moved, index, rows), axis)
    except IndexError:
        require(index, FILLED_AT, moved.ndarray.shape[0], axis)  # names the axis
        raise


# --------------------------------------------------------------------------------------------------------- by a mask


@composite("MaskedFillBackward0")
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`input` with `value` where `mask` is true."""
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype!r}")
    check_number(value)
    if not isinstance(value, Tensor):
        value = current().constant(fitting(value, input.dtype), input.dtype)
    return comparison.where(mask, converted(value, input.dtype), input)


@composite("MaskedSelectBackward0", {"input": ("input",), "mask": ("input",)})
def masked_select(input: Any, mask: Any) -> Any:
    """The elements of `input` where `mask` is true, in one row. How many is data."""
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype!r}; compare, or call .bool()")
    shape = broadcast_shapes(input.ndarray.shape, mask.ndarray.shape)
    return getitem(movement.broadcast(input, shape), movement.broadcast(mask, shape))


@composite("MaskedScatterBackward0")
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """`input` with the elements of `source`, in order, where `mask` is true."""
    source = _of_type("masked_scatter", input, source)
    mask = movement.broadcast(mask, input.ndarray.shape)
    order = scans.cumsum(cast(flatten(mask), int64), 0) - 1
    order = comparison.where(flatten(mask), order, 0)
    try:
        picked = indexing.take(flatten(source), order)
    except IndexError:
        require(order, SCATTERED, source.ndarray.size)  # in PyTorch's words
        raise
    return comparison.where(mask, movement.reshape(converted(picked, input.dtype), input.ndarray.shape), input)


# ---------------------------------------------------------------------------------------------------------- by order


def argsort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The positions along `dim` that sort `input`. Equal elements keep their order; NaN is the largest."""
    if not input.ndarray.ndim:
        axis_of(dim, 0)
        return full((), 0, int64)
    return scans.argsort(input, axis_of(dim, input.ndarray.ndim), bool(descending))


def sort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """(values, indices) in order along `dim`, see `argsort`."""
    indices = argsort(input, dim, descending)
    values = along(input, indices, dim)
    relabel(values, "SortBackward0", (input,))
    return return_types.sort(values, indices)


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """(values, indices) of the `k` largest (or smallest) elements along `dim`, in order."""
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


def _middle(x: Any, axis: int) -> Any:
    """The position of the lower median along `axis`, with extent 1; of a NaN where there is one."""
    order = scans.argsort(x, axis, False)
    extent = x.ndarray.shape[axis]
    starts, stops = [0] * x.ndarray.ndim, list(x.ndarray.shape)
    starts[axis], stops[axis] = (extent - 1) // 2, (extent - 1) // 2 + 1
    middle = movement.slice(order, tuple(starts), tuple(stops), (1,) * x.ndarray.ndim)
    starts[axis], stops[axis] = extent - 1, extent
    last = movement.slice(order, tuple(starts), tuple(stops), (1,) * x.ndarray.ndim)
    shape = middle.ndarray.shape
    has_nan = movement.reshape(folds.any(comparison.isnan(x), (axis,)), shape)
    return comparison.where(has_nan, last, middle)


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all elements; with `dim`, (values, indices) along it. NaN where there is one."""
    if input.dtype is bool_:
        raise NotImplementedError("\"median_cpu\" not implemented for 'Bool'. Convert it first, e.g. with .int().")
    if dim is None:
        return _overall_median(input)
    if not input.ndarray.ndim:
        return return_types.median(flatten(input).reshape(()), full((), 0, int64))
    axis = axis_of(dim, input.ndarray.ndim)
    if not input.ndarray.shape[axis]:
        raise IndexError(
            f"median(): Expected reduction dim {axis} to have non-zero size. Nothing has no middle: leave empty "
            "tensors out."
        )
    with no_grad():
        indices = _middle(input, axis)
    values = indexing.gather(input, indices, axis)
    if not keepdim:
        shape = input.ndarray.shape[:axis] + input.ndarray.shape[axis + 1 :]
        values, indices = movement.reshape(values, shape), movement.reshape(indices, shape)
    relabel(values, "MedianBackward1", (input,))
    return return_types.median(values, indices)


@composite("MedianBackward0", {"input": ("input",), OUT: ("input",)})
def _overall_median(input: Any) -> Any:
    """Elements equal to the median share the gradient evenly."""
    flat = flatten(input)
    if not flat.ndarray.size and input.dtype.is_floating_point:
        return folds.sum(flat, (0,)) + float("nan")
    with no_grad():
        value = indexing.gather(flat, _middle(flat, 0), 0)
    hit = logic.logical_or(eq(flat, value), logic.logical_and(comparison.isnan(flat), comparison.isnan(value)))
    if not input.dtype.is_floating_point:
        return movement.reshape(value, ())
    count = folds.sum(cast(hit, input.dtype), (0,))
    return folds.sum(comparison.where(hit, flat / count, zeros_of(flat.type_)), (0,))


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The distinct elements in order, and on demand where each element went and how often it occurs."""
    values = eager().read(input.detach(), "unique()")
    found = np.unique(values, return_inverse=True, return_counts=True, axis=dim)
    inverse = found[1].reshape(values.shape if dim is None else (values.shape[dim],))
    wanted = [found[0], inverse if return_inverse else None, found[2] if return_counts else None]
    literal = eager().literal
    out = tuple(literal(np.ascontiguousarray(a)) for a in wanted if a is not None)
    return out if len(out) > 1 else out[0]


# ------------------------------------------------------------------------------------------------------------- scans


def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The sum of each element and those before it along `dim`; bool and integers in int64."""
    x = converted(input, dtype or folds.sum_dtype(input.dtype))
    if not x.ndarray.ndim:
        axis_of(dim, 0)
        return movement.reshape(scans.cumsum(movement.reshape(x, (1,)), 0), ())
    return scans.cumsum(x, axis_of(dim, x.ndarray.ndim))


@composite("CumprodBackward0", {"input": ("input",), OUT: ("input",)})
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The product of each element and those before it along `dim`; bool and integers in int64."""
    x = converted(input, dtype or folds.sum_dtype(input.dtype))
    return x * 1 if not x.ndarray.ndim else scans.cumprod(x, axis_of(dim, x.ndarray.ndim))
