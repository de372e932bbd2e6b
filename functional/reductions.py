"""Folds over axes, with PyTorch's arguments."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..autograd.function import Operation
from ..ops import arithmetic, comparison, elementary, movement
from ..ops import reductions as ops
from ..ops.comparison import eq, where
from ..ops.complex_numbers import parts
from ..ops.core import switch
from ..ops.pointwise import cast
from ..ops.types import FLOATING, DType, get_default_dtype, real_of, uint8
from ..tape.grad_mode import no_grad
from ..tensors.arguments import Shape, axes_of
from ..tensors.autocasting import full_precision
from ..tensors.composite import OUT, SAVING_NOTHING, composite, part, relabel
from ..tensors.fusion import fused
from ..tensors.short_floats import rounded_once
from ..tracing.user_warning import warn_user
from .forms import folds as forms
from .statistics.at_once import sum_at_once

if TYPE_CHECKING:
    from ..tensors.calling.annotations import Axes
    from ..tensors.tensor import Tensor


def in_dtype(x: Any, dtype: DType | None) -> Any:
    """`x`, cast where `dtype` asks for another type."""
    return x if dtype is None or x.dtype is dtype else cast(x, dtype)


def kept(x: Any, shape: Shape, axes: Shape) -> Any:
    """`x`, folded over `axes` of `shape`, with these axes back as extents of 1."""
    return movement.reshape(x, tuple(1 if axis in axes else n for axis, n in enumerate(shape)))


def folded(op: Callable[[Any, Shape], Any], x: Any, dim: Any, keepdim: bool) -> Any:
    shape = x.ndarray.shape
    axes = axes_of(dim, len(shape))
    out = op(x, axes)
    return kept(out, shape, axes) if keepdim and shape else out


def _titled(out: Any, x: Any, name: str, dim: Any, saved: Sequence[Any] = ()) -> Any:
    if getattr(out, "_node", None) is not None:
        relabel(out, f"{name}Backward{0 if dim is None else 1}", (x,), saved)
    return out


def sum(input: Tensor, dim: Axes | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The sum over the axes `dim` (all of them by default), computed in `dtype` where that is given.

    Bool and integers are summed in int64, other types in their own. With `keepdim` the axes stay, with an extent of 1.
    IndexError for an axis that is not there. The sum of no elements is 0.

    >>> import tracegrad as tg
    >>> tg.sum(tg.tensor([[1, 2], [3, 4]]), dim=0)
    tensor([4, 6])
    """
    if dtype is None and (found := sum_at_once(input, dim, keepdim)) is not None:
        return found
    keeps = dtype is None and input.ndarray.dtype.kind == "f"
    if keeps and dim is None and not keepdim:
        return ops.sum(input, tuple(range(input.ndarray.ndim)))  # its node is called and shown so already
    x = input if keeps else in_dtype(input, dtype or ops.sum_dtype(input.dtype))
    return _titled(folded(ops.sum, x, dim, keepdim), input, "Sum", dim)


@full_precision
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The product over the axis `dim` (of all elements by default), computed in `dtype` where that is given.

    Bool and integers are multiplied in int64, other types in their own. With `keepdim` the axis stays, with an extent
    of 1. The product of no elements is 1.

    >>> import tracegrad as tg
    >>> tg.prod(tg.tensor([[1., 2.], [3., 4.]]), dim=1)
    tensor([ 2., 12.])
    """
    x = in_dtype(input, dtype or ops.sum_dtype(input.dtype))
    out = folded(ops.prod, x if dim is None else movement.by_rows(x), dim, keepdim)
    return _titled(out, input, "Prod", dim, [out])


def _count(x: Any, dim: Any) -> int:
    if dim is None:
        return int(x.ndarray.size)
    n = 1
    for axis in axes_of(dim, x.ndarray.ndim):
        n *= x.ndarray.shape[axis]
    return n


def refuse_mean_of_integers(*operands: Any) -> None:
    """RuntimeError if no operand is floating: a mean of integers has no type of its own."""
    if not builtins.any(x.dtype.category >= FLOATING for x in operands):
        x = operands[0]
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {x.dtype.title}. Convert it first, e.g. with .float()."
        )


def _mean(x: Any, axes: Shape, keepdim: bool, shape: Shape) -> Any:
    return folded(ops.sum, x, axes, keepdim) / _count(x, axes)


def _mean_rule(g: Any, nothing: None, axes: Shape, keepdim: bool, shape: Shape) -> Any:
    each = g / math.prod([shape[axis] for axis in axes])
    return movement.broadcast(each, shape) if keepdim else movement.broadcast_along(each, axes, shape)


_MEANS = [fused(t, forms.mean, forms.mean_gradient, rule=_mean_rule, one_kernel=False)(_mean) for t in SAVING_NOTHING]


@rounded_once
def mean(input: Tensor, dim: Axes | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The sum over the axes `dim` (all of them by default) divided by the number of elements.

    With `keepdim` the axes stay, with an extent of 1. RuntimeError for integers and bool, unless `dtype`, in which it
    is computed, is a floating type. The mean of no elements is NaN.

    >>> import tracegrad as tg
    >>> tg.mean(tg.tensor([[1., 2.], [3., 5.]]), dim=0)
    tensor([2.0000, 3.5000])
    """
    x = in_dtype(input, dtype)
    if x.ndarray.dtype.kind != "f":
        refuse_mean_of_integers(x)
    # Programs see the gradient of a leaf: it has memory of its own, as PyTorch's. Others are used up in between.
    if getattr(x, "_requires", False):
        x = movement.by_rows(x)
    if x is not input or switch.stack:  # a recording takes operations, which know no sizes
        return _titled(folded(ops.sum, x, dim, keepdim) / _count(x, dim), input, "Mean", dim)
    shape = x.ndarray.shape
    return _MEANS[dim is not None](x, axes_of(dim, len(shape)), bool(keepdim), shape)


def spread_options(dim: Any, unbiased: Any, correction: Any) -> tuple[Any, float]:
    """The axes, and what is taken off the number of elements; a bool in the place of `dim` is `unbiased`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        return dim, 1 if unbiased is None else int(unbiased)
    if unbiased is not None or not isinstance(correction, (bool, int, float)):
        raise TypeError(
            f"var() received an invalid combination of arguments: correction={correction!r} is a number and stands "
            "without 'unbiased'"
        )
    return dim, correction


@rounded_once
def var(
    input: Tensor,
    dim: Axes | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The variance over `dim`: squared distances from the mean, summed, divided by their number less `correction`.

    `correction` is any number, by default 1; ``unbiased=False``, also in the place of `dim`, is a correction of 0.
    Where nothing is left to divide by, the result is infinite or NaN, with a UserWarning. Complex numbers have a real
    variance. RuntimeError for integers.

    >>> import tracegrad as tg
    >>> tg.var(tg.tensor([1., 2., 4.]), correction=0.5)
    tensor(1.8667)
    """
    dim, taken = spread_options(dim, unbiased, correction)
    return _spread_of("var", _var, input, dim, keepdim, taken)


def _spread_of(name: str, computed: Any, x: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    if x.dtype.category < FLOATING:
        raise RuntimeError("std and var only support floating point and complex dtypes. Convert: x.float()")
    count = _count(x, dim)
    if count <= correction:
        warn_user(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
        )
    return computed(x, axes_of(dim, x.ndarray.ndim), bool(keepdim), count - correction, computed is _std)


def _squares(x: Any) -> Any:
    """The squared sizes of complex numbers."""
    re, im = parts.real(x), parts.imag(x)
    return re * re + im * im


def _root(squares: Any) -> Any:
    """The square root whose derivative at 0 is 0."""
    zero = eq(squares, 0)
    return where(zero, 0.0, elementary.sqrt(where(zero, 1.0, squares)))


def _square_distance(x: Any, axes: Shape, keepdim: bool, divisor: float, is_root: bool) -> Any:
    """The mean square distance from the mean, or its root."""
    centred = x - folded(ops.sum, x, axes, True) / _count(x, axes)
    squares = _squares(centred) if x.dtype.is_complex else centred * centred
    out = folded(ops.sum, squares, axes, keepdim) / (divisor if divisor > 0 else 0)
    return _root(out) if is_root else out


_var = fused("VarBackward0", forms.spread, forms.spread_gradient, watched={0: (0,)}, one_kernel=False)(_square_distance)
_std = fused(
    "StdBackward0", forms.spread, forms.spread_gradient, watched={0: (0,)}, watches_value=True, one_kernel=False
)(_square_distance)


@rounded_once
def std(
    input: Tensor,
    dim: Axes | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The standard deviation over `dim`: the square root of `var`, whose arguments and errors it has.

    Where it is 0, its gradient is 0.

    >>> import tracegrad as tg
    >>> tg.std(tg.tensor([1., 3.]))
    tensor(1.4142)
    """
    dim, taken = spread_options(dim, unbiased, correction)
    return _spread_of("std", _std, input, dim, keepdim, taken)


class _Count(Operation):
    """How many elements are not 0, as a floating number; the gradient is none at all, as in PyTorch."""

    @staticmethod
    def forward(ctx: Any, x: Any, dim: Any, keepdim: bool) -> Any:
        return folded(ops.sum, cast(comparison.ne(x, 0), real_of(x.dtype)), dim, keepdim)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, None, None


def _power_norm(x: Any, p: float, dim: Any, keepdim: bool) -> Any:
    """The root of a sum of powers. Zeros are kept out of both, whose derivatives are infinite there."""
    zero = eq(x, 0)
    powers = elementary.pow(where(zero, 1.0, arithmetic.abs(x)), p)
    summed = folded(ops.sum, where(zero, 0.0 if p > 0 else float("inf"), powers), dim, keepdim)
    empty = eq(summed, 0)
    return where(empty, 0.0, elementary.pow(where(empty, 1.0, summed), 1 / p))


@fused(
    "LinalgVectorNormBackward0",
    forms.euclidean,
    forms.euclidean_gradient,
    checked={0: (0,)},
    watches_value=True,
    one_kernel=False,
)
def _euclidean(x: Any, axes: Shape, keepdim: bool) -> Any:
    return _root(folded(ops.sum, _squares(x) if x.dtype.is_complex else x * x, axes, keepdim))


@rounded_once
@part
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: DType | None = None) -> Any:
    """The p-norm of the elements over `dim` (2 unless `p` says otherwise). Where it is 0, its gradient is 0."""
    x = in_dtype(input, dtype)
    if x.dtype.category < FLOATING:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype!r}; call .float()"
        )
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    if isinstance(p, (list, tuple, dict, set)):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(p).__name__}")
    if p in ("fro", None, 2):
        out = _euclidean(x, axes_of(dim, x.ndarray.ndim), bool(keepdim))
        if x is not input:
            relabel(out, "LinalgVectorNormBackward0", (input,))
        return out
    if p == 1:
        out = folded(ops.sum, arithmetic.abs(x), dim, keepdim)
    elif p in (float("inf"), float("-inf")):
        out = folded(ops.amax if p > 0 else ops.amin, arithmetic.abs(x), dim, keepdim)
    elif p == 0:
        out = _Count.apply(x, dim, keepdim)
    else:
        out = _power_norm(x, p, dim, keepdim)
    relabel(out, "LinalgVectorNormBackward0", (input,), [] if p == 0 else [out])
    return out


# ------------------------------------------------------------------------------------------------- truth and logsumexp


def all(input: Tensor, dim: Axes | None = None, keepdim: bool = False) -> Tensor:
    """Whether every element over `dim` (all axes by default) is not 0, as bool; as uint8 of uint8.

    With `keepdim` the axes stay, with an extent of 1. Of no elements it is True, of no axes (``()``) one for each.

    >>> import tracegrad as tg
    >>> tg.all(tg.tensor([[1, 2], [0, 3]]), dim=1)
    tensor([ True, False])
    """
    return _truth(_folded_truth(ops.all, input, dim, keepdim), input)


def any(input: Tensor, dim: Axes | None = None, keepdim: bool = False) -> Tensor:
    """Whether some element over `dim` (all axes by default) is not 0, as bool; as uint8 of uint8.

    With `keepdim` the axes stay, with an extent of 1. Of no elements it is False, of no axes (``()``) one for each.

    >>> import tracegrad as tg
    >>> tg.any(tg.tensor([[0, 2], [0, 0]]), dim=1)
    tensor([ True, False])
    """
    return _truth(_folded_truth(ops.any, input, dim, keepdim), input)


def _folded_truth(op: Callable[[Any, Shape], Any], input: Any, dim: Any, keepdim: bool) -> Any:
    """Over no axes at all (an empty `dim`), each element by itself, unlike in sums."""
    if isinstance(dim, (tuple, list)) and not dim:
        return comparison.ne(input, 0)
    return folded(op, input, dim, keepdim)


def _truth(found: Any, input: Any) -> Any:
    return cast(found, uint8) if input.dtype is uint8 else found


def count_nonzero(input: Tensor, dim: Axes | None = None) -> Tensor:
    """How many elements over `dim` (all axes by default) are not 0, as int64; NaN counts.

    >>> import tracegrad as tg
    >>> tg.count_nonzero(tg.tensor([[0., 2.], [1., 3.]]), dim=0)
    tensor([1, 2])
    """
    return sum(comparison.ne(input, 0), dim)


@rounded_once
@part
@composite("LogsumexpBackward0", {"input": ("input",), OUT: ("input",)})
def logsumexp(input: Tensor, dim: Axes, keepdim: bool = False) -> Tensor:
    """``log(sum(exp(input)))`` over `dim`, without overflow; of no elements minus infinity.

    Bool and integers give the default type, others keep theirs. With `keepdim` the axes stay, with an extent of 1.

    >>> import tracegrad as tg
    >>> tg.logsumexp(tg.tensor([1000., 1000.]), dim=0)
    tensor(1000.6932)
    """
    if input.dtype.category < FLOATING:
        input = cast(input, get_default_dtype())
    if not input.ndarray.size:
        return elementary.log(folded(ops.sum, elementary.exp(input), dim, keepdim))
    with no_grad():
        # Shifting by the largest element changes nothing but the range; an infinite one cannot be subtracted.
        top = folded(ops.amax, parts.real(input), dim, True)
        top = where(comparison.isinf(top), 0.0, top)
    summed = folded(ops.sum, elementary.exp(input - top), dim, keepdim)
    return elementary.log(summed) + movement.reshape(top, summed.ndarray.shape)
