"""What numpy forms of composites share: types, sums and their way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.reductions import sum_primitive

Array = np.ndarray
Axes = tuple[int, ...]
Wanted = Sequence[bool]
Shapes = Sequence[Axes | None]
Value = tuple[Array, Any]

FEW_ROWS, SHORT_ROW = 16, 512


def require_rows(*operands: Array) -> None:
    """ValueError, which leaves a composite to its primitives, for operands that do not lie by rows: these lay out the
    results and gradients of others."""
    for x in operands:
        if not x.flags.c_contiguous:
            raise ValueError("operands that lie by rows are wanted")


def total(x: Array, axes: Axes) -> Array:
    """The sum over `axes` as the primitive makes it, with these axes kept."""
    out: Array = sum_primitive.evaluate_wide(x, axes, keepdims=True)
    return out


def largest(x: Array, axes: Axes) -> Array:
    """The largest elements over `axes`, which are kept. numpy finds the places of many in short rows several times as
    fast as the numbers themselves."""
    width = x.shape[-1]
    if axes == (x.ndim - 1,) and x.size >= FEW_ROWS * width and width <= SHORT_ROW and x.flags.c_contiguous:
        places = x.reshape(-1, width).argmax(1)
        places += np.arange(0, x.size, width)
        return x.take(places).reshape(*x.shape[:-1], 1)
    out: Array = np.maximum.reduce(x, axis=axes, keepdims=True)
    return out


def summed_to(g: Array, shape: tuple[int, ...]) -> Array:
    """`g` summed over what broadcasting from `shape` added or stretched."""
    if g.shape == shape:
        return g
    if g.ndim == 2 and len(shape) == 1 and g.shape[1] == shape[0] and g.shape[0] <= 128:
        rows: Array = np.add.reduce(g, axis=0)  # few enough to be added one after the other
        return rows
    added = g.ndim - len(shape)
    axes = tuple([a for a, n in enumerate(g.shape) if a < added or (n != 1 and shape[a - added] == 1)])
    return np.asarray(sum_primitive.evaluate_wide(g, axes)).reshape(shape)


def to_both(slope: Array, shapes: Shapes) -> tuple[Array | None, Array | None]:
    """The gradients of the operands of a difference, of which `slope` is the gradient."""
    to_x, to_y = shapes
    return None if to_x is None else summed_to(slope, to_x), None if to_y is None else summed_to(-slope, to_y)
