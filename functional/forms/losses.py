"""Losses in numpy. What a ValueError says of operands and arguments is left to the primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.arithmetic import sign
from ...ops.elementary import log_sigmoid, sigmoid
from ...ops.layouts.orders import in_common_order
from ...ops.reductions import sum_primitive
from .common import Array, Shapes, Value, Wanted, require_rows, to_both

REDUCTIONS = ("none", "mean", "sum")

_log_sigmoid = log_sigmoid.primitive.evaluate_wide  # type: ignore[attr-defined]
_sign = sign.primitive.evaluate_wide  # type: ignore[attr-defined]
_sigmoid = sigmoid.primitive.evaluate_wide  # type: ignore[attr-defined]


def _reduced(loss: Array, reduction: str) -> Array:
    if reduction not in REDUCTIONS:
        raise ValueError("no reduction")
    if reduction == "none":
        return loss
    summed: Array = np.asarray(sum_primitive.evaluate_wide(loss, tuple(range(loss.ndim))))
    return summed / loss.dtype.type(loss.size) if reduction == "mean" else summed


def _spread(g: Array, size: int, reduction: str) -> Array:
    """The gradient of each of `size` losses, where `g` is that of what they are reduced to."""
    return g / g.dtype.type(size) if reduction == "mean" else g


def squared(wanted: Wanted, x: Array, y: Array, reduction: str) -> Value:
    """``(x - y) ** 2``."""
    difference = x - y
    if not x.flags.c_contiguous:
        difference = in_common_order(difference, (x, y))
    return _reduced(difference * difference, reduction), difference if any(wanted) else None


def squared_gradient(g: Array, difference: Array, shapes: Shapes, x: None, y: None, reduction: str) -> Any:
    return to_both(difference * (2 * _spread(g, difference.size, reduction)), shapes)


def picked_loss(wanted: Wanted, x: Array, target: Any, ignore_index: int, reduction: str) -> Value:
    """Minus ``x[n, target[n]]``; ValueError where a target is no class or not counted: left to the primitives."""
    places = target.ndarray
    rows, classes = x.shape
    if reduction not in REDUCTIONS:
        raise ValueError("no reduction")
    if not places.flags.c_contiguous or places.view(np.uint64).max() >= classes or 0 <= ignore_index < classes:
        raise ValueError("targets that the general form has to look at")
    places = np.arange(0, rows * classes, classes) + places
    loss = np.negative(x.take(places))
    if reduction != "none":
        loss = np.add.reduce(loss)
    if reduction == "mean":
        loss = loss / x.dtype.type(rows)
    return loss, (places, x.shape) if wanted[0] else None


def picked_loss_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, target: Any, ignore_index: int, reduction: str
) -> tuple[Array]:
    places, shape = kept
    gradient = np.zeros(shape, g.dtype)
    gradient.reshape(-1)[places] = -(g / g.dtype.type(shape[0]) if reduction == "mean" else g)
    return (gradient,)


def absolute(wanted: Wanted, x: Array, y: Array, reduction: str) -> Value:
    """``|x - y|``."""
    require_rows(x, y)
    difference = x - y
    return _reduced(np.absolute(difference), reduction), _sign(difference) if any(wanted) else None


def absolute_gradient(g: Array, sign: Array, shapes: Shapes, x: None, y: None, reduction: str) -> Any:
    return to_both(sign * _spread(g, sign.size, reduction), shapes)


def smooth_absolute(wanted: Wanted, x: Array, y: Array, reduction: str, beta: float) -> Value:
    """``d ** 2 / (2 * beta)`` where ``d = |x - y|`` is below `beta`, else ``d - beta / 2``."""
    require_rows(x, y)
    if beta == 0:
        raise ValueError("a bend is wanted")
    difference = x - y
    distance = np.absolute(difference)
    far = distance >= beta
    loss = np.where(far, distance - 0.5 * beta, 0.5 * distance * distance / beta)
    slope = np.where(far, np.sign(difference), difference / beta) if any(wanted) else None
    return _reduced(loss, reduction), slope


def smooth_absolute_gradient(
    g: Array, slope: Array, shapes: Shapes, x: None, y: None, reduction: str, beta: float
) -> Any:
    return to_both(slope * _spread(g, slope.size, reduction), shapes)


def huber(wanted: Wanted, x: Array, y: Array, reduction: str, delta: float) -> Value:
    """``d ** 2 / 2`` where ``d = |x - y|`` is at most `delta`, else ``delta * (d - delta / 2)``."""
    require_rows(x, y)
    difference = x - y
    distance = np.absolute(difference)
    far = distance > delta
    loss = np.where(far, delta * (distance - 0.5 * delta), 0.5 * distance * distance)
    slope = np.where(far, delta * np.sign(difference), difference) if any(wanted) else None
    return _reduced(loss, reduction), slope


huber_gradient = smooth_absolute_gradient


def cross_entropy_of_probabilities(wanted: Wanted, p: Array, y: Array, reduction: str) -> Value:
    """``-(y * log(p) + (1 - y) * log(1 - p))`` with logarithms of at least -100."""
    require_rows(p, y)
    loss = (y - 1) * np.maximum(np.log1p(-p), -100.0)
    loss -= y * np.maximum(np.log(p), -100.0)
    return _reduced(loss, reduction), None


def cross_entropy_of_probabilities_gradient(
    g: Array, kept: None, shapes: Shapes, p: Array, y: Array, reduction: str
) -> tuple[Array | None, Array | None]:
    g = _spread(g, p.size, reduction)
    to_p, to_y = shapes
    return (
        None if to_p is None else g * (p - y) / np.maximum((1 - p) * p, 1e-12),
        None if to_y is None else g * (np.log1p(-p) - np.log(p)),
    )


def cross_entropy_of_logits(wanted: Wanted, x: Array, y: Array, reduction: str) -> Value:
    """``(1 - y) * x - log(sigmoid(x))``."""
    require_rows(x, y)
    loss = 1 - y
    loss *= x
    loss -= _log_sigmoid(x)
    return _reduced(loss, reduction), None


def cross_entropy_of_logits_gradient(
    g: Array, kept: None, shapes: Shapes, x: Array, y: Array | None, reduction: str
) -> tuple[Array | None, Array | None]:
    g = _spread(g, x.size, reduction)
    to_x, to_y = shapes
    slope = None
    if to_x is not None:
        slope = _sigmoid(x)
        slope -= y
        slope *= g
    return slope, None if to_y is None else -x * g
