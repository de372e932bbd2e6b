"""Folds over axes, with PyTorch's arguments."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.function import Function
from ..ops import arithmetic, comparison, elementary, indexing, logic, movement
from ..ops import reductions as ops
from ..ops.comparison import eq, where
from ..ops.pointwise import cast
from ..ops.types import DType, bool_
from ..tape.grad_mode import no_grad
from ..tensors.arguments import Shape, axes_of, axis_of
from ..tensors.composite import OUT, composite, part, relabel
from ..tensors.tensor import Tensor
from . import return_types


def in_dtype(x: Any, dtype: DType | None) -> Any:
    """`x`, cast where `dtype` asks for another type."""
    return x if dtype is None or x.dtype is dtype else cast(x, dtype)


def kept(x: Any, shape: Shape, axes: Shape) -> Any:
    """`x`, folded over `axes` of `shape`, with these axes back as extents of 1."""
    return movement.reshape(x, tuple(1 if axis in axes else n for axis, n in enumerate(shape)))


def _fold(op: Callable[[Any, Shape], Any], x: Any, dim: Any, keepdim: bool) -> Any:
    shape = x.ndarray.shape
    axes = axes_of(dim, len(shape))
    out = op(x, axes)
    return kept(out, shape, axes) if keepdim and shape else out


def _titled(out: Any, x: Any, name: str, dim: Any, saved: Sequence[Any] = ()) -> Any:
    relabel(out, f"{name}Backward{0 if dim is None else 1}", (x,), saved)
    return out


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Any:
    """The sum over `dim` (all axes without it); bool and integers are summed in int64."""
    x = in_dtype(input, dtype or ops.sum_dtype(input.dtype))
    return _titled(_fold(ops.sum, x, dim, keepdim), input, "Sum", dim)


def prod(input: Any, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Any:
    """The product over `dim` (all axes without it); bool and integers are multiplied in int64."""
    x = in_dtype(input, dtype or ops.sum_dtype(input.dtype))
    out = _fold(ops.prod, x, dim, keepdim)
    return _titled(out, input, "Prod", dim, [out])


def _count(x: Any, dim: Any) -> int:
    n = 1
    for axis in axes_of(dim, x.ndarray.ndim):
        n *= x.ndarray.shape[axis]
    return n


def refuse_mean_of_integers(*operands: Any) -> None:
    """RuntimeError if no operand is floating: a mean of integers has no type of its own."""
    if not builtins.any(x.dtype.is_floating_point for x in operands):
        x = operands[0]
        name = "Bool" if x.dtype.category == 0 else "Long" if x.dtype.itemsize == 8 else "Int"
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {name}. Convert it first, e.g. with .float()."
        )


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Any:
    """The mean over `dim` (all axes without it). RuntimeError for integers, unless `dtype` is floating."""
    x = in_dtype(input, dtype)
    refuse_mean_of_integers(x)
    return _titled(_fold(ops.sum, x, dim, keepdim) / _count(x, dim), input, "Mean", dim)


def var(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: float | None = None
) -> Any:
    """The variance over `dim`; divided by n - 1, by n if not `unbiased`, or by n - `correction`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    correction = float(unbiased) if correction is None else correction
    return _titled(_variance("var", input, dim, keepdim, correction), input, "Var", None, [input])


def _variance(name: str, x: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    if not x.dtype.is_floating_point:
        raise RuntimeError("std and var only support floating point and complex dtypes. Convert: x.float()")
    count = _count(x, dim)
    if count <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
            UserWarning,
            stacklevel=3,
        )
    return _mean_square_distance(x, dim, keepdim, count, count - correction)


@part
def _mean_square_distance(x: Any, dim: Any, keepdim: bool, count: int, divisor: float) -> Any:
    centred = x - _fold(ops.sum, x, dim, True) / count
    return _fold(ops.sum, centred * centred, dim, keepdim) / (divisor if divisor > 0 else 0)


@part
def _root(squares: Any) -> Any:
    """The square root whose derivative at 0 is 0."""
    zero = eq(squares, 0)
    return where(zero, 0.0, elementary.sqrt(where(zero, 1.0, squares)))


def std(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: float | None = None
) -> Any:
    """The standard deviation over `dim`, see `var`. Where it is 0, its gradient is 0."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    correction = float(unbiased) if correction is None else correction
    out = _root(_variance("std", input, dim, keepdim, correction))
    return _titled(out, input, "Std", None, [input, out])


def var_mean(input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> tuple[Any, Any]:
    """`var` and `mean` together."""
    return var(input, dim, unbiased, keepdim), mean(input, dim, keepdim)


def std_mean(input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> tuple[Any, Any]:
    """`std` and `mean` together."""
    return std(input, dim, unbiased, keepdim), mean(input, dim, keepdim)


def _power_norm(x: Any, p: float, dim: Any, keepdim: bool) -> Any:
    """The root of a sum of powers. Zeros are kept out of both, whose derivatives are infinite there."""
    zero = eq(x, 0)
    powers = elementary.pow(where(zero, 1.0, arithmetic.abs(x)), p)
    summed = _fold(ops.sum, where(zero, 0.0 if p > 0 else float("inf"), powers), dim, keepdim)
    empty = eq(summed, 0)
    return where(empty, 0.0, elementary.pow(where(empty, 1.0, summed), 1 / p))


@part
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: DType | None = None) -> Any:
    """The p-norm of the elements over `dim` (2 unless `p` says otherwise). Where it is 0, its gradient is 0."""
    x = in_dtype(input, dtype)
    if not x.dtype.is_floating_point:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype!r}; call .float()"
        )
    if p in ("fro", None, 2):
        out = _root(_fold(ops.sum, x * x, dim, keepdim))
    elif p == 1:
        out = _fold(ops.sum, arithmetic.abs(x), dim, keepdim)
    elif p in (float("inf"), float("-inf")):
        out = _fold(ops.amax if p > 0 else ops.amin, arithmetic.abs(x), dim, keepdim)
    elif p == 0:
        out = _fold(ops.sum, cast(comparison.ne(x, 0), x.dtype), dim, keepdim)
    else:
        out = _power_norm(x, p, dim, keepdim)
    relabel(out, "LinalgVectorNormBackward0", (input,), [out])
    return out


@composite("RenormBackward0", {"input": ("input",)})
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """`input`, whose parts along `dim` are shrunk to the p-norm `maxnorm` where theirs is larger.

    RuntimeError for fewer than two axes, for `p` that is not positive, and for a negative `maxnorm`.

    >>> import tracegrad as tg
    >>> tg.renorm(tg.tensor([[3., 4.], [0.5, 0.]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.5000, 0.0000]])
    """
    ndim = input.ndarray.ndim
    if ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {ndim} dimensions")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got {p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    axis = axis_of(dim, ndim)
    size = norm(input, p, tuple(a for a in range(ndim) if a != axis), True)
    # The small number is PyTorch's.
    return input * where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


# --------------------------------------------------------------------------------------------------------- extremes


@composite("AmaxBackward0")
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The largest element over `dim`; ties share the gradient evenly."""
    return _fold(ops.amax, input, dim, keepdim)


@composite("AminBackward0")
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The smallest element over `dim`; ties share the gradient evenly."""
    return _fold(ops.amin, input, dim, keepdim)


class _Overall(Function):
    """The extreme of all elements. Ties share the gradient evenly; so do NaNs, where `amax` gives NaN."""

    @staticmethod
    def forward(ctx: Any, x: Any, fold: Callable[[Any, Shape], Any]) -> Any:
        out = fold(x, axes_of(None, x.ndarray.ndim))
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, out = ctx.saved_tensors
        hit = logic.logical_or(eq(x, out), comparison.isnan(x))
        return where(hit, g / sum(hit, dtype=g.dtype), 0), None


def _extreme(name: str, fold: Any, position: Any, pairwise: Any) -> Callable[..., Any]:
    title = name.capitalize()

    def extreme(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            if not input.ndarray.size:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                    "Specify the reduction dim with the 'dim' argument."
                )
            out = _Overall.apply(input, fold)
            relabel(out, f"{title}Backward1", (input,))
            return out
        if isinstance(dim, Tensor):
            return pairwise(input, dim)
        indices = _position(position, input, dim, True)
        values = along(input, indices, dim)
        if not keepdim and input.ndarray.ndim:
            values, indices = (_without(v, axis_of(dim, input.ndarray.ndim)) for v in (values, indices))
        relabel(values, f"{title}Backward0", (input,))
        return getattr(return_types, name)(values, indices)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = (
        f"The {name} of all elements; with an axis, (values, indices) along it; with a tensor, {name}imum(input, it)."
    )
    return extreme


def _without(x: Any, axis: int) -> Any:
    return movement.reshape(x, x.ndarray.shape[:axis] + x.ndarray.shape[axis + 1 :])


def along(x: Any, indices: Any, dim: int) -> Any:
    """The elements of `x` at `indices` along `dim`; both may be 0-d, which counts as a row of one element."""
    if x.ndarray.ndim <= 1 and indices.ndarray.ndim <= 1 and not (x.ndarray.ndim and indices.ndarray.ndim):
        axis_of(dim, x.ndarray.ndim)
        row, places = (movement.reshape(each, (each.ndarray.size,)) for each in (x, indices))
        return movement.reshape(indexing.gather(row, places, 0), indices.ndarray.shape)
    return indexing.gather(x, indices, axis_of(dim, x.ndarray.ndim))


def _refuse_truth(name: str, x: Any) -> None:
    if x.dtype is bool_:
        raise RuntimeError(f"{name}(): does not support bool input. Convert it first, e.g. with .int().")


def _position(op: Callable[[Any, int], Any], x: Any, dim: int | None, keepdim: bool) -> Any:
    shape = x.ndarray.shape
    if dim is None and not x.ndarray.size:
        raise IndexError(
            f"{op.__name__}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    if dim is None or not shape:
        axis_of(dim or 0, len(shape))
        found = op(movement.reshape(x, (x.ndarray.size,)), 0)
        return kept(found, shape, tuple(range(len(shape)))) if keepdim else found
    axis = axis_of(dim, len(shape))
    found = op(x, axis)
    return kept(found, shape, (axis,)) if keepdim else found


max = _extreme("max", ops.amax, ops.argmax, arithmetic.maximum)
min = _extreme("min", ops.amin, ops.argmin, arithmetic.minimum)


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where the largest element stands first, along `dim` or in the flattened tensor."""
    _refuse_truth("argmax", input)
    return _position(ops.argmax, input, dim, keepdim)


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where the smallest element stands first, along `dim` or in the flattened tensor."""
    _refuse_truth("argmin", input)
    return _position(ops.argmin, input, dim, keepdim)


# ------------------------------------------------------------------------------------------------- truth and logsumexp


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether every element over `dim` is not 0."""
    return _fold(ops.all, input, dim, keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether some element over `dim` is not 0."""
    return _fold(ops.any, input, dim, keepdim)


def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements over `dim` are not 0."""
    return sum(comparison.ne(input, 0), dim)


@part
@composite("LogsumexpBackward0", {"input": ("input",), OUT: ("input",)})
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """``log(sum(exp(input)))`` over `dim` without overflow."""
    if not input.ndarray.size:
        return elementary.log(_fold(ops.sum, elementary.exp(input), dim, keepdim))
    with no_grad():
        # Shifting by the largest element changes nothing but the range; an infinite one cannot be subtracted.
        top = _fold(ops.amax, input, dim, True)
        top = where(comparison.isinf(top), 0.0, top)
    summed = _fold(ops.sum, elementary.exp(input - top), dim, keepdim)
    return elementary.log(summed) + movement.reshape(top, summed.ndarray.shape)
