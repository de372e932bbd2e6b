"""The three transforms that all others are made of, with their derivatives.

Complex to complex, real to half of the (symmetric) spectrum, and back from such a half. They are linear: the gradient
is the adjoint, which is the transform in the other direction with the same scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...ops.complex_numbers.parts import real
from .. import joining

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


Axes = tuple[int, ...]

#: numpy's name of the scale 1, 1/sqrt(n) or 1/n in each direction.
_SCALES: Any = {
    True: {"none": "backward", "root": "ortho", "count": "forward"},
    False: {"none": "forward", "root": "ortho", "count": "backward"},
}


def _order(strides: Axes, axes: Axes, last: int = 0) -> Axes:
    """How the axes of a result lie in memory, from the slowest to the fastest, as in PyTorch: those that are not
    transformed, then the others; each group as in the operand, but that the `last` of the others come last."""
    first, fixed = (axes[: len(axes) - last], axes[len(axes) - last :])
    rest = [axis for axis in range(len(strides)) if axis not in axes]
    by_stride = [sorted(group, key=lambda axis: -strides[axis]) for group in (rest, first)]
    return (*by_stride[0], *by_stride[1], *fixed)


def _laid(values: np.ndarray, order: Axes) -> np.ndarray:
    back = sorted(range(len(order)), key=order.__getitem__)
    return np.ascontiguousarray(values.transpose(order)).transpose(back)


def _complex(x: np.ndarray, axes: Axes, scale: str, forward: bool) -> np.ndarray:
    if not x.size or not axes:
        return x.copy()
    out = (np.fft.fftn if forward else np.fft.ifftn)(x, axes=axes, norm=_SCALES[forward][scale])
    return _laid(out, _order(x.strides, axes))


def complex_transform(x: Tensor, axes: Axes, scale: str, forward: bool) -> Tensor:
    """The transform of complex numbers over `axes`; `scale` is none, root or count (1, 1/sqrt(n), 1/n)."""
    return COMPLEX(x, axes=axes, scale=scale, forward=forward)


COMPLEX = NumpyFunction(
    "fft.fftn",
    "x",
    "out",
    _complex,
    lambda g, axes, scale, forward: complex_transform(g, axes, scale, not forward),
    "FftC2CBackward0",
    lies="kept",
)


def _half(x: np.ndarray, axes: Axes, scale: str) -> np.ndarray:
    if not x.size:
        shape = list(x.shape)
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        return np.zeros(shape, np.result_type(x.dtype, np.complex64))
    return _laid(np.fft.rfftn(x, axes=axes, norm=_SCALES[True][scale]), _order(x.strides, axes, 1))


def _half_gradient(g: Any, x: Any, axes: Axes, scale: str) -> Any:
    """The other half of the spectrum is not there: zeros stand for it."""
    whole = padded(g, axes[-1], x.ndarray.shape[axes[-1]])
    return real(complex_transform(whole, axes, scale, False))


def half_transform(x: Tensor, axes: Axes, scale: str) -> Tensor:
    """The transform of real numbers over `axes`, of which the last has its first half only."""
    return HALF(x, axes=axes, scale=scale)


HALF = NumpyFunction("fft.rfftn", "x", "out", _half, _half_gradient, "FftR2CBackward0", lies="kept")


def _from_half(x: np.ndarray, axes: Axes, scale: str, extent: int) -> np.ndarray:
    sizes = [*(x.shape[axis] for axis in axes[:-1]), extent]
    if not x.size:
        shape = list(x.shape)
        shape[axes[-1]] = extent
        return np.zeros(shape, x.real.dtype)
    out = np.fft.irfftn(x, sizes, axes, _SCALES[False][scale])
    strides = x.strides  # of what the other axes give
    if len(axes) > 1:
        between = _order(strides, axes[:-1])
        strides = tuple(-between.index(axis) for axis in range(x.ndim))
    return _laid(out, _order(strides, axes[-1:]))


def _from_half_gradient(g: Any, axes: Axes, scale: str, extent: int) -> Any:
    """What is in the middle of the half spectrum stands for two frequencies."""
    out = half_transform(g, axes, scale)
    last, twice = axes[-1], extent - (extent // 2 + 1)
    if twice <= 0:
        return out
    middle = joining.narrow(out, last, 1, twice)
    parts = [joining.narrow(out, last, 0, 1), middle * 2]
    if out.ndarray.shape[last] > twice + 1:
        parts.append(joining.narrow(out, last, twice + 1, out.ndarray.shape[last] - twice - 1))
    return joining.cat(parts, last)


def transform_from_half(x: Tensor, axes: Axes, scale: str, extent: int) -> Tensor:
    """Real numbers, `extent` along the last of `axes`, by the inverse transform of the first half of their spectrum."""
    return FROM_HALF(x, axes=axes, scale=scale, extent=extent)


FROM_HALF = NumpyFunction("fft.irfftn", "x", "out", _from_half, _from_half_gradient, "FftC2RBackward0", lies="kept")


def padded(x: Tensor, axis: int, extent: int) -> Tensor:
    """`x` with `extent` elements along `axis`: zeros behind, or the last ones cut off."""
    now = x.ndarray.shape[axis]
    if now == extent:
        return x
    if now > extent:
        return joining.narrow(x, axis, 0, extent)
    shape = list(x.ndarray.shape)
    shape[axis] = extent - now
    return joining.cat([x, x.detach().new_zeros(shape)], axis)
