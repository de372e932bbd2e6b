"""Running sums of exponentials of complex numbers, one element after the other as PyTorch adds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...ops.complex_numbers.parts import conj
from ...ops.elementary import exp, log
from ...ops.movement import flip


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
    behind = LOGCUMSUMEXP(flip(log(g) - conj(out), (axis,)), axis=axis)
    return exp(flip(behind, (axis,)) + conj(x))


#: ``log(cumsum(exp(x)))`` along ``axis``.
LOGCUMSUMEXP = NumpyFunction("logcumsumexp", "x", "out", _summed, _gradient, "LogcumsumexpBackward0")
