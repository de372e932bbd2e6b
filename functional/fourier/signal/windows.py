"""``tracegrad.signal.windows``: windows of `M` points, symmetric ones unless ``sym=False``.

All take the same keywords: `sym` (True: both ends are alike, for filters; False: the first `M` of M + 1 points, for
spectra), `dtype` (float32 or float64; None: the default floating type), `layout` (strided), `device`, `requires_grad`.
They give ``[M]``. ValueError for a negative `M`, other dtypes and other layouts.

Difference: with `requires_grad`, the result is a leaf; PyTorch's hangs on a grid of points that nobody can reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....ops.array import eager
from ....ops.types import DType, float32, float64, get_default_dtype
from ....tensors.device import require_cpu
from ....tensors.layouts.formats import strided

if TYPE_CHECKING:
    from ....tensors.tensor import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip

NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
Shape = Callable[[np.ndarray], np.ndarray]


def _checked(name: str, M: int, dtype: DType | None, layout: Any) -> DType:
    """The dtype of a window, whose arguments are checked."""
    of = dtype or get_default_dtype()
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if of not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {of}")
    return of


def _stored(values: np.ndarray, of: DType, device: Any, requires_grad: bool) -> Any:
    require_cpu(device)
    out = eager().literal(np.ascontiguousarray(values, dtype=of.numpy))
    return out._begin_as_leaf() if requires_grad else out


def _spread(M: int, sym: bool, shape: Shape) -> np.ndarray:
    """``shape(x)`` for x from 0 to 1, which is the last of the points, or comes after them; one point is 1."""
    return np.ones(M) if M < 2 else shape(np.arange(M) / (M - 1 if sym else M))


def _half(M: int, sym: bool) -> float:
    """The distance from the first point to the middle."""
    return (M if not sym and M > 1 else M - 1) / 2


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle from 0 up to 1 and back.

    >>> import tracegrad as tg
    >>> tg.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    of = _checked("bartlett", M, dtype, layout)
    return _stored(_spread(M, sym, lambda x: 1 - np.abs(2 * x - 1)), of, device, requires_grad)


def _cosines(M: int, sym: bool, a: Iterable[float]) -> np.ndarray:
    signed = [(-1) ** i * float(weight) for i, weight in enumerate(a)]
    return _spread(M, sym, lambda x: sum(weight * np.cos(2 * np.pi * i * x) for i, weight in enumerate(signed)))


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``a[0] - a[1] cos(2 pi x) + a[2] cos(4 pi x) - ...`` for x from 0 to 1.

    TypeError where `a` is not iterable, ValueError where it is empty.

    >>> import tracegrad as tg
    >>> tg.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    of = _checked("general_cosine", M, dtype, layout)
    if M > 1 and not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if M > 1 and not a:
        raise ValueError("Coefficients cannot be empty")
    return _stored(_cosines(M, sym, a), of, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``alpha - (1 - alpha) cos(2 pi x)`` for x from 0 to 1.

    >>> import tracegrad as tg
    >>> tg.signal.windows.general_hamming(5, alpha=0.6)
    tensor([0.2000, 0.6000, 1.0000, 0.6000, 0.2000])
    """
    of = _checked("general_hamming", M, dtype, layout)
    return _stored(_cosines(M, sym, (alpha, 1.0 - alpha)), of, device, requires_grad)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`general_hamming` with 0.54.

    >>> import tracegrad as tg
    >>> tg.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    of = _checked("hamming", M, dtype, layout)
    return _stored(_cosines(M, sym, (0.54, 0.46)), of, device, requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`general_hamming` with 0.5: a squared sine.

    >>> import tracegrad as tg
    >>> tg.signal.windows.hann(4, sym=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    of = _checked("hann", M, dtype, layout)
    return _stored(_cosines(M, sym, (0.5, 0.5)), of, device, requires_grad)


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`general_cosine` with 0.42, 0.5, 0.08.

    >>> import tracegrad as tg
    >>> tg.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    of = _checked("blackman", M, dtype, layout)
    return _stored(_cosines(M, sym, (0.42, 0.5, 0.08)), of, device, requires_grad)


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`general_cosine` with 0.3635819, 0.4891775, 0.1365995, 0.0106411.

    >>> import tracegrad as tg
    >>> tg.signal.windows.nuttall(5)[1:4]
    tensor([0.2270, 1.0000, 0.2270])
    """
    of = _checked("nuttall", M, dtype, layout)
    return _stored(_cosines(M, sym, NUTTALL), of, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Half a period of a sine, whose ends are half a step away from 0.

    >>> import tracegrad as tg
    >>> tg.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    of = _checked("cosine", M, dtype, layout)
    period = M if sym or M < 2 else M + 1
    return _stored(np.sin(np.pi * (np.arange(M) + 0.5) / max(period, 1)), of, device, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``exp(-|n - center| / tau)``; `center` is the middle, or a place of a window with ``sym=False``.

    ValueError for a `tau` that is not positive and for the `center` of a symmetric window.

    >>> import tracegrad as tg
    >>> tg.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    of = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = _half(M, sym) if center is None else center
    return _stored(np.exp(-np.abs(np.arange(M) - middle) / tau), of, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``exp(-((n - middle) / std) ** 2 / 2)``. ValueError for a `std` that is not positive.

    >>> import tracegrad as tg
    >>> tg.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    of = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    scaled = (np.arange(M) - _half(M, sym)) / (std * math.sqrt(2))
    return _stored(np.exp(-(scaled**2)), of, device, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: DType | None = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``i0(beta sqrt(1 - (2 x - 1) ** 2)) / i0(beta)`` for x from 0 to 1. ValueError for a negative `beta`.

    >>> import tracegrad as tg
    >>> tg.signal.windows.kaiser(3, beta=2.0)
    tensor([0.4387, 1.0000, 0.4387])
    """
    of = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(x: np.ndarray) -> np.ndarray:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / np.i0(beta)

    return _stored(_spread(M, sym, shape), of, device, requires_grad)
