"""Running sums and products along an axis, and the order that sorts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .complex_numbers.refusals import refuse_complex
from .core import NO_GRADIENT, Kernel, bind, current, define
from .memory import by_rows
from .movement import flip, pad, slice
from .types import Type, int64


def _same_type(x: Type, axis: int) -> Type:
    return x


def _running_sums(x: np.ndarray, axis: int) -> np.ndarray:
    """Summed in float64 where x is float32 (PyTorch), so that the roundings of a long row do not add up."""
    wide = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}.get(x.dtype.kind, x.dtype)
    return by_rows(_from_zero(x, axis, wide).astype(x.dtype, copy=False))


def _from_zero(x: np.ndarray, axis: int, dtype: np.dtype) -> np.ndarray:
    """Sums that begin with 0, as C's and PyTorch's do: of a row of -0 they are 0, where numpy's are -0."""
    sums = np.cumsum(x, axis, dtype=dtype)
    return sums if dtype.kind in "biu" else np.add(sums, 0, out=sums)


cumsum_primitive = define(
    "cumsum",
    ("x",),
    type=_same_type,
    eval=_running_sums,
    lower=Kernel("cumsum"),
    vjp={"x": lambda g, axis: flip(cumsum(flip(g, (axis,)), axis), (axis,))},
)


def cumsum(x: Any, axis: int) -> Any:
    """The sum of each element and those before it along `axis`, in x's own type (the caller widens integers)."""
    return bind(cumsum_primitive, x, axis=axis)


cumsum_rounded_primitive = define(
    "cumsum_rounded",
    ("x",),
    type=_same_type,
    eval=lambda x, axis: by_rows(_from_zero(x, axis, x.dtype)),
    lower=Kernel("cumsum_rounded"),
    vjp={"x": lambda g, axis: flip(cumsum_rounded(flip(g, (axis,)), axis), (axis,))},
)


def cumsum_rounded(x: Any, axis: int) -> Any:
    """`cumsum` with each sum rounded to x's own type before the next is made of it."""
    return bind(cumsum_rounded_primitive, x, axis=axis)


def cumprod(x: Any, axis: int) -> Any:
    """The product of each element and those before it along `axis`.

    In doubling steps, so that it is made of ops whose derivatives hold at zeros too.
    """
    extent = current().type_of(x).shape[axis]
    distance = 1
    while distance < extent:
        x = x * _shifted(x, axis, distance)
        distance *= 2
    return x if extent > 1 else x * 1  # a result has memory of its own


def products_of_others(x: Any, axis: int) -> Any:
    """For each element the product of all others along `axis`: those before it times those behind it."""
    before = _shifted(cumprod(x, axis), axis, 1)
    behind = flip(_shifted(cumprod(flip(x, (axis,)), axis), axis, 1), (axis,))
    return before * behind


def _shifted(x: Any, axis: int, distance: int) -> Any:
    """x moved towards the end of `axis`; ones come in at the beginning."""
    shape = current().type_of(x).shape
    kept = tuple(max(n - distance, 0) if a == axis else n for a, n in enumerate(shape))
    start = slice(x, (0,) * len(shape), kept, (1,) * len(shape))
    low = tuple(min(distance, n) if a == axis else 0 for a, n in enumerate(shape))
    return pad(start, low, (0,) * len(shape), 1)


def _order_type(x: Type, axis: int, descending: bool, count: int | None = None) -> Type:
    extent = x.shape[axis] if count is None else count
    return Type(int64, (*x.shape[:axis], extent, *x.shape[axis + 1 :]))


def _order(x: np.ndarray, axis: int, descending: bool, count: int | None = None) -> np.ndarray:
    if descending:
        # Turned round before and after, equal elements keep their order and NaN comes first.
        backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
        order = np.flip(x.shape[axis] - 1 - backwards, axis).copy()
    else:
        order = np.argsort(x, axis, kind="stable")
    return order if count is None else np.take(order, np.arange(count), axis)


argsort_primitive = define("argsort", ("x",), type=_order_type, eval=_order, lower=Kernel("argsort"), vjp=NO_GRADIENT)


def argsort(x: Any, axis: int, descending: bool = False, count: int | None = None) -> Any:
    """The positions along `axis` that sort x, the first `count` of them if that is given, as int64.

    Equal elements keep their order; NaN is the largest.
    """
    refuse_complex("argsort", current().type_of(x).dtype)
    if count is None:
        return bind(argsort_primitive, x, axis=axis, descending=descending)
    return bind(argsort_primitive, x, axis=axis, descending=descending, count=count)


def _running_place(extreme: np.ufunc) -> Any:
    def evaluate(x: np.ndarray, axis: int) -> np.ndarray:
        best = extreme.accumulate(x, axis=axis) if x.size else x
        is_best = x == best if x.dtype.kind != "f" else (x == best) | np.isnan(x)
        shape = [-1 if a == axis else 1 for a in range(x.ndim)]
        places = np.where(is_best, np.arange(x.shape[axis]).reshape(shape), 0)
        return by_rows(np.maximum.accumulate(places, axis=axis)) if x.size else places

    return evaluate


def _running_type(x: Type, axis: int) -> Type:
    return Type(int64, x.shape)


running_argmax_primitive, running_argmin_primitive = (
    define(name, ("x",), type=_running_type, eval=_running_place(extreme), lower=Kernel(name), vjp=NO_GRADIENT)
    for name, extreme in (("running_argmax", np.maximum), ("running_argmin", np.minimum))
)


def running_argmax(x: Any, axis: int) -> Any:
    """Where the largest of each element and those before it along `axis` stands: the last one of equals, or of NaN."""
    return bind(running_argmax_primitive, x, axis=axis)


def running_argmin(x: Any, axis: int) -> Any:
    """Where the smallest of each element and those before it along `axis` stands, likewise."""
    return bind(running_argmin_primitive, x, axis=axis)
