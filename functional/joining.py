"""Tensors together and apart, and elements at other places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops import movement
from ..ops.comparison import where
from ..ops.core import current
from ..ops.identity import copy
from ..ops.numbers import whole
from ..ops.pointwise import converted
from ..ops.requirements import Requirement, require
from ..ops.sources import iota
from ..ops.types import DIMENSIONED, bool_, int64, result_dtype
from ..tensors.arguments import axes_of, axis_of, sizes_of
from ..tensors.composite import composite, relabel
from ..tensors.tensor import Tensor
from .checks.shapes import check_tensors, check_vectors
from .parts import together
from .shapes import flatten, movedim, unsqueeze

FEW = 4  # tensors that are stacked by ops


def cat(tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None) -> Any:
    """The tensors one behind the other along `dim`; their types are promoted to one.

    RuntimeError where shapes do not fit together.
    """
    if isinstance(tensors, Tensor):
        raise TypeError("cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    given = list(tensors)
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    check_tensors("cat", given)
    for i, x in enumerate(given):
        if not x.ndarray.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    # An empty 1-d tensor fits everywhere: programs start a list of results with it.
    kept = [x for x in given if x.ndarray.shape != (0,)] or given[:1]
    dtype = result_dtype((x.dtype, DIMENSIONED) for x in given)
    place = axis_of(dim if axis is None else axis, kept[0].ndarray.ndim)
    return movement.concatenate([converted(x, dtype) for x in kept], place)


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """The tensors, of one shape, along a new axis `dim`."""
    given = list(tensors)
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    at_once = _stacked(given, dim) if len(given) > FEW else None
    if at_once is not None:
        return at_once
    for i, x in enumerate(given):
        if x.ndarray.shape != given[0].ndarray.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(given[0].shape)} at entry 0 and "
                f"{list(x.shape)} at entry {i}"
            )
    dtype = result_dtype((x.dtype, DIMENSIONED) for x in given)
    place = axis_of(dim, given[0].ndarray.ndim + 1)
    out = movement.concatenate([unsqueeze(converted(x, dtype), place) for x in given], place)
    relabel(out, "StackBackward0", given)
    return out


def _stacked(given: list[Any], dim: int) -> Any:
    """`stack` in one go instead of by ops; None where it takes ops."""
    in_one_go = getattr(current(), "stacked", None)
    shape, dtype = given[0].ndarray.shape, given[0].ndarray.dtype
    if in_one_go is None or any(x.ndarray.shape != shape or x.ndarray.dtype != dtype for x in given):
        return None
    return in_one_go(given, axis_of(dim, len(shape) + 1))


def _at_least(x: Any, ndim: int) -> Any:
    return x if x.ndarray.ndim >= ndim else movement.reshape(x, (1,) * (ndim - x.ndarray.ndim) + x.ndarray.shape)


def vstack(tensors: Sequence[Any]) -> Any:
    """The tensors as rows below each other."""
    return cat([_at_least(x, 2) for x in tensors], 0)


def hstack(tensors: Sequence[Any]) -> Any:
    """The tensors beside each other: along axis 1, vectors along axis 0."""
    given = [_at_least(x, 1) for x in tensors]
    return cat(given, 0 if given[0].ndarray.ndim == 1 else 1)


# ----------------------------------------------------------------------------------------------------------- parts


def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """A view of `length` elements along `dim`, beginning at `start`."""
    shape = input.ndarray.shape
    axis = axis_of(dim, len(shape))
    start = _position(start)
    start = start + shape[axis] if start < 0 else start
    if length < 0 or not 0 <= start <= start + length <= shape[axis]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({shape[axis]}).")
    starts, stops = [0] * len(shape), list(shape)
    starts[axis], stops[axis] = start, start + length
    out = movement.slice(input, tuple(starts), tuple(stops), (1,) * len(shape))
    relabel(out, "SliceBackward0", (input,))
    return out


def _position(number: Any) -> Any:
    """An int; a stand-in for one as it is."""
    return whole(number) if isinstance(number, int) else int(number)


def select(input: Any, dim: int, index: int) -> Any:
    """A view of the elements at `index` along `dim`, without this axis."""
    shape = input.ndarray.shape
    axis = axis_of(dim, len(shape))
    if not -shape[axis] <= index < shape[axis]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {axis}")
    part = narrow(input, axis, index % shape[axis], 1)
    out = movement.reshape(part, shape[:axis] + shape[axis + 1 :])
    relabel(out, "SelectBackward0", (input,))
    return out


def split(input: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Views of parts along `dim`: of one size (the last may be smaller), or of the sizes given."""
    extent = input.ndarray.shape[axis_of(dim, input.ndarray.ndim)]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
        if not size and extent:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}")
        if not size:
            return (input,)
        sizes = [min(size, extent - start) for start in range(0, extent, size)] or [0]
    else:
        sizes = list(split_size_or_sections)
        if sum(sizes) != extent:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's size at dimension "
                f"{dim}), but got split_sizes={sizes}"
            )
    parts = tuple(narrow(input, dim, sum(sizes[:i]), size) for i, size in enumerate(sizes))
    axis = axis_of(dim, input.ndarray.ndim)
    return together("SplitBackward0", input, parts, lambda gs: movement.concatenate(gs, axis))


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most `chunks` views of equal size along `dim` (the last may be smaller)."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    extent = input.ndarray.shape[axis_of(dim, input.ndarray.ndim)]
    return split(input, max(1, -(-extent // chunks)), dim)


def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """Views of all elements along `dim`."""
    axis = axis_of(dim, input.ndarray.ndim)
    parts = tuple(select(input, axis, i) for i in range(input.ndarray.shape[axis]))
    return together("UnbindBackward0", input, parts, lambda gs: stack(gs, axis))


# ----------------------------------------------------------------------------------------------------- other places


def flip(input: Any, *dims: Any) -> Any:
    """The order along `dims` reversed, as a copy."""
    return movement.flip(input, axes_of(sizes_of(dims), input.ndarray.ndim))


def fliplr(input: Any) -> Any:
    """The order along axis 1 reversed."""
    return flip(input, 1)


def flipud(input: Any) -> Any:
    """The order along axis 0 reversed."""
    return flip(input, 0)


@composite("RollBackward0")
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved by `shifts` along `dims`; those pushed out come in at the other end."""
    if dims is None:
        return movement.reshape(_rolled(flatten(input), shifts, 0), input.ndarray.shape)
    amounts = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    axes = dims if isinstance(dims, (tuple, list)) else (dims,)
    if len(amounts) != len(axes):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(amounts)}, dims:{len(axes)}")
    for amount, dim in zip(amounts, axes, strict=True):
        input = _rolled(input, amount, axis_of(dim, input.ndarray.ndim))
    return input


def _rolled(x: Any, shift: Any, axis: int) -> Any:
    amount = shift[0] if isinstance(shift, (tuple, list)) else shift
    extent = x.ndarray.shape[axis]
    cut = -amount % extent if extent else 0
    if not cut:
        return copy(x)
    return movement.concatenate([narrow(x, axis, cut, extent - cut), narrow(x, axis, 0, cut)], axis)


def repeat_interleave(input: Any, repeats: Any, dim: int | None = None) -> Any:
    """Each element repeated so many times in a row, along `dim` or of the flattened tensor."""
    if dim is None:
        input, dim = flatten(input), 0
    axis = axis_of(dim, input.ndarray.ndim)
    shape = input.ndarray.shape
    if isinstance(repeats, int) and repeats < 0:
        raise RuntimeError(f"Repeats must be non-negative, got {repeats}")
    if isinstance(repeats, Tensor):
        positions = [i for i, count in enumerate(_counts(repeats, shape[axis])) for _ in range(count)]
        return input[(slice(None),) * axis + (positions,)]
    apart = unsqueeze(input, axis + 1)
    spread = movement.broadcast(apart, (*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    out = copy(movement.reshape(spread, (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :])))
    relabel(out, "RepeatInterleaveBackward0", (input,))
    return out


COUNTS = Requirement(lambda counts: (counts >= 0,), RuntimeError, "repeats can not be negative")


def _counts(repeats: Any, extent: int) -> list[int]:
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


# -------------------------------------------------------------------------------------------------------- diagonals


def _keep_where(input: Any, diagonal: int, upper: bool) -> Any:
    if input.ndarray.ndim < 2:
        raise RuntimeError(f"{'triu' if upper else 'tril'}: input tensor must have at least 2 dimensions")
    rows, columns = input.ndarray.shape[-2:]
    distance = iota((rows, columns), 1, int64) - iota((rows, columns), 0, int64)
    return where(distance >= diagonal if upper else distance <= diagonal, input, False if input.dtype is bool_ else 0)


@composite("TriuBackward0")
def triu(input: Any, diagonal: int = 0) -> Any:
    """The elements on and above a diagonal, zeros below."""
    return _keep_where(input, diagonal, True)


@composite("TrilBackward0")
def tril(input: Any, diagonal: int = 0) -> Any:
    """The elements on and below a diagonal, zeros above."""
    return _keep_where(input, diagonal, False)


@composite("DiagonalBackward0")
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of the matrices in two axes, as the last axis; a view where memory is in order."""
    ndim = input.ndarray.ndim
    if axis_of(dim1, ndim) == axis_of(dim2, ndim):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    moved = movedim(input, (axis_of(dim1, ndim), axis_of(dim2, ndim)), (-2, -1))
    *lead, rows, columns = moved.ndarray.shape
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    start = max(offset, 0) - min(offset, 0) * columns
    flat = movement.reshape(moved, (*lead, rows * columns))
    first = start if length else 0
    stop = first + (length - 1) * (columns + 1) + 1 if length else 0
    zeros, ones = (0,) * len(lead), (1,) * len(lead)
    return movement.slice(flat, (*zeros, first), (*lead, stop), (*ones, columns + 1))


def _diagonal_of_matrix(input: Any, offset: int) -> Any:
    return diagonal(input, offset)


def diag(input: Any, diagonal: int = 0) -> Any:
    """The diagonal of a matrix (a copy, see `diagonal`), or a matrix with this diagonal."""
    if input.ndarray.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndarray.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndarray.ndim}D")
    return copy(_diagonal_of_matrix(input, diagonal))


def diag_embed(input: Any, offset: int = 0) -> Any:
    """Square matrices whose diagonals are the last axis of `input`."""
    *lead, n = input.ndarray.shape
    extent = n + abs(offset)
    place = iota((extent, extent), 1, int64) - iota((extent, extent), 0, int64)
    low = (0,) * len(lead) + (max(-offset, 0),)
    high = (0,) * len(lead) + (max(offset, 0),)
    rows = movement.reshape(movement.pad(input, low, high), (*lead, extent, 1))
    return where(place.eq(offset), rows, 0)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Any, ...]:
    """Coordinates of a grid: one tensor of the grid's shape for each vector given."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else list(tensors)
    check_vectors(given, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}")
    if indexing == "xy" and len(given) >= 2:
        first, second, *rest = meshgrid(given[1], given[0], *given[2:])
        return (second, first, *rest)
    shape = tuple(x.ndarray.size for x in given)
    columns = [movement.reshape(x, tuple(n if j == i else 1 for j, n in enumerate(shape))) for i, x in enumerate(given)]
    return tuple(movement.broadcast(x, shape) for x in columns)


def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of the vectors' elements, as rows."""
    check_vectors(list(tensors), "Expect a 1D vector, but got shape {}")
    return stack([flatten(grid) for grid in meshgrid(*tensors)], 1)
