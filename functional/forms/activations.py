"""Activations in numpy, element by element, and softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.elementary import sigmoid
from ...ops.erf import erf
from ...ops.memory import BLOCK, blocks
from .common import Array, Axes, Shapes, Value, Wanted, largest, require_rows, total

_sigmoid = sigmoid.primitive.evaluate_wide  # type: ignore[attr-defined]

_ZEROS = {np.dtype(name): np.zeros(BLOCK, name) for name in ("float32", "float64")}
for _zeros in _ZEROS.values():
    _zeros.flags.writeable = False
_BITS: dict[Any, Any] = {np.dtype("float32"): np.dtype("int32"), np.dtype("float64"): np.dtype("int64")}


def relu(wanted: Wanted, x: Array) -> Value:
    """Two arrays are compared, of which numpy's vector loop is the faster one."""
    zeros = _ZEROS[x.dtype][: x.size].reshape(x.shape) if x.size <= BLOCK and x.flags.c_contiguous else x.dtype.type(0)
    return np.maximum(x, zeros), x <= zeros if wanted[0] else None


def relu_gradient(g: Array, dropped: Array, shapes: Shapes, x: None) -> tuple[Array]:
    """`g` where nothing is dropped: its bits under a mask, since infinity times 0 is no 0."""
    bits = _BITS[g.dtype]
    out = np.empty(g.shape, g.dtype) if dropped.flags.c_contiguous else np.empty_like(dropped, g.dtype)
    mask = np.subtract(dropped.view(np.int8), 1, dtype=np.int8).astype(bits)
    np.bitwise_and(g.view(bits), mask, out=out.view(bits))
    return (out,)


def kept(wanted: Wanted, g: Array, dropped: Array) -> Value:
    """`g` where nothing is dropped, else 0."""
    return relu_gradient(g, dropped, (g.shape,), None)[0], dropped


def kept_gradient(g: Array, dropped: Array, shapes: Shapes, x: None, _: Array) -> tuple[Array]:
    return relu_gradient(g, dropped, shapes, x)


def clamp(wanted: Wanted, x: Array, low: float | None, high: float | None) -> Value:
    """What lies inside is x itself: its zeros keep their signs at a bound of zero."""
    value = x.clip(-math.inf if low is None else float(low), math.inf if high is None else float(high))
    if not wanted[0] and low != 0 and high != 0:
        return value, None
    inside = np.True_ if low is None else x >= x.dtype.type(low)
    if high is not None:
        inside = inside & (x <= x.dtype.type(high))
    if low == 0 or high == 0:
        value = np.where(inside, x, value)
    return value, ~inside if wanted[0] else None


def clamp_gradient(g: Array, dropped: Array, shapes: Shapes, x: None, low: Any, high: Any) -> tuple[Array]:
    return relu_gradient(g, dropped, shapes, x)


def gelu(wanted: Wanted, x: Array) -> Value:
    """Its derivative is kept, not x: the primitives do not keep x either, so that it may be written to."""
    both = 2 if wanted[0] else 1
    by_rows = x.flags.c_contiguous
    value, *rest = [np.empty(x.shape, x.dtype) if by_rows else np.empty_like(x) for _ in range(both)]
    slope = rest[0] if rest else None
    for pieces in blocks((x, value) if slope is None else (x, value, slope)):
        _gelu_block(*pieces)
    return value, slope


def _gelu_block(x: Array, value: Array, slope: Array | None = None) -> None:
    number = x.dtype.type
    raised = erf(x * number(math.sqrt(0.5)))
    raised += number(1)
    np.multiply(x, number(0.5), out=value)
    value *= raised
    if slope is not None:
        np.multiply(x, x, out=slope)
        slope *= number(-0.5)
        np.exp(slope, out=slope)
        slope *= number(1 / math.sqrt(2 * math.pi))
        slope *= x
        raised *= number(0.5)
        slope += raised


def gelu_gradient(g: Array, slope: Array, shapes: Shapes, x: None) -> tuple[Array]:
    return (g * slope,)


_TANH_SCALE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


def gelu_tanh(wanted: Wanted, x: Array) -> Value:
    inner = x * x
    inner *= x
    inner *= _TANH_CUBE
    inner += x
    inner *= _TANH_SCALE
    np.tanh(inner, out=inner)
    value = x * x.dtype.type(0.5)
    value *= inner + 1
    return value, inner if wanted[0] else None


def gelu_tanh_gradient(g: Array, bent: Array, shapes: Shapes, x: Array) -> tuple[Array]:
    slope = x * x
    slope *= 3 * _TANH_CUBE * _TANH_SCALE
    slope += _TANH_SCALE
    slope *= 1 - bent * bent
    slope *= x
    slope += bent
    slope += 1
    slope *= 0.5
    return (np.multiply(g, slope, out=slope if g.strides == slope.strides else np.empty_like(g)),)


def silu(wanted: Wanted, x: Array) -> Value:
    gate = _sigmoid(x)
    return x * gate, gate if wanted[0] else None


def silu_gradient(g: Array, gate: Array, shapes: Shapes, x: Array) -> tuple[Array]:
    slope = 1 - gate
    slope *= x
    slope += 1
    slope *= gate
    return (np.multiply(g, slope, out=slope if g.strides == slope.strides else np.empty_like(g)),)


MANY = 4096  # elements


def _chosen(mask: Array, x: Array, out: Array) -> Array:
    """``where(mask, x, out)`` in the memory of `out`, of one shape and by rows: their bits under masks, since choices
    one by one are slow where they follow no pattern."""
    if x.size < MANY:
        return np.where(mask, x, out)
    bits = _BITS[x.dtype]
    whole = np.negative(mask.view(np.int8)).astype(bits)
    kept = np.bitwise_and(x.view(bits), whole)
    np.invert(whole, out=whole)
    result = out.view(bits)
    result &= whole
    result |= kept
    return out


def leaky_relu(wanted: Wanted, x: Array, slope: float) -> Value:
    require_rows(x)
    positive = x > 0
    return _chosen(positive, x, x * x.dtype.type(slope)), positive if wanted[0] else None


def leaky_relu_gradient(g: Array, positive: Array, shapes: Shapes, x: None, slope: float) -> tuple[Array]:
    return (_chosen(positive, g, g * g.dtype.type(slope)),)


def softplus(wanted: Wanted, x: Array, beta: float, threshold: float) -> Value:
    """Its slope is kept."""
    require_rows(x)
    number = x.dtype.type
    scaled = x if beta == 1 else x * number(beta)
    large = scaled > threshold
    raised = np.exp(np.where(large, number(0), scaled))
    curve = np.log1p(raised)
    value = np.where(large, x, curve if beta == 1 else curve / number(beta))
    if not wanted[0]:
        return value, None
    slope = raised / (raised + 1)
    slope[large] = 1
    return value, slope


def softplus_gradient(g: Array, slope: Array, shapes: Shapes, x: None, beta: float, threshold: float) -> tuple[Array]:
    return (g * slope,)


# ------------------------------------------------------------------------------------------------------------ softmax


def softmax(wanted: Wanted, x: Array, axes: Axes) -> Value:
    value = np.subtract(x, largest(x, axes))
    np.exp(value, out=value)
    value /= total(value, axes)
    return value, None


def softmax_gradient(g: Array, out: Array, shapes: Shapes, x: None, axes: Axes) -> tuple[Array]:
    weighted = g * out
    weighted -= out * total(weighted, axes)
    return (weighted,)


def log_softmax(wanted: Wanted, x: Array, axes: Axes) -> Value:
    value = np.subtract(x, largest(x, axes))
    raised = np.exp(value)
    whole = total(raised, axes)
    value -= np.log(whole)
    return value, (raised, whole) if wanted[0] else None


def log_softmax_gradient(g: Array, kept: Any, shapes: Shapes, x: None, axes: Axes) -> tuple[Array]:
    raised, whole = kept
    share = raised * (total(g, axes) / whole)
    return (np.subtract(g, share, out=share),)
