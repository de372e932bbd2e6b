"""Elements folded into places that are data: products and extremes, in the order in which the source lies.

Like `scatter_add`, which adds. Where `include_self` is False, what an index names begins with its sources alone. The
derivatives are PyTorch's: an extreme's gradient is shared evenly by all that equal it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comparison import eq, where
from ..core import NO_GRADIENT, Kernel, Primitive, Rule, bind, current, define
from ..elementary import sqrt
from ..indexing import check_element_range, elements, gather, scatter, scatter_add, scattered
from ..logic import logical_and, logical_not
from ..pointwise import cast
from ..sources import zeros
from ..types import Type, bool_


def _folded(x: Type, index: Type, src: Type, axis: int, include_self: bool) -> Type:
    if x.dtype is bool_:
        raise TypeError(f"numbers are folded into places, got {x}; cast to int64 first")
    return scattered(x, index, src, axis)


def _define(kind: str, fold: np.ufunc, vjp: dict[str, Rule]) -> Primitive:
    def evaluate(x: np.ndarray, index: np.ndarray, src: np.ndarray, axis: int, include_self: bool) -> np.ndarray:
        if src.shape != index.shape:
            raise ValueError("the source does not fit")  # the type rule has the words
        out = x.copy("C")
        places = elements(x, index, axis)
        if not include_self:
            out[places] = 1 if kind == "prod" else src  # any of the sources: an extreme may be folded twice
        fold.at(out, places, src)
        return out

    return define(
        f"scatter_{kind}",
        ("x", "index", "src"),
        type=_folded,
        eval=evaluate,
        lower=Kernel(f"scatter_{kind}"),
        check=check_element_range,
        vjp={**vjp, "index": NO_GRADIENT},
        backward_name="ScatterReduceBackward0",
    )


def _kept(g: Any, index: Any, axis: int, include_self: bool) -> Any:
    """What reaches x: nothing of it is left at places that are written without it."""
    if include_self:
        return g
    of = current().type_of(index)
    return scatter(g, index, zeros(Type(current().type_of(g).dtype, of.shape)), axis)


# --------------------------------------------------------------------------------------------------------- extremes


def _hits(x: Any, out: Any) -> Any:
    return cast(eq(x, out), current().type_of(out).dtype)


def _share(g: Any, x: Any, index: Any, src: Any, out: Any, axis: int) -> Any:
    """The gradient of each place divided by how many equal the extreme there; where it is NaN none does: 0 / 0.

    As in PyTorch, x counts even where it is not included.
    """
    return g / scatter_add(_hits(x, out), index, _hits(src, gather(out, index, axis)), axis)


def _extreme_of_x(g: Any, x: Any, index: Any, src: Any, out: Any, axis: int, include_self: bool) -> Any:
    share = _share(g, x, index, src, out, axis)
    return _kept(_hits(x, out) * share, index, axis, include_self)


def _extreme_of_src(g: Any, x: Any, index: Any, src: Any, out: Any, axis: int) -> Any:
    share = _share(g, x, index, src, out, axis)
    return _hits(src, gather(out, index, axis)) * gather(share, index, axis)


# --------------------------------------------------------------------------------------------------------- products


def _product_of_x(g: Any, x: Any, index: Any, src: Any, axis: int, include_self: bool) -> Any:
    filled = where(eq(x, 0), 1, x)
    others = scatter_prod(filled, index, src, axis, include_self)
    return _kept(g * others / filled, index, axis, include_self)


def _product_of_src(g: Any, x: Any, index: Any, src: Any, out: Any, axis: int, include_self: bool) -> Any:
    """``out / src``; where the source is a place's only 0, what the others multiply to.

    Several zeros at one place have no second derivative (in PyTorch, an error): it is NaN there.
    """
    zero, of = eq(src, 0), current().type_of(x)
    zeros_there = scatter_add(zeros(of), index, cast(zero, of.dtype), axis)
    alone = logical_and(zero, eq(gather(zeros_there, index, axis), 1))
    without = scatter_prod(x, index, where(alone, 1, src), axis, include_self)
    of_others = where(alone, gather(g * without, index, axis), gather(g * out, index, axis) / where(zero, 1, src))
    several = logical_and(zero, logical_not(alone))
    return where(several, sqrt(where(several, src * src, 1)), of_others)


_RULES_OF_EXTREMES: dict[str, Rule] = {"x": _extreme_of_x, "src": _extreme_of_src}
scatter_prod_primitive = _define("prod", np.multiply, {"x": _product_of_x, "src": _product_of_src})
scatter_amax_primitive = _define("amax", np.maximum, _RULES_OF_EXTREMES)
scatter_amin_primitive = _define("amin", np.minimum, _RULES_OF_EXTREMES)


def scatter_prod(x: Any, index: Any, src: Any, axis: int, include_self: bool = True) -> Any:
    """x with ``x[index[i, j], j] *= src[i, j]`` (axis 0). Errors as in `gather`; TypeError for bool."""
    return bind(scatter_prod_primitive, x, index, src, axis=axis, include_self=include_self)


def scatter_amax(x: Any, index: Any, src: Any, axis: int, include_self: bool = True) -> Any:
    """x with the largest of itself and its sources at each place, NaN where one is; see `scatter_prod`."""
    return bind(scatter_amax_primitive, x, index, src, axis=axis, include_self=include_self)


def scatter_amin(x: Any, index: Any, src: Any, axis: int, include_self: bool = True) -> Any:
    """x with the smallest of itself and its sources at each place, NaN where one is; see `scatter_prod`."""
    return bind(scatter_amin_primitive, x, index, src, axis=axis, include_self=include_self)
