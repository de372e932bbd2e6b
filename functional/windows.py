"""Windows into memory: overlapping parts, and strides of one's own, as copies that cannot be written to."""

from __future__ import annotations

from typing import Any

from ..autograd.arguments import axis_of, sizes_of
from ..autograd.composite import composite
from ..ops import indexing, movement
from ..ops.sources import full, iota
from ..ops.types import int64


@composite("UnfoldBackward0")
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """All windows of `size` along `dimension`, `step` apart, as a new last axis. Difference: a read-only copy."""
    shape = input.ndarray.shape
    axis = axis_of(dimension, len(shape))
    extent = shape[axis] if shape else 1
    if not 0 <= size <= extent or step <= 0:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {extent} but size is {size} (and step, {step}, is above 0)"
        )
    count = (extent - size) // step + 1
    places = iota((count, size), 0, int64) * step + iota((count, size), 1, int64)
    front = (axis, *(a for a in range(len(shape)) if a != axis))
    windows = indexing.take(movement.transpose(input, front), places)  # count, size, the other axes
    others = range(2, windows.ndarray.ndim)
    return _read_only(movement.transpose(windows, (*others[:axis], 0, *others[axis:], 1)))


@composite("AsStridedBackward0")
def as_strided(input: Any, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    """Elements at ``storage_offset + sum(index * stride)`` of the row-major `input`. Difference: a read-only copy.

    RuntimeError for negative sizes, strides or offsets, and for elements that `input` does not have.
    """
    shape, strides = sizes_of((size,)), tuple(stride)
    _check_within(input, shape, strides, storage_offset)
    places: Any = full(shape, storage_offset, int64)
    for axis, step in enumerate(strides):
        places = places + iota(shape, axis, int64) * step
    flat = movement.reshape(input, (input.ndarray.size,))
    return _read_only(indexing.take(flat, places))


def _check_within(input: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    """In the order and the words of PyTorch."""
    if len(shape) != len(strides):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in strides):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}"
        )
    if any(extent < 0 for extent in shape):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    itemsize, there = input.ndarray.itemsize, input.ndarray.size
    wanted = 1 + offset + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))
    if 0 not in shape and wanted > there:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {wanted * itemsize} are out of bounds for storage of size "
            f"{there * itemsize}"
        )


def _read_only(copied: Any) -> Any:
    """In PyTorch a write would reach the input. Here it could not, so it is refused rather than lost."""
    copied.ndarray.flags.writeable = False
    return copied
