"""Arithmetic with PyTorch's extra arguments, and what is made of it element by element."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.function import Function
from ..ops import arithmetic as ops
from ..ops import comparison, division, elementary, logic, rounding
from ..ops.comparison import eq, where
from ..ops.identity import copy
from ..ops.pointwise import cast, common_dtype, converted
from ..ops.sources import full
from ..ops.types import bool_, float64, get_default_dtype, int64
from ..tape.grad_mode import no_grad
from ..tensors.composite import composite, relabel
from ..tensors.operands import require_floating
from ..tensors.tensor import Tensor

Number = bool | int | float


def _times(x: Any, factor: Any) -> Any:
    return x if isinstance(factor, (int, float)) and factor == 1 else x * factor


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input + alpha * other``."""
    return ops.add(input, _times(other, alpha))


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input - alpha * other``."""
    _refuse_truth(input, other)
    return ops.sub(input, _times(other, alpha))


def _refuse_truth(input: Any, other: Any) -> None:
    """Subtraction takes no bool at all, also where the other operand's type would win."""
    truths = [x is True or x is False or (isinstance(x, Tensor) and x.dtype is bool_) for x in (input, other)]
    if all(truths):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(truths):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def rsub(input: Any, other: Any) -> Any:
    """``other - input``."""
    _refuse_truth(input, other)
    out = ops.sub(other, input)
    relabel(out, "RsubBackward1", (input, other))
    return out


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """``input / other``; `rounding_mode` "floor" rounds down, "trunc" towards zero, keeping integers integers."""
    if rounding_mode is None:
        return ops.div(input, other)
    if rounding_mode == "floor":
        return division.floor_divide(input, other)
    if rounding_mode == "trunc":
        return _div_trunc(input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


def _div_trunc(input: Any, other: Any) -> Any:
    whole = division.fmod(input, other)
    if whole.dtype.is_floating_point:
        return division.trunc_divide(input, other)
    return division.floor_divide(ops.sub(input, whole), other)


def pow(input: Any, exponent: Any) -> Any:
    """``input ** exponent``."""
    if isinstance(exponent, bool) and isinstance(input, Tensor) and input.dtype is bool_:
        return copy(input) if exponent else logic.logical_or(input, True)
    out = elementary.pow(input, exponent)
    if isinstance(exponent, Tensor):
        relabel(out, "PowBackward1", (input, exponent), [out])
    return out


@composite("PowBackward0")
def square(input: Any) -> Any:
    """``input * input``, of truth values as int64."""
    return cast(input, int64) if input.dtype is bool_ else input * input


def float_power(input: Any, exponent: Any) -> Any:
    """``input ** exponent`` in float64."""
    base, exponent = (cast(x, float64) if isinstance(x, Tensor) else x for x in (input, exponent))
    out = elementary.pow(base, exponent)
    if isinstance(exponent, Tensor):
        relabel(out, "PowBackward1", (base, exponent), [out])
    return out


def positive(input: Any) -> Any:
    """`input` itself."""
    return input


@composite("ClampBackward1", dict.fromkeys(("input", "min", "max"), ("input", "min", "max")))
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """`input` kept between `min` and `max` (numbers or tensors). The gradient passes inside and at the bounds.

    RuntimeError if both bounds are missing. NaN stays NaN.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        _refuse_mixed_bounds(min, max)
        above = input if min is None else where(comparison.lt(input, min), min, input)
        return above if max is None else where(comparison.gt(above, max), max, above)
    inside = None if min is None else comparison.ge(input, min)
    if max is not None:
        below = comparison.le(input, max)
        inside = below if inside is None else logic.logical_and(inside, below)
    with no_grad():
        bounded = input if min is None else ops.maximum(input, min)
        bounded = bounded if max is None else ops.minimum(bounded, max)
    return where(inside, input, bounded)


def _refuse_mixed_bounds(min: Any, max: Any) -> None:
    """TypeError for a tensor with a number, as in PyTorch."""
    for name, bound in (("min", min), ("max", max)):
        if bound is not None and not isinstance(bound, Tensor):
            raise TypeError(f"clamp(): argument '{name}' must be Tensor, not {type(bound).__name__}, as the other is")


def clamp_min(input: Any, min: Any) -> Any:
    """`input`, but nowhere below `min`."""
    return clamp(input, min=min)


def clamp_max(input: Any, max: Any) -> Any:
    """`input`, but nowhere above `max`."""
    return clamp(input, max=max)


def raised_to(input: Any, low: float) -> Any:
    """`input`, but nowhere below `low`; the gradient passes as if nothing had been raised."""
    with no_grad():
        missing = ops.maximum(input, low) - input
    return input + missing


#: What PyTorch's messages call the types.
_WORDS = {"bool": "bool", "int32": "int", "int64": "long int", "float32": "float", "float64": "double"}


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``. RuntimeError for operands of different types."""
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x.dtype is not input.dtype:
            wanted, got = _WORDS[input.dtype.name], _WORDS[x.dtype.name]
            raise RuntimeError(f"expected dtype {wanted} for `{name}` but got dtype {got}; use .to()")
    if isinstance(weight, (int, float)) and weight >= 0.5:
        return end - (end - input) * (1 - weight)
    if isinstance(weight, (int, float)):
        return input + weight * (end - input)
    return _lerp_by(input, end, weight)


@composite("LerpBackward0", {"input": ("weight",), "end": ("weight",), "weight": ("input", "end", "weight")})
def _lerp_by(input: Any, end: Any, weight: Any) -> Any:
    difference = end - input
    return where(ops.abs(weight) < 0.5, input + weight * difference, end - difference * (1 - weight))


@composite("AddcmulBackward0")
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    return input + _times(tensor1, value) * tensor2


@composite("AddcdivBackward0", {"tensor1": ("tensor2",), "tensor2": ("input", "tensor1", "tensor2")})
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``. RuntimeError for integers divided by integers."""
    if not (tensor1.dtype.is_floating_point or tensor2.dtype.is_floating_point):
        raise RuntimeError("Integer division with addcdiv is no longer supported. Convert one, e.g. with .float().")
    return input + _times(tensor1, value) / tensor2


def round(input: Any, *, decimals: int = 0) -> Any:
    """Rounded to whole numbers, or to `decimals` digits; halves go to the even neighbour."""
    if decimals == 0:
        return rounding.round(input)
    require_floating("round_cpu", input)
    return rounding.round(input * 10.0**decimals) / 10.0**decimals


def frac(input: Any) -> Any:
    """What is behind the decimal point, with the sign of `input`."""
    return input - rounding.trunc(input)


@composite("NanToNumBackward0", {"input": ("input",)})
def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """`input` with NaN (0), infinity (the largest number) and minus infinity (the smallest) replaced."""
    if not input.dtype.is_floating_point:
        return input.clone()
    largest = float(_largest(input))
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    out = where(eq(input, math.inf), high, where(eq(input, -math.inf), low, input))
    return where(comparison.isnan(input), 0.0 if nan is None else nan, out)


def _largest(x: Any) -> float:
    return 2.0**127 * (2 - 2.0**-23) if x.dtype.itemsize == 4 else 2.0**1023 * (2 - 2.0**-52)


def heaviside(input: Any, values: Any) -> Any:
    """0 for negative elements, 1 for positive ones, and for zeros and NaN what `values`, of the same type, has there.

    RuntimeError for another type. Gradients end here, where PyTorch has no derivative.

    >>> import tracegrad as tg
    >>> tg.heaviside(tg.tensor([-1., 0., 2.]), tg.tensor(0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    if not isinstance(values, Tensor):
        raise TypeError(f"heaviside(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    if input.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes. Convert one with .to()")
    input, values = input.detach(), values.detach()
    return where(eq(input, 0), values, cast(comparison.gt(input, 0), input.dtype))


def xlogy(input: Any, other: Any) -> Any:
    """``input * log(other)``, and 0 where `input` is 0 and `other` a number."""
    dtype = common_dtype([input, other])
    dtype = dtype if dtype.is_floating_point else get_default_dtype()
    out = _XLogY.apply(*(converted(x, dtype) if isinstance(x, Tensor) else full((), x, dtype) for x in (input, other)))
    relabel(out, "XlogyBackward0", (input, other))
    return out


class _XLogY(Function):
    """``x * log(y)`` with PyTorch's derivatives: 0 for x where x is 0 and y not above it, x / y for y."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return where(_silent(x, y), 0.0, x * elementary.log(y))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        silent = logic.logical_and(eq(x, 0), comparison.le(y, 0))
        to_x = g * where(silent, 0.0, elementary.log(y)) if ctx.needs_input_grad[0] else None
        return to_x, g * x / y if ctx.needs_input_grad[1] else None


def _silent(x: Any, y: Any) -> Any:
    return logic.logical_and(eq(x, 0), logic.logical_not(comparison.isnan(y)))


def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Where ``|input - other| <= atol + rtol * |other|``; equal infinities are close, NaNs if `equal_nan`."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.title} did not match {other.dtype.title}: convert one, e.g. with .to(other)")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    same = eq(input, other)
    if equal_nan:
        same = logic.logical_or(same, logic.logical_and(comparison.isnan(input), comparison.isnan(other)))
    if not input.dtype.is_floating_point:
        input, other = input.double(), other.double()
    distance = ops.abs(input - other)
    near = distance <= atol + rtol * ops.abs(other)
    return logic.logical_or(same, logic.logical_and(comparison.isfinite(distance), near))


def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """True if all elements are close, see :func:`isclose`."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Any, other: Any) -> bool:
    """True if both have the same shape and the same elements."""
    return input.shape == other.shape and bool(eq(input, other).all())
