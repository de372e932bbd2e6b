"""Composites in numpy, forward and backward: what `tensors.fusion.fused` takes. Formulas are those of the primitives.

A forward pass gets what is wanted (for each operand whether it requires a gradient), the operands' arrays and the other
arguments; it gives the value, and what its backward pass needs, None where nothing is wanted. A backward pass gets the
gradient of the value, and the shapes of the operands whose gradients are wanted (None of the others). Only arrays made
here are written to: operands and gradients may be shared, broadcast or read-only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.array import by_columns
from ..ops.elementary import sigmoid
from ..ops.erf import erf
from ..ops.layouts.orders import in_common_order
from ..ops.memory import BLOCK, blocks
from ..ops.reductions import sum_primitive

Array = np.ndarray
Axes = tuple[int, ...]
Wanted = Sequence[bool]
Shapes = Sequence[Axes | None]
Value = tuple[Array, Any]

FEW_ROWS, SHORT_ROW = 16, 512
REDUCTIONS = ("none", "mean", "sum")

_sigmoid = sigmoid.primitive.evaluate_wide  # type: ignore[attr-defined]


def _total(x: Array, axes: Axes) -> Array:
    """The sum over `axes` as the primitive makes it, with these axes kept."""
    out: Array = sum_primitive.evaluate_wide(x, axes, keepdims=True)
    return out


def _largest(x: Array, axes: Axes) -> Array:
    """The largest elements over `axes`, which are kept. numpy finds the places of many in short rows several times as
    fast as the numbers themselves."""
    width = x.shape[-1]
    if axes == (x.ndim - 1,) and x.size >= FEW_ROWS * width and width <= SHORT_ROW and x.flags.c_contiguous:
        places = x.reshape(-1, width).argmax(1)
        places += np.arange(0, x.size, width)
        return x.take(places).reshape(*x.shape[:-1], 1)
    out: Array = np.maximum.reduce(x, axis=axes, keepdims=True)
    return out


def _summed_to(g: Array, shape: tuple[int, ...]) -> Array:
    """`g` summed over what broadcasting from `shape` added or stretched."""
    if g.shape == shape:
        return g
    if g.ndim == 2 and len(shape) == 1 and g.shape[1] == shape[0] and g.shape[0] <= 128:
        rows: Array = np.add.reduce(g, axis=0)  # few enough to be added one after the other
        return rows
    added = g.ndim - len(shape)
    axes = tuple([a for a, n in enumerate(g.shape) if a < added or (n != 1 and shape[a - added] == 1)])
    return np.asarray(sum_primitive.evaluate_wide(g, axes)).reshape(shape)


# -------------------------------------------------------------------------------------------------------- activations


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


# ------------------------------------------------------------------------------------------------------------ softmax


def softmax(wanted: Wanted, x: Array, axes: Axes) -> Value:
    value = np.subtract(x, _largest(x, axes))
    np.exp(value, out=value)
    value /= _total(value, axes)
    return value, None


def softmax_gradient(g: Array, out: Array, shapes: Shapes, x: None, axes: Axes) -> tuple[Array]:
    weighted = g * out
    weighted -= out * _total(weighted, axes)
    return (weighted,)


def log_softmax(wanted: Wanted, x: Array, axes: Axes) -> Value:
    value = np.subtract(x, _largest(x, axes))
    raised = np.exp(value)
    total = _total(raised, axes)
    value -= np.log(total)
    return value, (raised, total) if wanted[0] else None


def log_softmax_gradient(g: Array, kept: Any, shapes: Shapes, x: None, axes: Axes) -> tuple[Array]:
    raised, total = kept
    share = raised * (_total(g, axes) / total)
    return (np.subtract(g, share, out=share),)


# ------------------------------------------------------------------------------------------------------------- losses


def mean_squares(wanted: Wanted, x: Array, y: Array, reduction: str) -> Value:
    if reduction not in REDUCTIONS:
        raise ValueError("no reduction")
    difference = x - y
    if not x.flags.c_contiguous:
        difference = in_common_order(difference, (x, y))
    squares = difference * difference
    if reduction != "none":
        squares = np.asarray(sum_primitive.evaluate_wide(squares, tuple(range(squares.ndim))))
    if reduction == "mean":
        squares = squares / squares.dtype.type(difference.size)
    return squares, difference if any(wanted) else None


def mean_squares_gradient(
    g: Array, difference: Array, shapes: Shapes, x: None, y: None, reduction: str
) -> tuple[Array | None, Array | None]:
    slope = difference * (2 * (g / g.dtype.type(difference.size) if reduction == "mean" else g))
    to_x, to_y = shapes
    return None if to_x is None else _summed_to(slope, to_x), None if to_y is None else _summed_to(-slope, to_y)


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


# ------------------------------------------------------------------------------------------------------------- layers


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
        None if to_bias is None else _summed_to(g, to_bias),
        None if to_x is None else np.matmul(y, g.T).T if kept[0] else np.matmul(g, y.T),
        None if to_y is None else np.matmul(g.T, x).T if kept[1] else np.matmul(x.T, g),
    )


def layer_norm(
    wanted: Wanted, x: Array, weight: Array | None, bias: Array | None, axes: Axes, eps: float
) -> tuple[Array, Any]:
    centred, scale, _, _ = _centred(x, axes, eps)
    value = centred * scale
    if weight is not None:
        value *= weight
    if bias is not None:
        value += bias
    return value, (centred, scale) if wanted[0] or wanted[1] else None


def _centred(x: Array, axes: Axes, eps: float) -> tuple[Array, Array, Array, Array]:
    """`x` without its mean, the reciprocal of its deviation, and its mean and variance over `axes`."""
    count = math.prod([x.shape[axis] for axis in axes])
    mean = _total(x, axes)
    mean /= count
    centred = x - mean
    var = _total(centred * centred, axes)
    var /= count
    scale = var + float(eps)
    np.sqrt(scale, out=scale)
    return centred, np.reciprocal(scale, out=scale), mean, var


def layer_norm_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, weight: Array | None, bias: None, axes: Axes, eps: float
) -> tuple[Any, Any, Any]:
    of_x, of_weight, of_bias = shapes
    to_weight = None if of_weight is None else _summed_to(g * (kept[0] * kept[1]), of_weight)
    to_x = None if of_x is None else _through_norm(g if weight is None else g * weight, kept[0], kept[1], axes)
    return to_x, to_weight, None if of_bias is None else _summed_to(g, of_bias)


def _through_norm(g: Array, centred: Array, scale: Array, axes: Axes) -> Array:
    """The gradient of x from that of ``centred * scale``, in the primitives' order."""
    count = g.dtype.type(math.prod([g.shape[axis] for axis in axes]))
    to_centred = g * scale
    to_scale = _total(g * centred, axes) * (scale * scale * scale * g.dtype.type(-0.5))
    half = centred * (to_scale / count)
    to_centred += half
    to_centred += half
    to_centred -= _total(to_centred, axes) / count
    return to_centred


def channel_norm(
    wanted: Wanted, x: Array, weight: Array | None, bias: Array | None, axes: Axes, along: Axes, eps: float
) -> tuple[tuple[Array, Array, Array], Any]:
    """A batch norm by the batch's own statistics, which are given as well, in the shape `along`."""
    centred, scale, mean, var = _centred(x, axes, eps)
    value = _scaled_and_shifted(centred * scale, weight, bias, along)
    return (value, mean, var), (centred, scale) if wanted[0] or wanted[1] else None


def channel_norm_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, weight: Array | None, bias: None, axes: Axes, along: Axes, eps: float
) -> tuple[Any, Any, Any]:
    of_x, of_weight, of_bias = shapes
    to_weight = None if of_weight is None else _total(g * (kept[0] * kept[1]), axes).reshape(of_weight)
    scaled = g if weight is None else g * weight.reshape(along)
    to_x = None if of_x is None else _through_norm(scaled, kept[0], kept[1], axes)
    return to_x, to_weight, None if of_bias is None else _total(g, axes).reshape(of_bias)


def moved_towards(running: Array, value: Array, momentum: float, share: float) -> Array:
    """Running statistics, of which `momentum` is replaced by that `share` of new ones."""
    moved = running * (1 - momentum)
    moved += value.reshape(running.shape) * share
    return moved


def channel_norm_by(
    wanted: Wanted, x: Array, weight: Array | None, bias: Array | None, mean: Any, var: Any, along: Axes, eps: float
) -> Value:
    """A batch norm by statistics that are given."""
    scale = 1 / np.sqrt(var.ndarray.reshape(along) + x.dtype.type(eps))
    normal = x - mean.ndarray.reshape(along)
    normal *= scale
    kept = (normal, scale) if wanted[0] or wanted[1] else None
    return _scaled_and_shifted(normal if kept is None else normal.copy(), weight, bias, along), kept


def channel_norm_by_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, weight: Any, bias: None, mean: Any, var: Any, along: Axes, eps: float
) -> tuple[Any, Any, Any]:
    of_x, of_weight, of_bias = shapes
    axes = tuple([axis for axis in range(g.ndim) if axis != 1])
    to_x = to_weight = None
    if of_weight is not None:
        to_weight = _total(g * kept[0], axes).reshape(of_weight)
    if of_x is not None:
        to_x = (g if weight is None else g * weight.reshape(along)) * kept[1]
    return to_x, to_weight, None if of_bias is None else _total(g, axes).reshape(of_bias)


def _scaled_and_shifted(normal: Array, weight: Array | None, bias: Array | None, along: Axes) -> Array:
    """In the memory of `normal`."""
    if weight is not None:
        normal *= weight.reshape(along)
    if bias is not None:
        normal += bias.reshape(along)
    return normal
