"""Products in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.array import by_columns
from .common import Array, Shapes, Value, Wanted, summed_to


def affine(wanted: Wanted, bias: Array, x: Array, y: Array) -> Value:
    """``x @ y + bias``."""
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError("matrices are wanted")
    value = np.matmul(x, y)
    value += bias
    return value, (by_columns(x), by_columns(y)) if wanted[1] or wanted[2] else None


def affine_gradient(g: Array, kept: Any, shapes: Shapes, bias: None, x: Array, y: Array) -> tuple[Any, Any, Any]:
    """Gradients of matrices lie in memory as these do."""
    to_bias, to_x, to_y = shapes
    if 0 in g.strides:  # repeated elements, with which numpy would not call a library
        g = np.ascontiguousarray(g)
    return (
        None if to_bias is None else summed_to(g, to_bias),
        None if to_x is None else np.matmul(y, g.T).T if kept[0] else np.matmul(g, y.T),
        None if to_y is None else np.matmul(g.T, x).T if kept[1] else np.matmul(x.T, g),
    )
