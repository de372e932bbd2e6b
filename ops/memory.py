"""Memory that vector loads like."""

from __future__ import annotations

import math

import numpy as np

CACHE_LINE = 64


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uninitialised memory that starts at a cache line, so that no full-width vector in it lies across two of them.

    For what lives long and is swept at each step: parameters, gradients, an optimizer's state. (numpy's own arrays
    start 16 bytes behind a page.)
    """
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes < CACHE_LINE:
        return np.empty(shape, dtype)
    raw = np.empty(nbytes + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + nbytes].view(dtype).reshape(shape)
