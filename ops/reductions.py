"""Folds over axes. ``axes`` is a sorted tuple of non-negative ints; folded axes disappear from the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .comparison import eq, where
from .complex_numbers.refusals import refuse_complex
from .core import NO_GRADIENT, Kernel, NoGradient, Primitive, Reduction, Rule, bind, current, define
from .movement import broadcast_along, reshape, transpose
from .pointwise import cast
from .scans import products_of_others
from .types import FLOATING, DType, Type, bool_, int64

Axes = tuple[int, ...]
SHORT, MANY = 8, 4096


def _folded(shape: tuple[int, ...], axes: Axes) -> tuple[int, ...]:
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)


def _refuse_bool(name: str, x: Type) -> None:
    if x.dtype is bool_:
        raise TypeError(f"{name} folds numbers, got {x}; cast to int64 first, or fold with any or all")


def _drifts(x: np.ndarray, axes: Axes) -> bool:
    """True where numpy would add many float32 one after the other: it sums in pairs along the fastest axis only."""
    shape, strides, dense, count = x.shape, x.strides, x.itemsize, 1
    for axis in axes:
        if strides[axis] != dense:
            count *= shape[axis]
    return count > 128


def _ends_in_short_rows(x: np.ndarray, axes: Axes) -> bool:
    """True for many rows of so few elements that numpy, which begins anew with each row, is slow; not of types for
    which it accumulates in another one, or in pairs."""
    if not axes or axes[-1] != x.ndim - 1 or x.strides[-1] != x.itemsize:
        return False
    return 1 < x.shape[-1] < SHORT and x.dtype.kind in "fiu" and x.itemsize >= 4


def _along_rows(fold: np.ufunc, x: np.ndarray) -> np.ndarray:
    """The rows of `x` folded, element by element in their order, as numpy does with fewer than `SHORT`."""
    out: np.ndarray = fold(x[..., 0], x[..., 1])
    for place in range(2, x.shape[-1]):
        fold(out, x[..., place], out=out)
    return out


def _fold(
    name: str,
    fold: np.ufunc,
    lower: Reduction,
    vjp: Rule | NoGradient,
    type: Callable[[Type, Axes], Type] | None = None,
) -> Primitive:
    def same_type(x: Type, axes: Axes) -> Type:
        _refuse_bool(name, x)
        return Type(x.dtype, _folded(x.shape, axes))

    reduce: Callable[..., Any] = fold.reduce

    def evaluate(x: np.ndarray, axes: Axes, keepdims: bool = False) -> Any:
        if x.size >= MANY and _ends_in_short_rows(x, axes):
            x = _along_rows(fold, x)[..., None] if keepdims else _along_rows(fold, x)
            axes = axes[:-1]
            if not axes:
                return x
        if fold is np.add and x.dtype.itemsize == 4 and x.dtype.kind == "f" and _drifts(x, axes):
            return reduce(x, axis=axes, dtype=np.float64, keepdims=keepdims).astype(x.dtype)
        return reduce(x, axis=axes, dtype=x.dtype, keepdims=keepdims)

    return define(name, ("x",), type=type or same_type, eval=evaluate, lower=lower, vjp={"x": vjp})


sum_primitive = _fold(
    "sum",
    np.add,
    Reduction("add", "0", "{acc} + {x}"),
    lambda g, x_type, axes: broadcast_along(g, axes, x_type.shape),
)


def sum(x: Any, axes: Axes) -> Any:
    """The sum over `axes`, in x's own type (integers are widened by the caller)."""
    return bind(sum_primitive, x, axes=axes)


def sum_dtype(dtype: DType) -> DType:
    """The type PyTorch sums in: int64 for bool and integers, the same for floats."""
    return dtype if dtype.category >= FLOATING else int64


def _prod_rule(g: Any, x: Any, x_type: Type, axes: Axes) -> Any:
    return broadcast_along(g, axes, x_type.shape) * _products_of_other_elements(x, x_type, axes)


def _products_of_other_elements(x: Any, of: Type, axes: Axes) -> Any:
    """For each element the product of the others that are folded with it: out / x, also where x is 0."""
    kept = tuple(axis for axis in range(of.ndim) if axis not in axes)
    last = transpose(x, (*kept, *axes))
    shape = tuple(of.shape[axis] for axis in (*kept, *axes))
    others = products_of_others(reshape(last, (*_folded(of.shape, axes), _extent(of.shape, axes))), len(kept))
    back = tuple(int(i) for i in np.argsort((*kept, *axes)))
    return transpose(reshape(others, shape), back)


def _extent(shape: tuple[int, ...], axes: Axes) -> int:
    return math.prod([int(shape[axis]) for axis in axes])


prod_primitive = _fold("prod", np.multiply, Reduction("mul", "1", "{acc} * {x}"), _prod_rule)


def prod(x: Any, axes: Axes) -> Any:
    """The product over `axes`, in x's own type (integers are widened by the caller)."""
    return bind(prod_primitive, x, axes=axes)


def _extreme(name: str, fold: np.ufunc, kind: str, init: str) -> Primitive:
    def extreme_type(x: Type, axes: Axes) -> Type:
        _refuse_bool(name, x)
        refuse_complex(name, x.dtype)
        _refuse_empty(name, x.shape, axes)
        return Type(x.dtype, _folded(x.shape, axes))

    def rule(g: Any, x: Any, out: Any, x_type: Type, axes: Axes) -> Any:
        """Ties share evenly; where the extreme is NaN nothing equals it, and 0 / 0 makes the gradient NaN."""
        hit = eq(x, broadcast_along(out, axes, x_type.shape))
        hits = sum(cast(hit, x_type.dtype), axes)
        return where(hit, broadcast_along(g, axes, x_type.shape), 0) / broadcast_along(hits, axes, x_type.shape)

    return _fold(name, fold, Reduction(kind, init, f"tg_{kind}{{f}}({{acc}}, {{x}})"), rule, extreme_type)


def _refuse_empty(name: str, shape: tuple[int, ...], axes: Axes) -> None:
    for axis in axes:
        if shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


amax_primitive = _extreme("amax", np.maximum, "max", "LOWEST")
amin_primitive = _extreme("amin", np.minimum, "min", "HIGHEST")


def amax(x: Any, axes: Axes) -> Any:
    """The largest element over `axes`, NaN if there is one; IndexError where there are no elements."""
    return _extreme_of(x, axes, amax_primitive, any_primitive)


def amin(x: Any, axes: Axes) -> Any:
    """The smallest element over `axes`, NaN if there is one; IndexError where there are no elements."""
    return _extreme_of(x, axes, amin_primitive, all_primitive)


def _extreme_of(x: Any, axes: Axes, of_numbers: Primitive, of_truth: Primitive) -> Any:
    """The largest of truth values is whether any is true, the smallest whether all are."""
    of = current().type_of(x)
    refuse_complex(of_numbers.name, of.dtype)
    _refuse_empty(of_numbers.name, of.shape, axes)
    return bind(of_truth if of.dtype is bool_ else of_numbers, x, axes=axes)


def _truth(x: Type, axes: Axes) -> Type:
    if x.dtype is not bool_:
        raise TypeError(f"any and all fold bool, got {x}; cast to bool first")
    return Type(bool_, _folded(x.shape, axes))


any_primitive = _fold("any", np.logical_or, Reduction("or", "0", "{acc} | {x}"), NO_GRADIENT, _truth)
all_primitive = _fold("all", np.logical_and, Reduction("and", "1", "{acc} & {x}"), NO_GRADIENT, _truth)


def any(x: Any, axes: Axes) -> Any:
    """Whether some element over `axes` is not 0; False where there are none."""
    return bind(any_primitive, _as_truth(x), axes=axes)


def all(x: Any, axes: Axes) -> Any:
    """Whether every element over `axes` is not 0; True where there are none."""
    return bind(all_primitive, _as_truth(x), axes=axes)


def _as_truth(x: Any) -> Any:
    return x if current().type_of(x).dtype is bool_ else cast(x, bool_)


def _position(name: str, find: Callable[..., Any]) -> Primitive:
    def position_type(x: Type, axis: int) -> Type:
        refuse_complex(name, x.dtype)
        _refuse_empty(name, x.shape, (axis,))
        return Type(int64, _folded(x.shape, (axis,)))

    return define(name, ("x",), type=position_type, eval=find, lower=Kernel(name), vjp=NO_GRADIENT)


argmax_primitive = _position("argmax", np.argmax)
argmin_primitive = _position("argmin", np.argmin)


def argmax(x: Any, axis: int) -> Any:
    """Where along `axis` the largest element stands first, as int64; NaN counts as the largest."""
    refuse_complex("argmax", current().type_of(x).dtype)
    return bind(argmax_primitive, x, axis=axis)


def argmin(x: Any, axis: int) -> Any:
    """Where along `axis` the smallest element stands first, as int64; NaN counts as the smallest."""
    refuse_complex("argmin", current().type_of(x).dtype)
    return bind(argmin_primitive, x, axis=axis)
