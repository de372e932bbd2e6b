"""Running sums of exponentials of complex numbers, one element after the other as PyTorch adds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...ops.complex_numbers.parts import conj
from ...ops.elementary import exp
from ...ops.movement import concatenate


def _joined(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``log(exp(x) + exp(y))``, whose imaginary part follows that of the larger one; not reduced to a turn."""
    above, below = np.where(x.real >= y.real, x, y), np.where(x.real >= y.real, y, x)
    return np.where(np.isneginf(below.real), above, above + np.log1p(np.exp(below - above)))


def _summed(x: np.ndarray, axis: int) -> np.ndarray:
    out = np.array(x)
    moved = np.moveaxis(out, axis, 0)
    for i in range(1, len(moved)):
        moved[i] = _joined(moved[i], moved[i - 1])
    return out


def _gradient(g: Any, x: Any, out: Any, axis: int) -> Any:
    """The sums of ``g[j] * exp(out[i] - out[j])`` over the j behind each i, in doubling steps, times the share of x[i].

    It is linear in `g`, a cotangent of 0 too: tangents are what it gives transposed there.
    """
    out, extent, distance, sums = conj(out), out.ndarray.shape[axis], 1, g
    before = (slice(None),) * axis
    while distance < extent:
        parts = slice(extent - distance), slice(distance, None), slice(extent - distance, None)
        front, behind, last = ((*before, part) for part in parts)
        added = sums[front] + exp(out[front] - out[behind]) * sums[behind]
        sums = concatenate([added, sums[last]], axis)
        distance *= 2
    return sums * exp(conj(x) - out)


#: ``log(cumsum(exp(x)))`` along ``axis``.
LOGCUMSUMEXP = NumpyFunction("logcumsumexp", "x", "out", _summed, _gradient, "LogcumsumexpBackward0")
