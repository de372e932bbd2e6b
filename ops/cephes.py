"""The float32 logarithm, sine and cosine of the Cephes library, as PyTorch's normal numbers use them.

Normal numbers equal PyTorch's bit for bit only if these functions round as its do (on x86 with AVX2): each step below
is one rounding, `_fma` included. They hold where Box and Muller need them, log on (0, 1], sin and cos on [0, 2 pi].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core import NO_GRADIENT, Pointwise, Primitive, bind, define
from .types import float32

_LOG = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
#: ln 2 and pi / 4 in parts: multiples of the leading parts are exact.
_LN2 = (0.693359375, -2.12194440e-4)
_QUARTER_PI = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)

#: Elements evaluated at a time, so that all intermediate arrays stay in the cache.
_PIECE = 16384

_f32 = np.float32


def _fma(x: np.ndarray, y: Any, z: Any) -> np.ndarray:
    """``x * y + z`` rounded once: the product is exact in float64. (Rounding its sum first shows once in 10^8.)"""
    wide = np.multiply(x, y, dtype=np.float64)
    wide += z
    return wide.astype(np.float32)


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    first, *others = map(_f32, coefficients)
    factor = x.astype(np.float64)
    wide, y = factor * np.float64(first), np.empty_like(x)
    for number, coefficient in enumerate(others):
        if number:
            np.multiply(y, factor, out=wide)
        wide += coefficient
        y[...] = wide
    return y


def _log(x: np.ndarray) -> np.ndarray:
    bits = x.view(np.int32)
    mantissa = (bits & 0x7FFFFF | 0x3F000000).view(np.float32)  # in [1/2, 1), times a power of two
    small = mantissa < _f32(np.sqrt(0.5))
    m = mantissa - 1
    m += mantissa * small
    e = ((bits >> 23) - 126 - small).astype(np.float32)
    square = m * m
    y = _fma(_polynomial(_LOG, m) * m, square, e * _f32(_LN2[1]))
    return _fma(e, _f32(_LN2[0]), m + (y - square * _f32(0.5)))


def _sine_and_cosine(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sine and cosine of the distance to the nearest multiple of pi / 2, and twice the number of that multiple."""
    octant = (x * _f32(4 / np.pi)).astype(np.int32) + 1 & ~1
    for part in _QUARTER_PI:
        x = _fma(octant, -_f32(part), x)
    square = x * x
    sine = _fma(_polynomial(_SIN, square) * square, x, x)
    cosine = _fma(_polynomial(_COS, square) * square, square, square * _f32(-0.5)) + 1
    return sine, cosine, octant


def _turned(sine: np.ndarray, cosine: np.ndarray, octant: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two by quadrant: exchanged, and with other signs. Their bits, since choices would take far longer."""
    sine, cosine = sine.view(np.int32), cosine.view(np.int32)
    exchanged = (sine ^ cosine) & -(octant >> 1 & 1)
    sine = sine ^ exchanged ^ (octant & 4) << 29
    cosine = cosine ^ exchanged ^ (octant + 2 & 4) << 29
    return sine.view(np.float32), cosine.view(np.float32)


def _sin(x: np.ndarray) -> np.ndarray:
    return _turned(*_sine_and_cosine(x))[0]


def _cos(x: np.ndarray) -> np.ndarray:
    return _turned(*_sine_and_cosine(x))[1]


def box_muller(radii: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two normal numbers from each pair of float32 uniforms, as the primitives below make them one by one."""
    shape, radii, turns = radii.shape, radii.reshape(-1), turns.reshape(-1)
    x, y = np.empty_like(radii), np.empty_like(radii)
    for start in range(0, radii.size, _PIECE):
        piece = np.s_[start : start + _PIECE]
        radius = radii_of(radii[piece])
        cosine, sine = turns_of(turns[piece])
        np.multiply(radius, cosine, out=x[piece])
        np.multiply(radius, sine, out=y[piece])
    return x.reshape(shape), y.reshape(shape)


def radii_of(u: np.ndarray) -> np.ndarray:
    """The radius that Box and Muller make of each float32 uniform."""
    return np.sqrt(_f32(-2) * _log(1 - u))


def turns_of(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of each float32 uniform, in turns."""
    sine, cosine = _turned(*_sine_and_cosine(u * _f32(2 * np.pi)))
    return cosine, sine


def _define(name: str, function: Callable[[np.ndarray], np.ndarray]) -> Primitive:
    def evaluate(x: np.ndarray) -> np.ndarray:
        flat = np.ascontiguousarray(x).reshape(-1)
        out = np.empty_like(flat)
        for start in range(0, flat.size, _PIECE):
            out[start : start + _PIECE] = function(flat[start : start + _PIECE])
        return out.reshape(x.shape)

    def type_rule(x: Any) -> Any:
        if x.dtype is not float32:
            raise TypeError(f"{name} is a function of float32, got {x}")
        return x

    c = f"tg_{name}({{x}})"
    return define(name, ("x",), type=type_rule, eval=evaluate, lower=Pointwise(c), vjp=NO_GRADIENT)


log_primitive = _define("cephes_log", _log)
sin_primitive = _define("cephes_sin", _sin)
cos_primitive = _define("cephes_cos", _cos)


def cephes_log(x: Any) -> Any:
    """The natural logarithm of float32 numbers in (0, 1]."""
    return bind(log_primitive, x)


def cephes_sin(x: Any) -> Any:
    """The sine of float32 angles in [0, 2 pi]."""
    return bind(sin_primitive, x)


def cephes_cos(x: Any) -> Any:
    """The cosine of float32 angles in [0, 2 pi]."""
    return bind(cos_primitive, x)
