"""Ops that change no number: a fresh copy, and a wall for derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import NO_GRADIENT, Movement, Pointwise, bind, define
from .types import Type


def _same_type(x: Type) -> Type:
    return x


copy_primitive = define(
    "copy",
    ("x",),
    type=_same_type,
    eval=lambda x: x.copy("C"),
    lower=Pointwise("{x}"),
    vjp={"x": lambda g: g},
    backward_name="CloneBackward0",
)


def copy(x: Any) -> Any:
    """The same numbers in memory of their own. In a graph, where values have no memory, it is x itself."""
    return bind(copy_primitive, x)


def _laid(x: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    back = sorted(range(len(order)), key=order.__getitem__)
    return x.transpose(order).copy("C").transpose(back)


lay_primitive = define(
    "lay",
    ("x",),
    type=lambda x, order: x,
    eval=_laid,
    lower=Movement("reshape"),
    vjp={"x": lambda g: g},
    backward_name="CloneBackward0",
)


def lay(x: Any, order: tuple[int, ...]) -> Any:
    """The same numbers in memory of their own, without gaps, the axes from the slowest to the fastest in `order`."""
    return bind(lay_primitive, x, order=order)


# What `detach()` and `no_grad` mean in a graph: the value passes, derivatives stop. Eager mode has no need of it.
detach_primitive = define("detach", ("x",), type=_same_type, eval=lambda x: x, lower=Pointwise("{x}"), vjp=NO_GRADIENT)
