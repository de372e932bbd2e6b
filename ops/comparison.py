"""Comparisons and choices, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core import NO_GRADIENT
from .pointwise import Op, bool_result, pointwise


def _comparison(name: str, c: str, eval: np.ufunc) -> Op:
    return pointwise(name, inputs=("x", "y"), c=c, eval=eval, vjp=NO_GRADIENT, result=bool_result)


def _test(name: str, c: str, eval: Callable[..., Any]) -> Op:
    return pointwise(name, c=c, eval=eval, vjp=NO_GRADIENT, result=bool_result)


eq = _comparison("eq", "{x} == {y}", np.equal)
ne = _comparison("ne", "{x} != {y}", np.not_equal)
lt = _comparison("lt", "{x} < {y}", np.less)
le = _comparison("le", "{x} <= {y}", np.less_equal)
gt = _comparison("gt", "{x} > {y}", np.greater)
ge = _comparison("ge", "{x} >= {y}", np.greater_equal)

# Only NaN differs from itself; only infinities and NaN minus themselves are not zero. So one line serves every type.
isnan = _test("isnan", "{x} != {x}", np.isnan)
isfinite = _test("isfinite", "{x} - {x} == 0", np.isfinite)
isinf = _test("isinf", "({x} == {x}) & ({x} - {x} != 0)", np.isinf)

# The branch that is not taken gets an exact zero, so a NaN there cannot leak into the gradient.
where = pointwise(
    "where",
    inputs=("condition", "x", "y"),
    unpromoted=1,
    c="{condition} ? {x} : {y}",
    eval=np.where,
    vjp={
        "condition": NO_GRADIENT,
        "x": lambda g, condition: where(condition, g, 0),
        "y": lambda g, condition: where(condition, 0, g),
    },
)
