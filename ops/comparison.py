"""Comparisons and choices, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core import NO_GRADIENT
from .elementwise.descriptions import Doc
from .pointwise import Op, bool_result, pointwise


def _comparison(name: str, c: str, eval: np.ufunc, doc: Doc, takes_complex: bool = False) -> Op:
    return pointwise(
        name,
        inputs=("x", "y"),
        c=c,
        eval=eval,
        vjp=NO_GRADIENT,
        result=bool_result,
        takes_complex=takes_complex,
        numbers=("y",),
        doc=doc,
    )


def _test(name: str, c: str, eval: Callable[..., Any], doc: Doc) -> Op:
    return pointwise(name, c=c, eval=eval, vjp=NO_GRADIENT, result=bool_result, takes_complex=True, doc=doc)


eq = _comparison(
    "eq",
    "{x} == {y}",
    np.equal,
    takes_complex=True,
    doc=Doc(
        "Whether elements are equal: ``input == other``. NaN equals nothing.",
        "tg.eq(tg.tensor([1, 2]), tg.tensor([1, 3]))",
        "tensor([ True, False])",
    ),
)
ne = _comparison(
    "ne",
    "{x} != {y}",
    np.not_equal,
    takes_complex=True,
    doc=Doc(
        "Whether elements differ: ``input != other``. NaN differs from everything.",
        "tg.ne(tg.tensor([1, 2]), tg.tensor([1, 3]))",
        "tensor([False,  True])",
    ),
)
lt = _comparison(
    "lt",
    "{x} < {y}",
    np.less,
    doc=Doc(
        "Whether ``input < other``, element by element; False for NaN.",
        "tg.lt(tg.tensor([1, 2, 3]), 2)",
        "tensor([ True, False, False])",
    ),
)
le = _comparison(
    "le",
    "{x} <= {y}",
    np.less_equal,
    doc=Doc(
        "Whether ``input <= other``, element by element; False for NaN.",
        "tg.le(tg.tensor([1, 2, 3]), 2)",
        "tensor([ True,  True, False])",
    ),
)
gt = _comparison(
    "gt",
    "{x} > {y}",
    np.greater,
    doc=Doc(
        "Whether ``input > other``, element by element; False for NaN.",
        "tg.gt(tg.tensor([1, 2, 3]), 2)",
        "tensor([False, False,  True])",
    ),
)
ge = _comparison(
    "ge",
    "{x} >= {y}",
    np.greater_equal,
    doc=Doc(
        "Whether ``input >= other``, element by element; False for NaN.",
        "tg.ge(tg.tensor([1, 2, 3]), 2)",
        "tensor([False,  True,  True])",
    ),
)

# Only NaN differs from itself; only infinities and NaN minus themselves are not zero. So one line serves every type.
isnan = _test(
    "isnan",
    "{x} != {x}",
    np.isnan,
    doc=Doc(
        "Whether elements are NaN; a complex number is if one of its parts is.",
        'tg.isnan(tg.tensor([1., float("nan")]))',
        "tensor([False,  True])",
    ),
)
isfinite = _test(
    "isfinite",
    "{x} - {x} == 0",
    np.isfinite,
    doc=Doc(
        "Whether elements are neither infinite nor NaN; of a complex number both parts.",
        'tg.isfinite(tg.tensor([1., float("inf"), float("nan")]))',
        "tensor([ True, False, False])",
    ),
)
isinf = _test(
    "isinf",
    "({x} == {x}) & ({x} - {x} != 0)",
    np.isinf,
    doc=Doc(
        "Whether elements are plus or minus infinity; a complex number is if one of its parts is.",
        'tg.isinf(tg.tensor([1., float("-inf"), float("nan")]))',
        "tensor([False,  True, False])",
    ),
)

# The branch that is not taken gets an exact zero, so a NaN there cannot leak into the gradient.
#: From how many elements on choices are made of bits: numpy's loop has a branch for each element.
_MANY = 8192
_BITS = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def _where(condition: Any, x: Any, y: Any) -> Any:
    """``np.where`` for operands of one type, without a branch for each of many elements."""
    bits = _BITS.get(x.dtype.itemsize)
    if condition.size < _MANY or bits is None or x.dtype.kind == "c":
        return np.where(condition, x, y)
    other = y.view(bits)
    chosen = (x.view(bits) ^ other) & np.negative(condition.view(np.int8)).astype(bits)
    chosen ^= other
    return chosen.view(x.dtype)


where = pointwise(
    "where",
    inputs=("condition", "x", "y"),
    unpromoted=1,
    takes_complex=True,
    c="{condition} ? {x} : {y}",
    eval=_where,
    vjp={
        "condition": NO_GRADIENT,
        "x": lambda g, condition: where(condition, g, 0),
        "y": lambda g, condition: where(condition, 0, g),
    },
)
