"""Windows into memory: overlapping parts, and strides of one's own, as copies that cannot be written to."""

from __future__ import annotations

from typing import Any

from ..ops import indexing, movement
from ..ops.sources import full, iota
from ..ops.types import int64
from ..tensors.arguments import axis_of, sizes_of
from ..tensors.composite import composite
from .conversions import storage_offset as offset_of


@composite("UnfoldBackward0")
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """All windows of `size` along `dimension`, `step` apart, as a new last axis. Difference: a read-only copy."""
    shape = input.ndarray.shape
    axis = axis_of(dimension, len(shape))
    extent = shape[axis] if shape else 1
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not 0 <= size <= extent:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {extent} but size is {size}")
    count = (extent - size) // step + 1
    places = iota((count, size), 0, int64) * step + iota((count, size), 1, int64)
    front = (axis, *(a for a in range(len(shape)) if a != axis))
    windows = indexing.take(movement.transpose(input, front), places)  # count, size, the other axes
    others = range(2, windows.ndarray.ndim)
    return _read_only(movement.transpose(windows, (*others[:axis], 0, *others[axis:], 1)))


@composite("AsStridedBackward0")
def as_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Elements at ``storage_offset + sum(index * stride)`` of the memory behind `input`. Difference: a read-only copy.

    Without `storage_offset` they begin where `input` does. RuntimeError for negative sizes, strides or offsets, for
    elements that the memory does not have, and for memory that is not in the order of rows.
    """
    shape, strides = sizes_of((size,)), tuple(stride)
    memory, start = _memory_behind(input)
    first = start if storage_offset is None else storage_offset
    _check_within(memory, shape, strides, first)
    places: Any = full(shape, first, int64)
    for axis, step in enumerate(strides):
        places = places + iota(shape, axis, int64) * step
    flat = movement.reshape(memory, (memory.ndarray.size,))
    return _read_only(indexing.take(flat, places))


def _memory_behind(input: Any) -> tuple[Any, int]:
    """The tensor that shows the whole memory, row by row, and where in it `input` begins."""
    whole = input.buffer.whole
    if whole.flags.c_contiguous and input.ndarray.flags.c_contiguous and input.ndarray.size == whole.size:
        return input, 0
    base = input.base
    if base is None or base.steps or not whole.flags.c_contiguous:
        raise RuntimeError(
            "as_strided() of a tensor whose memory is not its own, or not in the order of rows; take contiguous() or "
            "clone() of it first"
        )
    return base, offset_of(input)


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
