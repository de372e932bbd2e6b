"""Activations in numpy: see `array_forms` for what a form gets and gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Array, Shapes, Value, Wanted

_BITS: dict[Any, Any] = {np.dtype("float32"): np.dtype("int32"), np.dtype("float64"): np.dtype("int64")}


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
    if not x.flags.c_contiguous:
        raise ValueError("operands that lie by rows are wanted")
    positive = x > 0
    return _chosen(positive, x, x * x.dtype.type(slope)), positive if wanted[0] else None


def leaky_relu_gradient(g: Array, positive: Array, shapes: Shapes, x: None, slope: float) -> tuple[Array]:
    return (_chosen(positive, g, g * g.dtype.type(slope)),)


def softplus(wanted: Wanted, x: Array, beta: float, threshold: float) -> Value:
    """Its slope is kept."""
    if not x.flags.c_contiguous:
        raise ValueError("operands that lie by rows are wanted")
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
