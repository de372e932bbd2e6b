"""Indices and sources as the ops take them: types that functions refuse, and numbers as rows of one element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops import movement
from ...ops.identity import copy
from ...ops.pointwise import cast
from ...ops.types import int32, int64

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def long_index(name: str, index: Tensor, error: type[Exception] = RuntimeError) -> Tensor:
    """`index` in int64; what is neither that nor int32 is refused. See `only_long` for what takes int64 alone."""
    dtype = index.dtype
    if dtype is not int64 and dtype is not int32:
        raise error(f"{name}(): Expected dtype int32/int64 for index, got {dtype!r}; convert it with .long()")
    return index if dtype is int64 else cast(index, int64)


def only_long(name: str, index: Tensor, error: type[Exception] = RuntimeError) -> Tensor:
    """`index`; an error of that class unless it is int64."""
    if index.dtype is not int64:
        raise error(f"{name}(): Expected a long tensor for index, but got {index.dtype!r}; convert it with .long()")
    return index


def of_type(name: str, input: Tensor, source: Tensor) -> Tensor:
    """`source`, which is stored in `input`: it must have the same type."""
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): self and source expected to have the same dtype, but got (self) {input.dtype.title} and "
            f"(source) {source.dtype.title}. Convert the source, e.g. with .to(input)."
        )
    return source


def to_front(x: Tensor, axis: int) -> Tensor:
    """`x` with `axis` in front; the gradient of `x` lies row by row all the same."""
    if not axis:
        return x
    return movement.transpose(movement.by_rows(x), (axis, *(a for a in range(x.ndarray.ndim) if a != axis)))


def from_front(x: Tensor, axis: int) -> Tensor:
    """`x` with the front axis at `axis`, in memory of its own where that turns axes: results lie row by row."""
    if not axis:
        return x
    return copy(movement.transpose(x, (*range(1, axis + 1), 0, *range(axis + 1, x.ndarray.ndim))))


def as_row(x: Tensor) -> Tensor:
    """`x`; a number as a row of one element."""
    return x if x.ndarray.ndim else movement.reshape(x, (1,))


def as_shaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`x`, reshaped where it has another shape."""
    return x if x.ndarray.shape == shape else movement.reshape(x, shape)


def with_extent(shape: tuple[int, ...], axis: int, extent: int) -> tuple[int, ...]:
    """`shape` with another extent along `axis`."""
    return (*shape[:axis], extent, *shape[axis + 1 :])
