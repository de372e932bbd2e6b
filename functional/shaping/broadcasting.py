"""Common shapes: tensors broadcast to one, summed back to another, with axes added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from ...ops import movement
from ...ops import reductions as folds
from ...ops.numbers import whole
from ...ops.pointwise import converted
from ...ops.types import broadcast_shapes as common_shape
from ...tensors.arguments import numbers_called, sizes_of
from ...tensors.composite import composite
from ...tensors.size import Size
from ...tensors.tensor import Tensor
from ..shapes import expand


@numbers_called("size")
def broadcast_to(input: Tensor, *size: int | Sequence[int]) -> Tensor:
    """A view of `input` in the shape `size`; see `expand`. RuntimeError for a shape that it does not fit in.

    >>> import tracegrad as tg
    >>> tg.broadcast_to(tg.arange(2), (2, 2))
    tensor([[0, 1],
            [0, 1]])
    """
    return expand(input, *size)


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that results of tensors of these shapes have; a number stands for one extent.

    RuntimeError for shapes that do not fit together and for what is no shape, ValueError for negative extents.

    >>> import tracegrad as tg
    >>> tg.broadcast_shapes((2, 1), (3,), 1)
    tracegrad.Size([2, 3])
    """
    common: list[int] = []
    shape: Any
    for place, shape in enumerate(shapes):
        if not isinstance(shape, (int, tuple, list)):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
        given = tuple(whole(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
        if any(n < 0 for n in given):
            raise ValueError(f"Attempting to broadcast a dimension with negative length! Got {given}.")
        common[:0] = [1] * (len(given) - len(common))
        for axis in range(-len(given), 0):
            if given[axis] not in (1, common[axis]) and common[axis] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {given[axis]} at {axis}! Mismatching argument at "
                    f"index {place} had {given}; but expected shape should be broadcastable to {common}"
                )
            common[axis] = given[axis] if common[axis] == 1 else common[axis]
    return Size(common)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors in their common shape. RuntimeError where there is none.

    >>> import tracegrad as tg
    >>> tg.broadcast_tensors(tg.ones(1), tg.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    given = _all_of(tensors)
    shape = common_shape(*(x.ndarray.shape for x in given)) if given else ()
    return tuple(expand(x, shape) for x in given)


def _all_of(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors given one by one or in one sequence."""
    given = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    for place, x in enumerate(given):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as argument {place}, but got {type(x).__name__}")
    return given


@numbers_called("size")
@composite("SumBackward1")
def sum_to_size(input: Tensor, *size: int | Sequence[int]) -> Tensor:
    """`input` summed over the axes along which `size` would be broadcast to its shape; itself where none are.

    Sums of integers and truth values are int64.

    RuntimeError for a shape that cannot be broadcast to `input`'s.

    >>> import tracegrad as tg
    >>> tg.ones(2, 3).sum_to_size(2, 1)
    tensor([[3.],
            [3.]])
    """
    wanted, shape = sizes_of(size), input.ndarray.shape
    added = len(shape) - len(wanted)
    if added < 0 or any(n not in (1, there) for n, there in zip(wanted, shape[added:], strict=True)):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    axes = tuple(a for a, n in enumerate(shape) if a < added or (wanted[a - added] == 1 and n != 1))
    out = folds.sum(converted(input, folds.sum_dtype(input.dtype)), axes) if axes or not wanted else input
    return out if out.ndarray.shape == wanted else movement.reshape(out, wanted)


# ------------------------------------------------------------------------------------------------------ axes added


def _at_least(ndim: int, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _with_axes(tensors[0], ndim)
    return tuple(_with_axes(x, ndim) for x in _all_of(tensors))


def _with_axes(x: Tensor, ndim: int) -> Tensor:
    """In front, but a matrix gets its third axis behind, and a vector one on either side."""
    shape = x.ndarray.shape
    if len(shape) >= ndim:
        return x
    if ndim < 3 or not shape:
        return movement.reshape(x, (1,) * (ndim - len(shape)) + shape)
    return movement.reshape(x, (*shape, 1) if len(shape) == 2 else (1, *shape, 1))


@overload
def atleast_1d(tensors: Tensor, /) -> Tensor: ...


@overload
def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]: ...


def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """A view with at least one axis; of several tensors (or one sequence of them), a tuple.

    >>> import tracegrad as tg
    >>> tg.atleast_1d(tg.tensor(2))
    tensor([2])
    """
    return _at_least(1, tensors)


@overload
def atleast_2d(tensors: Tensor, /) -> Tensor: ...


@overload
def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]: ...


def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """A view with at least two axes, new ones in front; of several tensors (or one sequence of them), a tuple.

    >>> import tracegrad as tg
    >>> tg.atleast_2d(tg.tensor(2), tg.ones(2))
    (tensor([[2]]), tensor([[1., 1.]]))
    """
    return _at_least(2, tensors)


@overload
def atleast_3d(tensors: Tensor, /) -> Tensor: ...


@overload
def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]: ...


def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """A view with at least three axes: a matrix gets one behind, a vector one on either side; see `atleast_2d`.

    >>> import tracegrad as tg
    >>> tg.atleast_3d(tg.ones(2)).shape, tg.atleast_3d(tg.ones(2, 3)).shape
    (tracegrad.Size([1, 2, 1]), tracegrad.Size([2, 3, 1]))
    """
    return _at_least(3, tensors)
