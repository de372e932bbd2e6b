"""Arithmetic with PyTorch's extra arguments, and what is made of it element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops import arithmetic as ops
from ..ops import division, elementary, logic, rounding
from ..ops.comparison import where
from ..ops.core import plain
from ..ops.elementwise import special
from ..ops.identity import copy
from ..ops.layouts.formats import in_order
from ..ops.layouts.orders import common_order
from ..ops.pointwise import cast, common_dtype, converted
from ..ops.types import (
    FLOATING,
    NUMBERS,
    DType,
    bfloat16,
    bool_,
    complex128,
    float16,
    float32,
    float64,
    int64,
    number_dtype,
)
from ..tensors.calling.kernels import require_floating
from ..tensors.composite import composite, relabel
from ..tensors.data import fitting
from ..tensors.in_place import store
from ..tensors.short_floats import rounded_once
from ..tensors.tensor import Tensor
from ..tensors.written.shared import refuse_shared

if TYPE_CHECKING:
    from ..tensors.calling.annotations import Number


def _times(x: Any, factor: Any, *beside: Any) -> Any:
    """``factor * x`` in a formula of `x` and `beside`, in whose type the factor is: of integers, cut to an integer."""
    if isinstance(factor, (int, float)) and factor == 1:
        return x
    dtype = common_dtype([x, *beside])
    if isinstance(factor, complex) and not dtype.is_complex:
        raise RuntimeError(f"value cannot be converted to type {dtype.c_name} without overflow: it is complex.")
    if isinstance(factor, float) and dtype.category < FLOATING:
        factor = int(factor)
    return converted(x, dtype) * factor


def _scaled(x: Any, alpha: Any, dtype: DType) -> Any:
    """``alpha * x``, the operand of a sum of type `dtype`, in which `alpha` has no say."""
    if isinstance(x, NUMBERS):
        return bool(x * alpha) if dtype is bool_ else x * alpha
    return converted(converted(x, dtype) * alpha, dtype)


def _check_alpha(alpha: Any, dtype: DType) -> None:
    """RuntimeError for an `alpha` of a higher category than the sum's type, and for a bool where that is not bool."""
    given = alpha.dtype.category if isinstance(alpha, Tensor) else number_dtype(alpha).category
    if given == bool_.category != dtype.category:
        raise RuntimeError("Boolean alpha only supported for Boolean results. Give alpha=1 or alpha=0.")
    if given == FLOATING > dtype.category:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number. Convert one operand, "
            "e.g. with .float()."
        )
    if given > FLOATING >= dtype.category:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if dtype.is_floating_point and isinstance(alpha, (int, float)):
        fitting(alpha, dtype)


def _sum_with(op: Any, input: Any, other: Any, alpha: Any) -> Any:
    """``op(input, alpha * other)``, a sum or a difference.

    Of 16-bit operands, `alpha` one of them, it is rounded once, as in PyTorch's vectors (behind the last whole one of a
    row PyTorch rounds the product, too).
    """
    if type(alpha) in (int, float) and alpha == 1:
        return op(input, other)
    dtype = common_dtype([input, other])
    _check_alpha(alpha, dtype)
    if dtype in (float16, bfloat16):
        x, y, scale = (cast(converted(each, dtype), float32) for each in (input, other, alpha))
        out = cast(op(x, y * scale), dtype)
    else:
        out = op(input, _scaled(other, alpha, dtype))
    plain.named(out, op.primitive.backward_name, (input, other))
    return out


def add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``input + alpha * other``, element by element; the logical or of bool.

    Shapes are broadcast, types promoted to one (`result_type`), in which `alpha` has no say. RuntimeError for shapes
    that do not fit, and for an `alpha` that this type does not hold.

    >>> import tracegrad as tg
    >>> tg.add(tg.tensor([1., 2.]), tg.tensor([10., 20.]), alpha=0.5)
    tensor([ 6., 12.])
    """
    return _sum_with(ops.add, input, other, alpha)


def sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``input - alpha * other``, element by element.

    Shapes are broadcast, types promoted to one (`result_type`). RuntimeError if an operand is bool.

    >>> import tracegrad as tg
    >>> tg.sub(tg.tensor([1., 2.]), tg.tensor([10., 20.]), alpha=0.5)
    tensor([-4., -8.])
    """
    _refuse_truth(input, other)
    return _sum_with(ops.sub, input, other, alpha)


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


def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``other - alpha * input``: `sub` the other way round.

    Shapes are broadcast, types promoted to one (`result_type`). RuntimeError if an operand is bool.

    >>> import tracegrad as tg
    >>> tg.rsub(tg.tensor([1., 2.]), 10)
    tensor([9., 8.])
    """
    _refuse_truth(input, other)
    out = _sum_with(ops.sub, other, input, alpha)
    relabel(out, "RsubBackward0" if isinstance(other, Tensor) else "RsubBackward1", (input, other))
    return out


def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``, element by element; `rounding_mode` "floor" rounds down, "trunc" towards zero.

    Shapes are broadcast, types promoted to one; integers and bool give the default type, unless a rounding mode keeps
    them integers. RuntimeError for another mode and for integers divided by 0 with one.

    >>> import tracegrad as tg
    >>> tg.div(tg.tensor([7, -7]), 2)
    tensor([ 3.5000, -3.5000])
    >>> tg.div(tg.tensor([7, -7]), 2, rounding_mode="trunc")
    tensor([ 3, -3])
    """
    if rounding_mode is None:
        return ops.div(input, other)
    if rounding_mode in ("floor", "trunc"):
        return _div_rounded(input, other, rounding_mode)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


@composite("DivBackward2", {"other": ("input", "other"), "input": ("other",)})
def _div_rounded(input: Any, other: Any, rounding_mode: str) -> Any:
    if rounding_mode == "trunc":
        return _div_trunc(input, other)
    is_floating = common_dtype([input, other]).is_floating_point
    return division.div_floor(input, other) if is_floating else division.floor_divide(input, other)


def _div_trunc(input: Any, other: Any) -> Any:
    whole = division.fmod(input, other)
    if whole.dtype in (float16, bfloat16) and isinstance(other, Tensor) and other.ndarray.size != 1:
        return rounding.trunc(ops.div(input, other))  # the quotient is rounded first, unless one number divides all
    if whole.dtype.is_floating_point:
        return division.trunc_divide(input, other)
    return division.floor_divide(ops.sub(input, whole), other)


def pow(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """``input ** exponent``, element by element; one of both may be a number.

    Shapes are broadcast, types promoted to one. RuntimeError for integers to the power of a negative number,
    TypeError for two numbers. The derivative for an exponent of 0 is 0 everywhere.

    >>> import tracegrad as tg
    >>> tg.pow(tg.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    """
    if isinstance(exponent, bool) and isinstance(input, Tensor) and input.dtype is bool_:
        return copy(input) if exponent else logic.logical_or(input, True)
    out = elementary.pow(input, exponent)
    if isinstance(exponent, Tensor):
        relabel(out, "PowBackward1", (input, exponent), [out])
    return out


def square(input: Tensor) -> Tensor:
    """``input * input``, element by element, in the type of `input`; bool becomes int64.

    >>> import tracegrad as tg
    >>> tg.square(tg.tensor([-3., 2.]))
    tensor([9., 4.])
    """
    return cast(input, int64) if input.dtype is bool_ else elementary.pow(input, 2)


@rounded_once
def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """``input ** exponent`` computed in float64, or in complex128 if an operand is complex.

    Shapes are broadcast. TypeError for two numbers.

    >>> import tracegrad as tg
    >>> tg.float_power(tg.tensor([1, 2]), -1)
    tensor([1.0000, 0.5000], dtype=tracegrad.float64)
    """
    of = complex128 if common_dtype([input, exponent]).is_complex else float64
    base, exponent = (cast(x, of) if isinstance(x, Tensor) and x.dtype is not of else x for x in (input, exponent))
    out = elementary.pow(base, exponent)
    if isinstance(exponent, Tensor):
        relabel(out, "PowBackward1", (base, exponent), [out])
    return out


def positive(input: Tensor) -> Tensor:
    """``+input``: the tensor itself, no copy. RuntimeError for bool.

    >>> import tracegrad as tg
    >>> x = tg.tensor([-1.])
    >>> tg.positive(x) is x
    True
    """
    if input.dtype is bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported. Convert it first, e.g. with .int().")
    return input


def float_power_(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """`float_power`, stored in this tensor's memory; returns it.

    RuntimeError unless its type is that of the result: float64, or complex128 if one of the two is complex.

    >>> import tracegrad as tg
    >>> tg.tensor([1., 2.], dtype=tg.float64).float_power_(2)
    tensor([1., 4.], dtype=tracegrad.float64)
    """
    if self.dtype is not (of := complex128 if common_dtype([self, exponent]).is_complex else float64):
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.title} but the operation's result requires dtype "
            f"{of.title}. Convert it first, or write float_power()."
        )
    refuse_shared(self, (exponent,))
    return store(self, float_power(self, exponent), (exponent,))


@rounded_once
def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """``input + weight * (end - input)``: linear interpolation; from a weight of 0.5 on counted from `end`.

    Shapes are broadcast. RuntimeError for operands of different types, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.lerp(tg.tensor([0., 10.]), tg.tensor([1., 20.]), 0.25)
    tensor([ 0.2500, 12.5000])
    """
    for name, x in (("end", end), ("weight", weight)):
        if isinstance(x, Tensor) and x.dtype is not input.dtype:
            wanted, got = input.dtype.c_name, x.dtype.c_name
            raise RuntimeError(f"expected dtype {wanted} for `{name}` but got dtype {got}; use .to()")
    if not input.dtype.is_complex:
        require_floating("lerp_kernel_scalar", input)
    if isinstance(weight, NUMBERS) and abs(weight) >= 0.5:
        out = end - (end - input) * (1 - weight)
        return out if input.ndarray.flags.c_contiguous else _as_first(out, input, end)
    if isinstance(weight, NUMBERS):
        return input + weight * (end - input)
    return _lerp_by(input, end, weight)


def _as_first(out: Any, *operands: Any) -> Any:
    """An elementwise result that lies as the operands say in this order."""
    arrays = [x.ndarray for x in operands if isinstance(x, Tensor)]
    return in_order(out, common_order(arrays, out.ndarray.shape))


lerp.of_one_type = True  # type: ignore[attr-defined]  # a number does not promote what it weighs


@composite("LerpBackward0", {"input": ("weight",), "end": ("weight",), "weight": ("input", "end", "weight")})
def _lerp_by(input: Any, end: Any, weight: Any) -> Any:
    difference = end - input
    return where(ops.abs(weight) < 0.5, input + weight * difference, end - difference * (1 - weight))


@rounded_once
@composite("AddcmulBackward0")
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``, element by element; shapes are broadcast, types promoted to one.

    The type of `value` has no say: among integers it is cut to an integer. NotImplementedError for bool.

    >>> import tracegrad as tg
    >>> tg.addcmul(tg.tensor([1., 1.]), tg.tensor([2., 3.]), tg.tensor([4., 5.]), value=0.5)
    tensor([5.0000, 8.5000])
    """
    if input.dtype is bool_ and tensor1.dtype is bool_ and tensor2.dtype is bool_:
        raise NotImplementedError("\"addcmul_cpu_out\" not implemented for 'Bool'. Use logical_and() and logical_or().")
    return input + _times(tensor1, value, input, tensor2) * tensor2


@rounded_once
@composite("AddcdivBackward0", {"tensor1": ("tensor2",), "tensor2": ("input", "tensor1", "tensor2")})
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``, element by element; shapes are broadcast, types promoted to one.

    RuntimeError for integers divided by integers.

    >>> import tracegrad as tg
    >>> tg.addcdiv(tg.tensor([1., 1.]), tg.tensor([2., 3.]), tg.tensor([4., 6.]))
    tensor([1.5000, 1.5000])
    """
    if max(tensor1.dtype.category, tensor2.dtype.category) < FLOATING:
        raise RuntimeError("Integer division with addcdiv is no longer supported. Convert one, e.g. with .float().")
    return input + _times(tensor1, value, input, tensor2) / tensor2


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounded to whole numbers, or to `decimals` digits behind the point (in front of it: negative).

    Halves go to the even neighbour. Shape and type are those of `input`; integers stay as they are and take no
    `decimals`: NotImplementedError, as for bool. The derivative is 0.

    >>> import tracegrad as tg
    >>> tg.round(tg.tensor([0.5, 1.5, -1.7]))
    tensor([ 0.,  2., -2.])
    >>> tg.round(tg.tensor([1.2345]), decimals=2)
    tensor([1.2300])
    """
    if decimals == 0:
        return rounding.round(input)
    require_floating("round_cpu", input)
    return _round_to(input, decimals)


@rounded_once
def _round_to(input: Any, decimals: int) -> Any:
    return rounding.round(input * 10.0**decimals) / 10.0**decimals


@rounded_once
def frac(input: Tensor) -> Tensor:
    """``input - trunc(input)``: what is behind the decimal point, with the sign of `input`.

    Shape and type are those of `input`; NotImplementedError for what is not floating-point. The derivative is 1.

    >>> import tracegrad as tg
    >>> tg.frac(tg.tensor([1.25, -2.5]))
    tensor([ 0.2500, -0.5000])
    """
    return input - rounding.trunc(input)


def require_a_tensor(function: str, input: Any, other: Any) -> None:
    """TypeError where both operands are Python numbers."""
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")


def xlogy(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """``input * log(other)``, but 0 where `input` is 0, whatever `other` is (NaN stays NaN).

    Shapes are broadcast; integers and bool give the default type. TypeError for two numbers,
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.xlogy(tg.tensor([0., 2.]), tg.tensor([0., 3.]))
    tensor([0.0000, 2.1972])
    """
    require_a_tensor("xlogy", input, other)
    return special.xlogy(input, other)


def xlogy_(self: Tensor, other: Tensor | Number) -> Tensor:
    """`xlogy`, stored in this tensor's memory; returns it. What the derivative needs is copied before.

    >>> import tracegrad as tg
    >>> tg.tensor([0., 2.]).xlogy_(1.0)
    tensor([0., 0.])
    """
    refuse_shared(self, (other,))
    return store(self, xlogy(copy(self) if self.requires_grad else self, other), (other,))
