"""Folds over axes. ``axes`` is a sorted tuple of non-negative ints; folded axes disappear from the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Reduction, bind, define
from .movement import broadcast_along
from .types import DType, Type, int64


def _folded(x: Type, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for axis, n in enumerate(x.shape) if axis not in axes)


def _sum_type(x: Type, axes: tuple[int, ...]) -> Type:
    return Type(x.dtype, _folded(x, axes))


def _sum(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    return np.add.reduce(x, axis=axes, dtype=x.dtype)


sum_primitive = define(
    "sum",
    ("x",),
    type=_sum_type,
    eval=_sum,
    lower=Reduction("add", "0", "{acc} + {x}"),
    vjp={"x": lambda g, x_type, axes: broadcast_along(g, axes, x_type.shape)},
)


def sum(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over `axes`, in x's own type (integers are widened by the caller)."""
    return bind(sum_primitive, x, axes=axes)


def sum_dtype(dtype: DType) -> DType:
    """The type PyTorch sums in: int64 for bool and integers, the same for floats."""
    return dtype if dtype.is_floating_point else int64
