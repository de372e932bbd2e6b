"""Windows into memory: overlapping parts, and strides of one's own, as copies that cannot be written to."""

from __future__ import annotations

from typing import Any

from ..autograd.arguments import axis_of
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
    """Elements at ``storage_offset + sum(index * stride)`` of the row-major `input`. Difference: a read-only copy."""
    shape = tuple(size)
    places: Any = full(shape, storage_offset, int64)
    for axis, step in enumerate(stride):
        places = places + iota(shape, axis, int64) * step
    flat = movement.reshape(input, (input.ndarray.size,))
    return _read_only(indexing.take(flat, places))


def _read_only(copied: Any) -> Any:
    """In PyTorch a write would reach the input. Here it could not, so it is refused rather than lost."""
    copied.ndarray.flags.writeable = False
    return copied
