"""Values, and gradients, in a given order of axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Movement, bind, define
from ..identity import lay
from .orders import Order, dense_strides, kept_order


def in_order(x: Any, order: Order) -> Any:
    """`x` itself if it lies without gaps in `order`, or has no memory, as in a graph; else a copy that does."""
    array = getattr(x, "ndarray", None)
    if array is None or array.strides == dense_strides(array.shape, order, array.itemsize):
        return x
    return lay(x, order)


gradient_in_order_primitive = define(
    "gradient_in_order",
    ("x",),
    type=lambda x, order: x,
    eval=lambda x, order: x.view(),
    lower=Movement("reshape", view=True),
    vjp={"x": lambda g, order: in_order(g, order)},
    backward_name="ViewBackward0",
)


def gradient_in_order(x: Any, order: Order) -> Any:
    """x, whose gradient lies in `order`."""
    return bind(gradient_in_order_primitive, x, order=order)


def gradient_as(x: Any, array: np.ndarray) -> Any:
    """x, whose gradient lies as `array` does, whatever the order of the cotangent is; x itself if it has none, or
    other axes."""
    if not getattr(x, "requires_grad", False) or x.ndarray.ndim != array.ndim:
        return x
    return gradient_in_order(x, kept_order(array))


def laid_as(x: Any, array: np.ndarray) -> Any:
    """`x` in the order of an array with as many axes."""
    return in_order(x, kept_order(array))
