"""Signs, exponents and neighbours of numbers, divisors of integers, and angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...ops import arithmetic, comparison
from ...ops.comparison import where
from ...ops.elementary import pow
from ...ops.elementwise import real as ops
from ...ops.pointwise import cast, common_dtype
from ...ops.sources import full
from ...ops.types import FLOATING, bfloat16, bool_, float16, float32, float64, int32, int64
from ...tensors.composite import composite
from ...tensors.limits import finfo
from ...tensors.short_floats import rounded_once
from .. import return_types

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number
    from ...tensors.tensor import Tensor


def copysign(input: Tensor, other: Tensor | Number) -> Tensor:
    """The size of `input` with the sign of `other`, a tensor or a number, of which zeros have one too.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.copysign(tg.tensor([1., -2.]), -0.0)
    tensor([-1., -2.])
    """
    return ops.copysign(input, other)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """The larger of two elements; of a number and NaN the number.

    Shapes are broadcast, types promoted. Floats, integers and bool keep their type; RuntimeError for complex
    numbers.

    >>> import tracegrad as tg
    >>> tg.fmax(tg.tensor([1., float("nan")]), tg.tensor([2., 3.]))
    tensor([2., 3.])
    """
    return (ops.fmax if common_dtype([input, other]).is_floating_point else arithmetic.maximum)(input, other)


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """The smaller of two elements; of a number and NaN the number.

    Shapes are broadcast, types promoted. Floats, integers and bool keep their type; RuntimeError for complex
    numbers.

    >>> import tracegrad as tg
    >>> tg.fmin(tg.tensor([1., float("nan")]), tg.tensor([2., 3.]))
    tensor([1., 3.])
    """
    return (ops.fmin if common_dtype([input, other]).is_floating_point else arithmetic.minimum)(input, other)


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The floating-point number beside `input` in the direction of `other`.

    Shapes are broadcast, types promoted. Floats keep their type; NotImplementedError for complex numbers, integers
    and bool.

    >>> import tracegrad as tg
    >>> tg.nextafter(tg.tensor([1.]), tg.tensor([2.])) - 1
    tensor([1.1921e-07])
    """
    if common_dtype([input, other]) in (float16, bfloat16):
        return _beside(input, other)
    return ops.nextafter(input, other)


def _beside(input: Tensor, other: Tensor) -> Tensor:
    """`nextafter` of 16-bit numbers, in float32, which has all of them: a step is a unit in the last place."""
    dtype = common_dtype([input, other])
    x, y = (cast(cast(value, dtype), float32) for value in (input, other))
    bits, least = (8, 2.0**-133) if dtype is bfloat16 else (11, 2.0**-24)
    size = abs(x.detach())
    finite = where(size > finfo(dtype).max, finfo(dtype).max, size)
    mantissa, exponent = frexp(finite)
    inwards = (x != 0) & ((y > x) == (x < 0))
    places = exponent - bits - cast(inwards & (mantissa == 0.5), int32)
    unit = ldexp(full(size.shape, 1, float32), places)
    unit = where((size == 0) | (unit < least), least, unit)
    # Inwards from infinity comes the largest number.
    beside = where(inwards, where(size == math.inf, finite, finite - unit), finite + unit)
    signed = where((x < 0) | ((x == 0) & (y < 0)), -beside, beside)
    moved = where(size == math.inf, signed, x + where(size == math.inf, 0.0, (signed - x.detach())))
    moved = where(signed == 0, x * 0, moved)  # zero with the sign of x
    return cast(where((x != x) | (y != y), x + y, where(x == y, y, moved)), dtype)


def frexp(input: Tensor) -> tuple[Tensor, Tensor]:
    """(mantissa, exponent) with ``input = mantissa * 2**exponent``: a mantissa in [0.5, 1), an int32 exponent.

    Both have the shape of `input`. Floats keep their type; RuntimeError for complex numbers, integers and bool.

    >>> import tracegrad as tg
    >>> tg.frexp(tg.tensor([1., 12.])).exponent.tolist()
    [1, 4]
    """
    _refuse_complex(input, "torch.frexp() only supports floating-point dtypes.")
    return return_types.frexp(ops.frexp_mantissa(input), ops.frexp_exponent(input))


@composite("LdexpBackward0")
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2**other`` in floating point.

    Shapes are broadcast. Of an integer `other` floats and complex numbers keep their type, and the product is right
    where the power alone would overflow; else types are promoted, and integers and bool give the default type.

    >>> import tracegrad as tg
    >>> tg.ldexp(tg.tensor([1., 3.]), tg.tensor([2, -1]))
    tensor([4.0000, 1.5000])
    """
    if other.dtype.category >= FLOATING or input.dtype.category < FLOATING:
        return input * pow(2.0, other)
    if input.dtype.is_complex:
        return cast(input * pow(2.0, other), input.dtype)
    if other.dtype is bool_:
        raise NotImplementedError("\"ldexp_cpu_exp\" not implemented for 'Bool'; convert with .int()")
    return _scaled(input, other)


@rounded_once
def _scaled(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2**other`` by two powers, none of which overflows."""
    limit = 2044 if input.dtype is float64 else 252
    exponent = arithmetic.minimum(arithmetic.maximum(cast(other, int64), -limit), limit)
    half = cast(cast(exponent, input.dtype) * 0.5, int64)
    return input * pow(2.0, cast(half, input.dtype)) * pow(2.0, cast(exponent - half, input.dtype))


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisor of integers.

    Shapes are broadcast, types promoted. Integers keep their type; NotImplementedError for floats, complex numbers
    and bool.

    >>> import tracegrad as tg
    >>> tg.gcd(tg.tensor([12, -4, 0]), tg.tensor([18, 6, 5]))
    tensor([6, 2, 5])
    """
    return ops.gcd(input, other)


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiple of integers.

    Shapes are broadcast, types promoted. Integers keep their type; NotImplementedError for floats, complex numbers
    and bool.

    >>> import tracegrad as tg
    >>> tg.lcm(tg.tensor([12, -4, 0]), tg.tensor([18, 6, 5]))
    tensor([36, 12,  0])
    """
    return ops.lcm(input, other)


def signbit(input: Tensor) -> Tensor:
    """True for negative elements, minus zero among them.

    The shape is that of `input`. The result is bool; NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.signbit(tg.tensor([-3., -0.0, 2.]))
    tensor([ True,  True, False])
    """
    return ops.signbit(input) if input.dtype.is_floating_point else _nowhere_or(input, comparison.lt)


def _nowhere_or(input: Any, test: Any) -> Any:
    """``test(input, 0)`` of integers, False of truth values."""
    return full(input.ndarray.shape, False, bool_) if input.dtype is bool_ else test(input, 0)


def exp2(input: Tensor) -> Tensor:
    """``2**input``.

    The shape is that of `input`. Floats and complex numbers keep their type; integers and bool give the default
    type.

    >>> import tracegrad as tg
    >>> tg.exp2(tg.tensor([0., 1., -2.]))
    tensor([1.0000, 2.0000, 0.2500])
    """
    return ops.exp2(input)


def _refuse_complex(input: Any, message: str) -> None:
    if input.dtype.is_complex:
        raise RuntimeError(f"{message} Take the .real or the .imag part.")


def isposinf(input: Tensor) -> Tensor:
    """Where elements are infinity.

    The shape is that of `input`. The result is bool; RuntimeError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.isposinf(tg.tensor([float("inf"), -float("inf"), 0.]))
    tensor([ True, False, False])
    """
    _refuse_complex(input, "isposinf does not support complex inputs.")
    return comparison.eq(input, math.inf)


def isneginf(input: Tensor) -> Tensor:
    """Where elements are minus infinity.

    The shape is that of `input`. The result is bool; RuntimeError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.isneginf(tg.tensor([float("inf"), -float("inf"), 0.]))
    tensor([False,  True, False])
    """
    _refuse_complex(input, "isneginf does not support complex inputs.")
    return comparison.eq(input, -math.inf)


@composite("Deg2RadBackward0")
def deg2rad(input: Tensor) -> Tensor:
    """Angles in degrees as radians.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type; RuntimeError for
    complex numbers.

    >>> import tracegrad as tg
    >>> tg.deg2rad(tg.tensor([180., 45.]))
    tensor([3.1416, 0.7854])
    """
    _refuse_complex(input, "deg2rad is not supported for complex tensors.")
    return input * (math.pi / 180)


@composite("Rad2DegBackward0")
def rad2deg(input: Tensor) -> Tensor:
    """Angles in radians as degrees.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type; RuntimeError for
    complex numbers.

    >>> import tracegrad as tg
    >>> tg.rad2deg(tg.tensor([3.14159265, 1.]))
    tensor([180.0000,  57.2958])
    """
    _refuse_complex(input, "rad2deg is not supported for complex tensors.")
    return input * (180 / math.pi)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """True if both tensors have the same shape.

    >>> import tracegrad as tg
    >>> tg.is_same_size(tg.ones(2, 3), tg.zeros(3, 2))
    False
    """
    return bool(input.ndarray.shape == other.ndarray.shape)
