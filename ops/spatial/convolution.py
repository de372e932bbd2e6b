"""Convolution as a contraction: one sum of products ``y = x * w`` over three arrays, solved for each of them.

``y[n, g O + o, *p] = sum of x[n, g C + c, *(p * steps + k * gaps - low)] * w[g O + o, c, *k]`` over c and k; outside of
x is 0. `conv` sums for y, `conv_input` for x (the transposed convolution) and `conv_weight` for w. The derivatives of
each are the other two, so that a convolution can be differentiated as often as one likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Kernel, bind, define
from ..types import Type
from .unfolded import Windows, convolved, correlated, spread

Shape = tuple[int, ...]


def _require(x: Type, w: Type, y: Type, steps: Shape, gaps: Shape, low: Shape, groups: int) -> None:
    axes = len(steps)
    if not 1 <= axes <= 3:
        raise RuntimeError(f"a convolution slides over one to three axes, not {axes}")
    if not x.ndim == w.ndim == y.ndim == axes + 2 or not len(gaps) == len(low) == axes or groups < 1:
        raise RuntimeError(f"a convolution over {axes} axes needs arrays of {axes + 2} axes, got {x}, {w} and {y}")
    if not x.dtype is w.dtype is y.dtype or not x.dtype.is_floating_point:
        raise RuntimeError(f"a convolution needs floating-point arrays of one type, got {x}, {w} and {y}")
    results, channels = w.shape[:2]
    if x.shape[:2] != (y.shape[0], channels * groups) or y.shape[1] != results or results % groups:
        raise RuntimeError(f"the channels of {x}, {w} and {y} do not fit together in {groups} groups")
    if min((*steps, *gaps), default=1) < 1:
        raise RuntimeError(f"a convolution needs steps and gaps above 0, got {steps} and {gaps}")


def _conv_type(x: Type, w: Type, extents: Shape, steps: Shape, gaps: Shape, low: Shape, groups: int) -> Type:
    y = Type(x.dtype, (*x.shape[:1], *w.shape[:1], *extents))
    _require(x, w, y, steps, gaps, low, groups)
    return y


def _input_type(y: Type, w: Type, extents: Shape, steps: Shape, gaps: Shape, low: Shape, groups: int) -> Type:
    x = Type(y.dtype, (*y.shape[:1], *(groups * n for n in w.shape[1:2]), *extents))
    _require(x, w, y, steps, gaps, low, groups)
    return x


def _weight_type(x: Type, y: Type, extents: Shape, steps: Shape, gaps: Shape, low: Shape, groups: int) -> Type:
    w = Type(x.dtype, (*y.shape[1:2], *(n // groups for n in x.shape[1:2]), *extents))
    _require(x, w, y, steps, gaps, low, groups)
    return w


# ------------------------------------------------------------------------------------------------------ evaluation


def _conv(x: np.ndarray, w: np.ndarray, extents: Shape, steps: Shape, gaps: Shape, low: Shape, groups: int) -> Any:
    windows = Windows(x.shape[1], x.shape[2:], w.shape[2:], extents, steps, gaps, low, groups, x.dtype)
    return convolved(x, w, windows)


def _conv_input(y: np.ndarray, w: np.ndarray, extents: Shape, steps: Shape, gaps: Shape, low: Shape,
                groups: int) -> np.ndarray:  # fmt: skip
    windows = Windows(w.shape[1] * groups, extents, w.shape[2:], y.shape[2:], steps, gaps, low, groups, y.dtype)
    return spread(y, w, windows)


def _conv_weight(x: np.ndarray, y: np.ndarray, extents: Shape, steps: Shape, gaps: Shape, low: Shape,
                 groups: int) -> np.ndarray:  # fmt: skip
    windows = Windows(x.shape[1], x.shape[2:], extents, y.shape[2:], steps, gaps, low, groups, x.dtype)
    return correlated(x, y, windows)


# ------------------------------------------------------------------------------------------------------- primitives


conv_primitive = define(
    "conv",
    ("x", "w"),
    type=_conv_type,
    eval=_conv,
    lower=Kernel("conv"),
    vjp={
        "x": lambda g, w, x_type, steps, gaps, low, groups: conv_input(
            g, w, x_type.shape[2:], steps, gaps, low, groups
        ),
        "w": lambda g, x, w_type, steps, gaps, low, groups: conv_weight(
            x, g, w_type.shape[2:], steps, gaps, low, groups
        ),
    },
    backward_name="ConvolutionBackward0",
)


def conv(x: Any, w: Any, extents: Shape, steps: Shape, gaps: Shape, low: Shape, groups: int = 1) -> Any:
    """The convolution of ``x [n, g C, *space]`` with ``w [g O, C, *kernel]``: y [n, g O, *extents].

    RuntimeError where types or channels do not fit together.
    """
    return bind(conv_primitive, x, w, extents=extents, steps=steps, gaps=gaps, low=low, groups=groups)


conv_input_primitive = define(
    "conv_input",
    ("y", "w"),
    type=_input_type,
    eval=_conv_input,
    lower=Kernel("conv_input"),
    vjp={
        "y": lambda g, w, y_type, steps, gaps, low, groups: conv(g, w, y_type.shape[2:], steps, gaps, low, groups),
        "w": lambda g, y, w_type, steps, gaps, low, groups: conv_weight(
            g, y, w_type.shape[2:], steps, gaps, low, groups
        ),
    },
    backward_name="ConvolutionBackward0",
)


def conv_input(y: Any, w: Any, extents: Shape, steps: Shape, gaps: Shape, low: Shape, groups: int = 1) -> Any:
    """The transposed convolution of ``y [n, g O, *windows]`` with ``w [g O, C, *kernel]``: x [n, g C, *extents].

    RuntimeError where types or channels do not fit together.
    """
    return bind(conv_input_primitive, y, w, extents=extents, steps=steps, gaps=gaps, low=low, groups=groups)


conv_weight_primitive = define(
    "conv_weight",
    ("x", "y"),
    type=_weight_type,
    eval=_conv_weight,
    lower=Kernel("conv_weight"),
    vjp={
        "x": lambda g, y, x_type, steps, gaps, low, groups: conv_input(
            y, g, x_type.shape[2:], steps, gaps, low, groups
        ),
        "y": lambda g, x, y_type, steps, gaps, low, groups: conv(x, g, y_type.shape[2:], steps, gaps, low, groups),
    },
    backward_name="ConvolutionBackward0",
)


def conv_weight(x: Any, y: Any, extents: Shape, steps: Shape, gaps: Shape, low: Shape, groups: int = 1) -> Any:
    """What a convolution of ``x [n, g C, *space]`` with result ``y [n, g O, *windows]`` is multiplied with:
    w [g O, C, *extents].

    RuntimeError where types or channels do not fit together.
    """
    return bind(conv_weight_primitive, x, y, extents=extents, steps=steps, gaps=gaps, low=low, groups=groups)
