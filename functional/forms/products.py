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


def matrix_times_vector(wanted: Wanted, x: Array, y: Array) -> Value:
    """``x @ y`` as a product of matrices, whose roundings are those of compiled code and of batches."""
    if x.ndim != 2 or y.ndim != 1:
        raise ValueError("a matrix and a vector are wanted")
    return np.matmul(x, y[:, None])[:, 0], by_columns(x) if wanted[0] else None


def matrix_times_vector_gradient(g: Array, kept: Any, shapes: Shapes, x: Array, y: Array) -> tuple[Any, Any]:
    """The matrix's gradient lies in memory as it does."""
    to_x, to_y = shapes
    column = np.ascontiguousarray(g)[:, None]
    return (
        None if to_x is None else np.matmul(y[:, None], column.T).T if kept else np.matmul(column, y[None]),
        None if to_y is None else np.matmul(x.T, column)[:, 0],
    )


def scalar_product(wanted: Wanted, x: Array, y: Array) -> Value:
    """``sum(x * y)`` of two vectors, as a product of matrices."""
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError("vectors are wanted")
    return np.matmul(x[None], y[:, None]).reshape(()), None


def scalar_product_gradient(g: Array, kept: None, shapes: Shapes, x: Array, y: Array) -> tuple[Any, Any]:
    """Each vector's gradient is the other one times that of the product."""
    to_x, to_y = shapes
    return None if to_x is None else y * g, None if to_y is None else x * g
