"""The frequencies that transforms have, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import eager
from ...ops.types import FLOATING, DType, get_default_dtype
from ...tensors.arguments import axis_of
from ...tensors.device import require_cpu
from ...tensors.layouts.formats import factory
from .. import joining

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Axes, DeviceLike
    from ...tensors.tensor import Tensor


def _frequencies(name: str, n: int, d: float, count: int, dtype: DType | None, device: Any, grad: bool) -> Any:
    require_cpu(device)
    of = dtype or get_default_dtype()
    if of.category < FLOATING:
        raise RuntimeError(f"{name} requires a floating point or complex dtype, got {of!r}")
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]: n is negative.")
    places = np.arange(count)
    places = np.where(places < (n + 1) // 2, places, places - n) if name == "fftfreq" else places
    with np.errstate(all="ignore"):
        values = places * np.float64(1.0) / (np.float64(n) * np.float64(d))
    out = eager().literal(values.astype(of.numpy))
    return out.requires_grad_() if grad else out


@factory
def fftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, device: DeviceLike | None = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of `fft` of `n` points, `d` apart, in its order: 0, the positive ones, the negative ones.

    >>> import tracegrad as tg
    >>> tg.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies("fftfreq", n, d, n, dtype, device, requires_grad)


@factory
def rfftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, device: DeviceLike | None = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of `rfft` of `n` points, `d` apart.

    >>> import tracegrad as tg
    >>> tg.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies("rfftfreq", n, d, int(n / 2) + 1, dtype, device, requires_grad)


def fftshift(input: Tensor, dim: Axes | None = None) -> Tensor:
    """The frequency 0 in the middle, along `dim` (all axes unless given).

    >>> import tracegrad as tg
    >>> tg.fft.fftshift(tg.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shifted(input, dim, lambda n: n // 2)


def ifftshift(input: Tensor, dim: Axes | None = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> import tracegrad as tg
    >>> tg.fft.ifftshift(tg.tensor([-0.5, -0.25, 0., 0.25]))
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _shifted(input, dim, lambda n: (n + 1) // 2)


def _shifted(x: Any, dim: Any, by: Any) -> Any:
    ndim = x.ndarray.ndim
    dims = range(ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = [axis_of(d, ndim) for d in dims]
    return joining.roll(x, [by(x.ndarray.shape[axis]) for axis in axes], axes)
