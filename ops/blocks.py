"""Arrays in pieces that stay in a core's cache, for work of several passes over the same elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

BLOCK = 16384  # elements: five arrays of float32 are 320 KiB


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
