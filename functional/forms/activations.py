"""Activations in numpy: see `array_forms` for what a form gets and gives."""

from __future__ import annotations

import numpy as np

from .common import Array, Shapes, Value, Wanted


def leaky_relu(wanted: Wanted, x: Array, slope: float) -> Value:
    if not x.flags.c_contiguous:
        raise ValueError("operands that lie by rows are wanted")
    positive = x > 0
    return np.where(positive, x, x * x.dtype.type(slope)), positive if wanted[0] else None


def leaky_relu_gradient(g: Array, positive: Array, shapes: Shapes, x: None, slope: float) -> tuple[Array]:
    return (np.where(positive, g, g * g.dtype.type(slope)),)


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
