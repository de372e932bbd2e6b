"""Window functions: weights of the pieces of a signal that are transformed one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import eager
from ...ops.types import DType, get_default_dtype
from ...tensors.device import require_cpu
from ...tensors.layouts.formats import factory

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike
    from ...tensors.tensor import Tensor


def _made(
    name: str,
    length: int,
    periodic: bool,
    dtype: DType | None,
    device: Any,
    requires_grad: bool,
    shape: Callable[[np.ndarray], np.ndarray],
) -> Any:
    """``shape(x)`` for x from 0 to 1, both ends included; if `periodic`, without the last of one point more."""
    require_cpu(device)
    of = dtype or get_default_dtype()
    if not of.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {of!r}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    points = length + 1 if periodic and length > 1 else length
    values = np.ones(length) if length <= 1 else shape(np.arange(points) / (points - 1))[:length]
    out = eager().literal(values.astype(of.numpy))
    return out._begin_as_leaf() if requires_grad else out


@factory
def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``sin(pi x) ** 2`` at `window_length` points; if `periodic`, for a signal that goes on behind the last.

    The default floating type unless `dtype` says another; RuntimeError for integers and for a negative length.

    >>> import tracegrad as tg
    >>> tg.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return hamming_window(
        window_length, periodic, 0.5, 0.5, dtype=dtype, device=device, requires_grad=requires_grad, _name="hann_window"
    )


@factory
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    _name: str = "hamming_window",
) -> Tensor:
    """``alpha - beta * cos(2 pi x)`` at `window_length` points, see `hann_window`.

    >>> import tracegrad as tg
    >>> tg.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _made(
        _name,
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
        lambda x: alpha - beta * np.cos(2 * np.pi * x),
    )


@factory
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``0.42 - 0.5 * cos(2 pi x) + 0.08 * cos(4 pi x)`` at `window_length` points, see `hann_window`.

    >>> import tracegrad as tg
    >>> tg.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return _made(
        "blackman_window",
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
        lambda x: 0.42 - 0.5 * np.cos(2 * np.pi * x) + 0.08 * np.cos(4 * np.pi * x),
    )


@factory
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle, ``1 - |2 x - 1|`` at `window_length` points, see `hann_window`.

    >>> import tracegrad as tg
    >>> tg.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _made(
        "bartlett_window",
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
        lambda x: 1 - np.abs(2 * x - 1),
    )


@factory
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``i0(beta * sqrt(1 - (2 x - 1) ** 2)) / i0(beta)`` at `window_length` points, see `hann_window`.

    >>> import tracegrad as tg
    >>> tg.kaiser_window(4, beta=2.)
    tensor([0.4387, 0.8348, 1.0000, 0.8348])
    """
    return _made(
        "kaiser_window",
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
        lambda x: np.i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / np.i0(beta),
    )
