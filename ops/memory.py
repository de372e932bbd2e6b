"""Memory that vector loads like, and work on it in pieces that stay in a core's cache."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

CACHE_LINE = 64
_ALIGNED_FROM = 1024  # bytes: what is smaller is swept sooner than it is placed
BLOCK = 16384  # elements: five arrays of float32 are 320 KiB


class Buffer:
    """One piece of memory. Views share it; each in-place write counts its `version` up, unless that is `UNTRACKED`."""

    __slots__ = ("__weakref__", "reader", "version", "whole")

    #: A weak reference to the node of the tape that wants to know when code outside is given this memory.
    reader: weakref.ref[Any] | None

    def __init__(self, whole: np.ndarray) -> None:
        self.whole = whole
        self.version: float = 0
        self.reader = None

    def alias(self) -> Buffer:
        """The same memory with a version of its own."""
        other = Buffer(self.whole)
        other.reader = self.reader
        return other


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uninitialised memory that starts at a cache line, so that no full-width vector in it lies across two of them.

    For what lives long and is swept at each step: parameters, gradients, an optimizer's state. (numpy's own arrays
    start 16 bytes behind a page.)
    """
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes < _ALIGNED_FROM:
        return np.empty(shape, dtype)
    raw = np.empty(nbytes + CACHE_LINE, np.uint8)
    start = -raw.__array_interface__["data"][0] % CACHE_LINE  # `ctypes.data` takes three times as long
    return raw[start : start + nbytes].view(dtype).reshape(shape)


def order_of(array: np.ndarray) -> tuple[int, ...] | None:
    """The axes from the slowest in memory to the fastest; None where `array` has gaps or repeats elements."""
    order = tuple(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))
    return order if array.size and array.transpose(order).flags.c_contiguous else None


def by_rows(array: np.ndarray) -> np.ndarray:
    """`array`, in row-major order; numpy's functions give results in the order of their operands."""
    return array if array.flags.c_contiguous else array.copy("C")


def overlaps_itself(array: np.ndarray) -> bool:
    """True if two elements may lie in the same place, as in what `as_strided` or `expand` gives."""
    reached = 0
    for stride, extent in sorted((abs(s), e) for s, e in zip(array.strides, array.shape, strict=True) if e > 1):
        if stride <= reached:
            return True
        reached += stride * (extent - 1)
    return False


def read_first(values: Any, target: np.ndarray) -> Any:
    """`values` as they are before `target` is written, where ``np.copyto(target, values)`` might read what it wrote.

    numpy sees to that by itself in more than one dimension only.
    """
    if target.ndim == 1 and isinstance(values, np.ndarray) and np.may_share_memory(values, target):
        return values.copy()
    return values


def blocks(arrays: Sequence[np.ndarray]) -> Iterator[Sequence[np.ndarray]]:
    """Arrays of one shape as flat pieces of at most `BLOCK` elements each, or whole where their memory has gaps.

    The pieces show the arrays' memory. Those of arrays without dimensions have one, so that ufuncs give arrays.
    """
    if not arrays[0].ndim:
        yield [array.reshape(1) for array in arrays]
        return
    size = arrays[0].size
    if size <= BLOCK or not all(array.flags.c_contiguous for array in arrays):
        yield arrays
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, size, BLOCK):
        yield [array[start : start + BLOCK] for array in flat]
