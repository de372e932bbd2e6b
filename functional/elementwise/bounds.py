"""Numbers kept between bounds, and what stands for numbers that are none."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

from ...ops import arithmetic as ops
from ...ops import comparison, logic
from ...ops.comparison import eq, where
from ...ops.complex_numbers import parts
from ...ops.core import switch
from ...ops.layouts.formats import gradient_as
from ...ops.pointwise import cast
from ...ops.types import INTEGER, DType, bool_, float16
from ...tape.grad_mode import no_grad
from ...tensors.composite import composite
from ...tensors.data import fitting
from ...tensors.fusion import fused
from ...tensors.limits import finfo
from ...tensors.tensor import Tensor
from ..checks.derivatives import refusing_derivatives
from ..forms import activations as forms

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number

_LARGEST = finfo(float16).max


def clamp(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
    """``minimum(maximum(input, min), max)``: every element kept between bounds, numbers or tensors.

    A bound that is None is none; where `min` is above `max` the result is `max`. NaN stays NaN. Shapes are broadcast,
    types promoted to one. The gradient passes inside and at the bounds. RuntimeError if both bounds are missing,
    TypeError for a number with a tensor of elements.

    >>> import tracegrad as tg
    >>> tg.clamp(tg.tensor([-2., 0.5, 3.]), min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if input.ndarray.dtype.kind == "b" and all(isinstance(x, Tensor) and x.dtype is bool_ for x in (min, max)):
        raise NotImplementedError("\"clamp_cpu\" not implemented for 'Bool'. Use logical_and() and logical_or().")
    plain = not switch.stack and _is_plain_bound(min) and _is_plain_bound(max)
    return _clamp_at_once(input, min, max) if plain else _clamp(input, min, max)


def _is_plain_bound(bound: Any) -> bool:
    """Whether numpy may take a bound as it is: a number that every floating-point type has."""
    return bound is None or (type(bound) in (int, float) and -_LARGEST <= bound <= _LARGEST)


@composite("ClampBackward1", dict.fromkeys(("input", "min", "max"), ("input", "min", "max")))
def _clamp(input: Tensor, min: Any, max: Any) -> Tensor:
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        _refuse_mixed_bounds(min, max)
        above = input if min is None else where(_outside(comparison.lt(input, min), min), min, input)
        return above if max is None else where(_outside(comparison.gt(above, max), max), max, above)
    for bound in (min, max):
        if isinstance(bound, int if input.dtype.category == INTEGER else (int, float)):
            fitting(bound, input.dtype)
    if not input.ndarray.flags.c_contiguous:
        input = gradient_as(input, input.ndarray)
    inside = None if min is None else comparison.ge(input, min)
    if max is not None:
        below = comparison.le(input, max)
        inside = below if inside is None else logic.logical_and(inside, below)
    with no_grad():
        bounded = input if min is None else ops.maximum(input, min)
        bounded = bounded if max is None else ops.minimum(bounded, max)
    return where(inside, input, bounded)


_clamp_at_once = fused("ClampBackward1", forms.clamp, forms.clamp_gradient, watched={0: (0,)})(_clamp)


def _outside(beyond: Any, bound: Any) -> Any:
    """Where a bound counts: where an element lies beyond it, and where it is NaN."""
    if not isinstance(bound, Tensor):
        return logic.logical_or(beyond, True) if bound != bound else beyond
    return logic.logical_or(beyond, comparison.isnan(bound)) if bound.dtype.is_floating_point else beyond


def _refuse_mixed_bounds(min: Any, max: Any) -> None:
    """TypeError for a tensor with a number, as in PyTorch: a tensor that counts as a number is 0-d without gradient."""
    for name, bound, other in (("min", min, max), ("max", max, min)):
        if isinstance(other, Tensor) and not other.ndim and not other.requires_grad:
            continue
        if bound is not None and not isinstance(bound, Tensor):
            raise TypeError(f"clamp(): argument '{name}' must be Tensor, not {type(bound).__name__}, as the other is")


def clamp_min(input: Tensor, min: Tensor | Number) -> Tensor:
    """`input`, but nowhere below `min`, a number or a tensor; see `clamp`.

    >>> import tracegrad as tg
    >>> tg.clamp_min(tg.tensor([-2., 0.5]), 0)
    tensor([0.0000, 0.5000])
    """
    return clamp(input, min=min)


def clamp_max(input: Tensor, max: Tensor | Number) -> Tensor:
    """`input`, but nowhere above `max`, a number or a tensor; see `clamp`.

    >>> import tracegrad as tg
    >>> tg.clamp_max(tg.tensor([0.5, 3.]), 1)
    tensor([0.5000, 1.0000])
    """
    return clamp(input, max=max)


def raised_to(input: Any, low: float) -> Any:
    """`input`, but nowhere below `low`; the gradient passes as if nothing had been raised."""
    with no_grad():
        missing = ops.maximum(input, low) - input
    return input + missing


@composite("NanToNumBackward0", {"input": ("input",)})
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN becomes `nan` (0), infinity `posinf` (the type's largest number), minus infinity `neginf` (its smallest).

    Shape and type are those of `input`; of complex numbers both parts are treated so, integers are copied. Replaced
    elements have the derivative 0.

    >>> import tracegrad as tg
    >>> tg.nan_to_num(tg.tensor([float("nan"), float("inf"), 1.]), posinf=9.)
    tensor([0., 9., 1.])
    """
    if input.dtype.is_complex:
        replaced = nan_to_num(parts.view_as_real(input), nan, posinf, neginf)
        return parts.view_as_complex(replaced)
    if not input.dtype.is_floating_point:
        return input.clone()
    largest = _largest(input.dtype)
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    out = where(eq(input, math.inf), high, where(eq(input, -math.inf), low, input))
    return where(comparison.isnan(input), 0.0 if nan is None else nan, out)


@functools.cache
def _largest(dtype: DType) -> float:
    return finfo(dtype).max


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 for negative elements, 1 for positive ones, and for zeros what `values`, of the same type, has there.

    NaN gives 0. Shapes are broadcast. RuntimeError for another type and for complex numbers. Its derivative is not
    implemented, as in PyTorch: a backward pass that comes to it is a NotImplementedError.

    >>> import tracegrad as tg
    >>> tg.heaviside(tg.tensor([-1., 0., 2.]), tg.tensor(0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    if not isinstance(values, Tensor):
        raise TypeError(f"heaviside(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    if input.dtype.is_complex or values.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors. Compare their .real or .abs()")
    if input.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes. Convert one with .to()")
    x = input.detach()
    out = where(eq(x, 0), values.detach(), cast(comparison.gt(x, 0), input.dtype))
    return refusing_derivatives("heaviside", (out,), (input, values))[0]
