"""What distributions compute of probabilities as numpy code, forward and backward: see `functional.forms`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functional.forms.activations import clamp, clamp_gradient
from ..functional.forms.common import Array, Shapes, Value, Wanted, total
from ..ops.reductions import sum_primitive


def shares(wanted: Wanted, x: Array) -> Value:
    whole = total(x, (x.ndim - 1,))
    return x / whole, whole if wanted[0] else None


def shares_gradient(g: Array, whole: Array, shapes: Shapes, x: Array) -> tuple[Array]:
    to_whole = total(-(g * ((x / whole) / whole)), (x.ndim - 1,))
    return (g / whole + to_whole,)


def clamped_log(wanted: Wanted, x: Array, low: float, high: float) -> Value:
    clamped, dropped = clamp(wanted, x, low, high)
    return np.log(clamped), (clamped, dropped) if wanted[0] else None


def clamped_log_gradient(g: Array, kept: Any, shapes: Shapes, x: None, low: float, high: float) -> tuple[Array]:
    clamped, dropped = kept
    return clamp_gradient(g / clamped, dropped, shapes, x, low, high)


def picked(wanted: Wanted, x: Array, index: Any) -> Value:
    """``x[..., index]`` along the last axis; ValueError for what the primitives have to look at."""
    places, count = index.ndarray, x.shape[-1]
    if places.shape != x.shape[:-1] or not places.flags.c_contiguous or places.view(np.uint64).max() >= count:
        raise ValueError("places that the general form has to look at")
    flat = np.arange(0, x.size, count)
    flat += places.reshape(-1)
    return x.take(flat).reshape(places.shape), flat if wanted[0] else None


def picked_gradient(g: Array, flat: Array, shapes: Shapes, x: None, index: Any) -> tuple[Array]:
    shape = shapes[0]
    assert shape is not None
    gradient = np.zeros(shape, g.dtype)
    gradient.reshape(-1)[flat] += g.reshape(-1)
    return (gradient,)


def entropies(wanted: Wanted, logits: Array, probs: Array, low: float) -> Value:
    clamped, dropped = clamp(wanted, logits, low, None)
    value = np.negative(sum_primitive.evaluate_wide(clamped * probs, (logits.ndim - 1,)))
    return value, (clamped, dropped) if True in wanted else None


def entropies_gradient(
    g: Array, kept: Any, shapes: Shapes, logits: None, probs: Array, low: float
) -> tuple[Array | None, Array | None]:
    clamped, dropped = kept
    slope = np.negative(g)[..., None]
    to_logits, to_probs = shapes
    return (
        None if to_logits is None else clamp_gradient(slope * probs, dropped, shapes, None, low, None)[0],
        None if to_probs is None else slope * clamped,
    )
