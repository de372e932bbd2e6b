"""The same elements under another shape: views wherever PyTorch makes one."""

from __future__ import annotations

import math
from typing import Any

from ..ops import movement
from ..ops.identity import copy
from ..ops.types import DType
from ..tensors.arguments import Shape, axes_of, axis_of, sizes_of
from ..tensors.composite import composite, relabel
from ..tensors.tensor import Tensor


def _filled_in(shape: Shape, size: int) -> Shape:
    """`shape` with its -1 worked out."""
    known = math.prod(n for n in shape if n != -1)
    holes = shape.count(-1)
    for place, n in enumerate(shape):
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {place} of shape {list(shape)}")
    if holes > 1:
        raise RuntimeError("only one dimension can be inferred")
    if (holes and (known == 0 or size % known)) or (not holes and known != size):
        if holes and known == 0 and size == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")
    return tuple(size // known if n == -1 else n for n in shape)


def reshape(input: Any, *shape: Any) -> Any:
    """The elements in order under another shape, one extent may be -1; a view where strides allow it."""
    wanted = _filled_in(sizes_of(shape), input.ndarray.size)
    out = movement.reshape(input, wanted)
    if out.buffer is not input.buffer:
        relabel(out, "UnsafeViewBackward0", (input,))
    return out


def view(input: Any, *shape: Any) -> Any:
    """As `reshape`, but never a copy: RuntimeError where strides do not allow a view."""
    if len(shape) == 1 and isinstance(shape[0], DType):
        raise TypeError("view(dtype) reinterprets memory, which compiled programs cannot; use .to(dtype) to convert")
    out = movement.reshape(input, _filled_in(sizes_of(shape), input.ndarray.size))
    if out.buffer is not input.buffer:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return out


def view_as(input: Any, other: Any) -> Any:
    """`input` viewed in the shape of `other`."""
    return view(input, other.shape)


def reshape_as(input: Any, other: Any) -> Any:
    """`input` in the shape of `other`."""
    return reshape(input, other.shape)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from `start_dim` to `end_dim` as one."""
    shape = input.ndarray.shape
    start, end = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end and shape:
        return input
    return reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


def ravel(input: Any) -> Any:
    """All elements in one row."""
    return reshape(input, (-1,))


def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Axis `dim` as several axes of the given `sizes`."""
    shape = input.ndarray.shape
    axis, sizes = axis_of(dim, len(shape)), tuple(sizes)
    if -1 not in sizes and math.prod(sizes) != shape[axis]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {axis} ({shape[axis]}) in "
            "the input tensor"
        )
    return reshape(input, (*shape[:axis], *_filled_in(tuple(sizes), shape[axis]), *shape[axis + 1 :]))


def squeeze(input: Any, dim: Any = None) -> Any:
    """Without the axes of extent 1 (those named by `dim`, or all)."""
    shape = input.ndarray.shape
    axes = axes_of(dim, len(shape)) if dim is not None else range(len(shape))
    out = movement.reshape(input, tuple(n for axis, n in enumerate(shape) if n != 1 or axis not in axes))
    relabel(out, "SqueezeBackward0" if dim is None else "SqueezeBackward1", (input,))
    return out


@composite("UnsqueezeBackward0")
def unsqueeze(input: Any, dim: int) -> Any:
    """With a new axis of extent 1 at `dim`."""
    shape = input.ndarray.shape
    axis = axis_of(dim, len(shape) + 1)
    return movement.reshape(input, (*shape[:axis], 1, *shape[axis:]))


# -------------------------------------------------------------------------------------------------- order of axes


def permute(input: Any, *dims: Any) -> Any:
    """The axes in another order."""
    if not dims:
        raise TypeError('permute() missing 1 required positional arguments: "dims"')
    given = sizes_of(dims)
    ndim = input.ndarray.ndim
    if len(given) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(given)}"
        )
    order = tuple(axis_of(d, ndim) for d in given)
    if len(set(order)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return movement.transpose(input, order)


def _swapped(input: Any, dim0: int, dim1: int) -> Any:
    ndim = input.ndarray.ndim
    a, b = axis_of(dim0, ndim), axis_of(dim1, ndim)
    order = list(range(ndim))
    if ndim:
        order[a], order[b] = order[b], order[a]
    return movement.transpose(input, tuple(order))


@composite("TransposeBackward0")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """With two axes swapped."""
    return _swapped(input, dim0, dim1)


@composite("TBackward0")
def t(input: Any) -> Any:
    """The transpose of a matrix; vectors and numbers as they are."""
    ndim = input.ndarray.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return movement.transpose(input, tuple(reversed(range(ndim))))


def numpy_transpose(input: Any) -> Any:
    """``x.T``: all axes in reverse order."""
    return movement.transpose(input, tuple(reversed(range(input.ndarray.ndim))))


def matrix_transpose(input: Any) -> Any:
    """``x.mT``: the last two axes swapped."""
    if input.ndarray.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {input.ndarray.ndim}-D tensor."
        )
    return transpose(input, -2, -1)


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """The axes `source` moved to the places `destination`; the others keep their order."""
    ndim = input.ndarray.ndim
    sources = [axis_of(d, ndim) for d in (source if isinstance(source, (tuple, list)) else (source,))]
    targets = [axis_of(d, ndim) for d in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    rest = iter(axis for axis in range(ndim) if axis not in sources)
    placed = dict(zip(targets, sources, strict=True))
    return movement.transpose(input, tuple(placed[i] if i in placed else next(rest) for i in range(ndim)))


# ------------------------------------------------------------------------------------------------------ repetition


def expand(input: Any, *sizes: Any) -> Any:
    """A view with axes of extent 1 repeated, and new leading axes; -1 keeps an extent."""
    wanted = sizes_of(sizes)
    shape = input.ndarray.shape
    added = len(wanted) - len(shape)
    if added < 0:
        raise RuntimeError(
            f"expand(tensor of shape {list(shape)}, size={list(wanted)}): the number of sizes provided ({len(wanted)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    target = tuple(n if n != -1 or i < added else shape[i - added] for i, n in enumerate(wanted))
    for i, n in enumerate(shape):
        if n not in (1, target[i + added]):
            raise RuntimeError(
                f"The expanded size of the tensor ({target[i + added]}) must match the existing size ({n}) at "
                f"non-singleton dimension {i + added}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
            )
    # numpy's broadcast views are read-only; where nothing is repeated the result may be written to.
    return movement.reshape(input, target) if target == shape else movement.broadcast(input, target)


def expand_as(input: Any, other: Any) -> Any:
    """`input` expanded to the shape of `other`."""
    return expand(input, other.shape)


@composite("RepeatBackward0")
def repeat(input: Any, *repeats: Any) -> Any:
    """The whole tensor repeated so many times along each axis, as a copy."""
    if not repeats:
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    counts = sizes_of(repeats)
    shape = input.ndarray.shape
    if len(counts) < len(shape):
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    full = (1,) * (len(counts) - len(shape)) + shape
    apart = movement.reshape(input, tuple(x for n in full for x in (1, n)))
    spread = movement.broadcast(apart, tuple(x for count, n in zip(counts, full, strict=True) for x in (count, n)))
    return copy(movement.reshape(spread, tuple(count * n for count, n in zip(counts, full, strict=True))))


def tile(input: Any, *dims: Any) -> Any:
    """As `repeat`, with missing counts taken as 1."""
    counts = sizes_of(dims)
    return repeat(input, (1,) * (input.ndarray.ndim - len(counts)) + counts)


def contiguous(input: Any) -> Any:
    """`input` itself if its elements lie in order in memory, else a copy in which they do."""
    return input if input.ndarray.flags.c_contiguous else ordered_copy(input)


def ordered_copy(input: Any) -> Any:
    """A copy whose elements lie in row-major order."""
    out = copy(movement.reshape(input, (input.ndarray.size,)))
    out = movement.reshape(out, input.ndarray.shape)
    relabel(out, "CloneBackward0", (input,))
    return out


@composite("CloneBackward0")
def clone(input: Tensor, *, memory_format: Any = None) -> Any:
    """A copy with memory of its own, part of the graph."""
    return copy(input)
