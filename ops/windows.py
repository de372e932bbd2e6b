"""Windows: what slides over an array, and its transpose. Convolution and pooling are made of them.

Both ops take arrays of shape ``[*batch, *kernel, *space]`` with as many kernel axes as space axes, and keep the kernel
axes: an input that is the same for every kernel position is broadcast along them first, what must be added up along
them is summed after. So each op moves elements only, and each is the other's derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .core import Movement, Number, bind, define
from .types import Type

Shape = tuple[int, ...]


def _moved(x: Type, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> Type:
    axes = len(steps)
    if x.ndim < 2 * axes or not len(extents) == len(gaps) == len(low) == axes:
        raise RuntimeError(f"windows over {axes} axes need an array of at least {2 * axes} axes, got {x}")
    if min((*steps, *gaps), default=1) < 1:
        raise RuntimeError(f"windows need steps and gaps above 0, got {steps} and {gaps}")
    return Type(x.dtype, (*x.shape[: x.ndim - axes], *extents))


def _window_type(x: Type, extents: Shape, steps: Shape, gaps: Shape, low: Shape, value: Number) -> Type:
    return _moved(x, extents, steps, gaps, low)


def _reach(kernel: Shape, windows: Shape, steps: Shape, gaps: Shape) -> Shape:
    """How many places along each axis the windows reach over."""
    along = zip(kernel, windows, steps, gaps, strict=True)
    return tuple((o - 1) * step + (k - 1) * gap + 1 if o and k else 0 for k, o, step, gap in along)


def _seen(space: np.ndarray, kernel: Shape, windows: Shape, steps: Shape, gaps: Shape) -> np.ndarray:
    """The windows of ``space [*batch, *kernel, *places]`` as a view ``[*batch, *kernel, *windows]``."""
    axes = len(steps)
    batch = space.ndim - 2 * axes
    of_kernel, of_space = space.strides[batch : batch + axes], space.strides[batch + axes :]
    strides = (
        *space.strides[:batch],
        *(own + gap * along for own, gap, along in zip(of_kernel, gaps, of_space, strict=True)),
        *(step * along for step, along in zip(steps, of_space, strict=True)),
    )
    return as_strided(space, (*space.shape[:batch], *kernel, *windows), strides)


def _window(x: np.ndarray, extents: Shape, steps: Shape, gaps: Shape, low: Shape, value: Number) -> np.ndarray:
    axes = len(steps)
    batch = x.ndim - 2 * axes
    kernel = x.shape[batch : batch + axes]
    # What is the same for each kernel position is laid out once.
    once = tuple(np.s_[:1] if x.strides[batch + a] == 0 else np.s_[:] for a in range(axes))
    x = x[(np.s_[:],) * batch + once]
    places = _reach(kernel, extents, steps, gaps)
    space = np.full((*x.shape[: batch + axes], *places), value, x.dtype)
    kept = [min(n, max(p - before, 0)) for n, p, before in zip(x.shape[batch + axes :], places, low, strict=True)]
    inner = tuple(np.s_[before : before + n] for before, n in zip(low, kept, strict=True))
    whole: tuple[Any, ...] = (...,)
    space[whole + inner] = x[whole + tuple(np.s_[:n] for n in kept)]
    repeated = np.broadcast_to(space, (*x.shape[:batch], *kernel, *places))
    return np.array(_seen(repeated, kernel, extents, steps, gaps), order="C")


def _spread(g: np.ndarray, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> np.ndarray:
    axes = len(steps)
    batch = g.ndim - 2 * axes
    kernel, windows = g.shape[batch : batch + axes], g.shape[batch + axes :]
    reach = _reach(kernel, windows, steps, gaps)
    places = [max(n, before + extent) for n, before, extent in zip(reach, low, extents, strict=True)]
    space = np.zeros((*g.shape[: batch + axes], *places), g.dtype)
    if g.size:
        _seen(space, kernel, windows, steps, gaps)[...] = g
    inner: tuple[Any, ...] = tuple(np.s_[before : before + n] for before, n in zip(low, extents, strict=True))
    return np.array(space[(np.s_[:],) * (batch + axes) + inner], order="C")


window_primitive = define(
    "window",
    ("x",),
    type=_window_type,
    eval=_window,
    lower=Movement("window"),
    vjp={"x": lambda g, x_type, steps, gaps, low: spread(g, x_type.shape[-len(steps) :], steps, gaps, low)},
)


def window(x: Any, extents: Shape, steps: Shape, gaps: Shape, low: Shape, value: Number = 0) -> Any:
    """``out[*b, *k, *o] = x[*b, *k, *(o * steps + k * gaps - low)]``, and `value` where that lies outside of x.

    `extents` are the numbers of windows, `low` is how many places of `value` are before the first element.
    """
    return bind(window_primitive, x, extents=extents, steps=steps, gaps=gaps, low=low, value=value)


spread_primitive = define(
    "spread",
    ("x",),
    type=_moved,
    eval=lambda x, extents, steps, gaps, low: _spread(x, extents, steps, gaps, low),
    lower=Movement("spread"),
    vjp={"x": lambda g, x_type, steps, gaps, low: window(g, x_type.shape[-len(steps) :], steps, gaps, low)},
)


def spread(x: Any, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> Any:
    """The transpose of `window`: each element back at the place where its window took it, and 0 elsewhere.

    ``out[*b, *k, *i] = x[*b, *k, *((i + low - k * gaps) / steps)]`` where that is a whole number inside of x.
    """
    return bind(spread_primitive, x, extents=extents, steps=steps, gaps=gaps, low=low)
