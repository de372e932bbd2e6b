"""Tensors together and apart, and elements at other places."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..ops import movement
from ..ops.core import current, switch
from ..ops.identity import copy
from ..ops.numbers import whole
from ..tensors.arguments import axes_of, axis_of, numbers_called, sizes_of
from ..tensors.autocasting import widest_type
from ..tensors.composite import composite, relabel
from ..tensors.tensor import EAGER, Tensor
from ..tensors.written.unfollowed import UNBOUND
from ..tracing.user_warning import warn_once
from .checks.shapes import check_tensors, check_vectors
from .elementwise.casting import in_one_type
from .parts import part, stacked, together
from .shapes import flatten

FEW = 4  # tensors that are stacked by ops, where these are noted


@widest_type
def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """The tensors one behind the other along `dim`; `axis` is another name of it.

    All have the same shape but along `dim`, which adds up; an empty 1-d tensor fits everywhere. The result has the type
    that theirs are promoted to. RuntimeError for other shapes and for 0-d tensors, ValueError for an empty list,
    TypeError for what is no tensor, IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.cat([tg.tensor([[1, 2]]), tg.tensor([[3, 4], [5, 6]])])
    tensor([[1, 2],
            [3, 4],
            [5, 6]])
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
    shape = given[0].ndarray.shape
    if shape == (0,):
        shape = next((x.ndarray.shape for x in given if x.ndarray.shape != (0,)), shape)
    place = axis_of(dim if axis is None else axis, len(shape))
    # An empty 1-d tensor fits everywhere: programs start a list of results with it.
    fitting = (*shape[:place], 0, *shape[place + 1 :])
    kept = [movement.reshape(x, fitting) if x.ndarray.shape == (0,) != fitting else x for x in given]
    return movement.concatenate(in_one_type(kept), place)


@widest_type
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors beside each other along a new axis `dim`, whose extent is their number.

    Shapes: n times ``[*shape]`` gives ``[n, *shape]`` (for ``dim=0``), of the type that theirs are promoted to.
    RuntimeError for different shapes and for an empty list.

    >>> import tracegrad as tg
    >>> tg.stack([tg.tensor([1, 2]), tg.tensor([3, 4])], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    given = list(tensors)
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    if (len(given) > FEW or not switch.stack) and (at_once := _stacked(given, dim)) is not None:
        return at_once
    shape = given[0].ndarray.shape
    for i, x in enumerate(given):
        if x.ndarray.shape != shape:
            sizes = f"{list(shape)} at entry 0 and {list(x.shape)} at entry {i}"
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {sizes}")
    place = axis_of(dim, len(shape) + 1)
    wide = (*shape[:place], 1, *shape[place:])
    out = movement.concatenate([movement.reshape(x, wide) for x in in_one_type(given)], place)
    relabel(out, "StackBackward0", given)
    return out


def _stacked(given: list[Any], dim: int) -> Any:
    """`stack` in one go instead of by ops; None where it takes ops."""
    interpreter: Any = current()
    in_one_go = stacked if interpreter is EAGER else getattr(interpreter, "stacked", None)
    if in_one_go is None:
        return None
    shape, dtype = given[0].ndarray.shape, given[0].ndarray.dtype
    for x in given:
        if x.ndarray.shape != shape or x.ndarray.dtype is not dtype:
            return None
    return in_one_go(given, axis_of(dim, len(shape) + 1))


def _at_least(x: Any, ndim: int) -> Any:
    return x if x.ndarray.ndim >= ndim else movement.reshape(x, (1,) * (ndim - x.ndarray.ndim) + x.ndarray.shape)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors below each other: `cat` along axis 0, where numbers and vectors are rows ``[1, n]``.

    The result has the type that theirs are promoted to. RuntimeError for an empty list and for other shapes that do not
    fit together.

    >>> import tracegrad as tg
    >>> tg.vstack([tg.tensor([1, 2]), tg.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    if not len(tensors):
        raise RuntimeError("vstack expects a non-empty TensorList")
    return cat([_at_least(x, 2) for x in tensors], 0)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors beside each other: `cat` along axis 1; vectors, and numbers as vectors, along axis 0.

    The result has the type that theirs are promoted to. RuntimeError for an empty list and for shapes that do not fit
    together.

    >>> import tracegrad as tg
    >>> tg.hstack([tg.tensor([[1], [2]]), tg.tensor([[3], [4]])])
    tensor([[1, 3],
            [2, 4]])
    """
    if not (given := [_at_least(x, 1) for x in tensors]):
        raise RuntimeError("hstack expects a non-empty TensorList")
    return cat(given, 0 if given[0].ndarray.ndim == 1 else 1)


# ----------------------------------------------------------------------------------------------------------- parts


def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """A view of the `length` elements along `dim` that begin at `start`, a number or a 0-d tensor of integers.

    A negative `start` counts from the end. IndexError for a `start` outside of the axis, RuntimeError for more elements
    than there are and for a 0-d `input`.

    >>> import tracegrad as tg
    >>> tg.narrow(tg.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    if not (shape := input.ndarray.shape):
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}.")
    axis = axis_of(dim, len(shape))
    first = _position(start)
    if not -shape[axis] <= first <= shape[axis]:
        extent = shape[axis]
        raise IndexError(f"start out of range (expected to be in range of [{-extent}, {extent}], but got {first})")
    first = first + shape[axis] if first < 0 else first
    if first + length > shape[axis]:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({shape[axis]}).")
    return part(input, axis, first, length, (*shape[:axis], length, *shape[axis + 1 :]), "SliceBackward0")


def _position(number: Any) -> Any:
    """An int; a stand-in for one as it is; the number in a 0-d tensor."""
    if isinstance(number, Tensor) and (number.ndarray.ndim or number.ndarray.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if not isinstance(number, bool):
        return whole(number)
    raise TypeError("narrow(): argument 'start' (position 2) must be int, not bool")


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of the elements at position `index` along `dim`, without this axis: ``input[:, index]`` for ``dim=1``.

    A negative `index` counts from the end. IndexError for a position or an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.select(tg.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    shape = input.ndarray.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, len(shape))
    if not -shape[axis] <= index < shape[axis]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {axis}")
    return part(input, axis, index % shape[axis], 1, shape[:axis] + shape[axis + 1 :], "SelectBackward0")


def split(input: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the parts of `input` along `dim`: a tuple.

    A number is the extent of each part, of which the last may be smaller; a sequence has the extent of each, and they
    add up to that of the axis. RuntimeError for negative extents, for sections of another sum and for a 0-d `input`.

    >>> import tracegrad as tg
    >>> tg.split(tg.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> tg.split(tg.arange(5), [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    if not input.ndarray.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    extent = input.ndarray.shape[axis_of(dim, input.ndarray.ndim)]
    title = "SplitBackward0"
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
        if not size and extent:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}")
        sizes = [min(size, extent - start) for start in range(0, extent, size or 1)] or [0]
    else:
        title, sizes = "SplitWithSizesBackward0", list(split_size_or_sections)
        if any(size < 0 for size in sizes):
            raise RuntimeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}"
            )
        if sum(sizes) != extent:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's size at dimension "
                f"{dim}), but got split_sizes={sizes}"
            )
    axis, shape = axis_of(dim, input.ndarray.ndim), input.ndarray.shape
    starts = [0, *itertools.accumulate(sizes)]
    parts = [
        part(input, axis, start, size, (*shape[:axis], size, *shape[axis + 1 :]), "")
        for start, size in zip(starts, sizes, strict=False)
    ]
    return together(title, input, parts, lambda gs: movement.concatenate(gs, axis))


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal extent along `dim`, of which the last may be smaller: a tuple.

    The extent is that of the axis by `chunks`, rounded up, so that there may be fewer parts, but as many of an axis
    without elements. RuntimeError for a number of parts below 1 and for a 0-d `input`.

    >>> import tracegrad as tg
    >>> tg.chunk(tg.arange(5), 3)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if not input.ndarray.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    extent = input.ndarray.shape[axis_of(dim, input.ndarray.ndim)]
    return split(input, -(-extent // chunks) if extent else [0] * chunks, dim)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the elements at each position of `dim`, without this axis: a tuple as long as the axis.

    IndexError for an axis that is not there. One of several views of a call (also of `split`, or by ``for row in x``)
    may not be written to in place while gradients are recorded, nor be used once its base was written to.

    >>> import tracegrad as tg
    >>> tg.unbind(tg.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
    """
    if not input.ndarray.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(dim, input.ndarray.ndim)
    shape = input.ndarray.shape
    parts = [part(input, axis, i, 1, shape[:axis] + shape[axis + 1 :], "") for i in range(shape[axis])]
    return together(UNBOUND, input, parts, lambda gs: stack(gs, axis))


# ----------------------------------------------------------------------------------------------------- other places


@numbers_called("dims")
def flip(input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """The order along `dims` (numbers, or one sequence of them) reversed, as a copy of the same type.

    RuntimeError for an axis that is named twice, IndexError for one that is not there.

    >>> import tracegrad as tg
    >>> tg.flip(tg.arange(3), dims=(0,))
    tensor([2, 1, 0])
    """
    wanted = sizes_of(dims)
    return movement.flip(input, axes_of(wanted, input.ndarray.ndim) if wanted else ())


def fliplr(input: Tensor) -> Tensor:
    """The order along axis 1 reversed, as a copy: the columns of a matrix. RuntimeError for fewer than two axes.

    >>> import tracegrad as tg
    >>> tg.fliplr(tg.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
    """
    if input.ndarray.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """The order along axis 0 reversed, as a copy: the rows of a matrix. RuntimeError for a 0-d tensor.

    >>> import tracegrad as tg
    >>> tg.flipud(tg.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
    """
    if not input.ndarray.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


@composite("RollBackward0")
def roll(input: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """Elements moved on by `shifts` places along `dims`; those pushed out come in again at the other end.

    A copy of the same shape and type. Without `dims` the flattened tensor is moved, by one number. RuntimeError unless
    there are as many shifts as axes, IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.roll(tg.tensor([[1, 2, 3], [4, 5, 6]]), 1, dims=1)
    tensor([[3, 1, 2],
            [6, 4, 5]])
    """
    amounts = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    axes = () if dims is None else dims if isinstance(dims, (tuple, list)) else (dims,)
    if not amounts:
        raise RuntimeError("`shifts` required")
    if not axes and len(amounts) == 1:
        return movement.reshape(_rolled(flatten(input), amounts[0], 0), input.ndarray.shape)
    if len(amounts) != len(axes):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(amounts)}, dims:{len(axes)}")
    for amount, dim in zip(amounts, axes, strict=True):
        input = _rolled(input, amount, axis_of(dim, input.ndarray.ndim))
    return input


def _rolled(x: Tensor, amount: int, axis: int) -> Tensor:
    extent = x.ndarray.shape[axis]
    cut = -amount % extent if extent else 0
    if not cut:
        return copy(x)
    return movement.concatenate([narrow(x, axis, cut, extent - cut), narrow(x, axis, 0, cut)], axis)


# ------------------------------------------------------------------------------------------------------------ grids


def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid: for each vector (or number), a view of the grid's shape that varies along its axis.

    The vectors of n, m, ... elements, of one type, are given one by one or as one sequence. With ``indexing="ij"`` (or
    none, and one warning) the grid is ``[n, m, ...]``, with "xy" its first two axes are swapped. RuntimeError for
    tensors of more axes, for different types and for another `indexing`.

    >>> import tracegrad as tg
    >>> tg.meshgrid(tg.tensor([1, 2]), tg.tensor([3, 4, 5]), indexing="ij")[1]
    tensor([[3, 4, 5],
            [3, 4, 5]])
    """
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    single = len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
    given: list[Any] = list(tensors[0] if single else tensors)
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len({x.dtype for x in given}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    check_vectors(given, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if indexing == "xy" and len(given) >= 2:
        first, second, *rest = meshgrid(given[1], given[0], *given[2:], indexing="ij")
        return (second, first, *rest)
    shape = tuple(x.ndarray.size for x in given)
    columns = [movement.reshape(x, tuple(n if j == i else 1 for j, n in enumerate(shape))) for i, x in enumerate(given)]
    return tuple(movement.broadcast(x, shape) for x in columns)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the vectors' elements, as rows ``[n * m * ..., vectors]``; one vector as it is.

    RuntimeError for what is no vector, TypeError for what is no tensor.

    >>> import tracegrad as tg
    >>> tg.cartesian_prod(tg.tensor([1, 2]), tg.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    check_tensors("cartesian_prod", list(tensors))
    for x in tensors:
        if x.ndarray.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(grid) for grid in meshgrid(*tensors, indexing="ij")], 1)
