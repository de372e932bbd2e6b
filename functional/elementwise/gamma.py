"""The gamma function's logarithm, its derivatives, and the incomplete gamma functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...ops.complex_numbers.refusals import refuse_complex
from ...ops.elementwise import special as ops
from ...ops.movement import reshape
from ...ops.pointwise import cast, common_dtype
from ...ops.reductions import sum
from ...ops.sources import iota
from ...ops.types import bool_, get_default_dtype
from ...tensors.composite import composite, relabel
from ..arithmetic import require_a_tensor

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number
    from ...tensors.tensor import Tensor


def lgamma(input: Tensor) -> Tensor:
    """``log(abs(gamma(input)))``, infinite at 0 and at negative whole numbers; in float64 within 1e-15.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.lgamma(tg.tensor([0.5, 1., 5.]))
    tensor([0.5724, 0.0000, 3.1781])
    """
    return ops.lgamma(input)


def digamma(input: Tensor) -> Tensor:
    """The derivative of `lgamma`: minus infinity at 0, NaN at negative whole numbers.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.digamma(tg.tensor([1., 0.5]))
    tensor([-0.5772, -1.9635])
    """
    return ops.digamma(input)


def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative of order `n` of `digamma`. RuntimeError for a negative `n`.

    Difference: order 1 is right to 1e-15, where PyTorch's has errors of 1e-9.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.polygamma(1, tg.tensor([1., 0.5]))
    tensor([1.6449, 4.9348])
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}")
    if n < 2:
        return ops.trigamma(input) if n else ops.digamma(input)
    out = math.factorial(n) * (1.0 if n % 2 else -1.0) * ops.zeta(float(n + 1), input)
    relabel(out, "PolygammaBackward0", (input,))
    return out


def polygamma_method(input: Tensor, n: int) -> Tensor:
    """`polygamma` with its operands in a method's order: the `n`-th derivative of `digamma` at this tensor.

    Integers and bool give the default type. RuntimeError for a negative `n`.

    >>> import tracegrad as tg
    >>> tg.tensor([1.0]).polygamma(1)
    tensor([1.6449])
    """
    return polygamma(n, input)


@composite("MvlgammaBackward0", {"input": ("input",)})
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of dimension `p`, for elements above (p - 1) / 2. RuntimeError for p < 1.

    The shape is that of `input`. Floats keep their type; integers give the default type; NotImplementedError for
    complex numbers; RuntimeError for bool.

    >>> import tracegrad as tg
    >>> tg.mvlgamma(tg.tensor([2., 3.5]), 2)
    tensor([0.4516, 2.4665])
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    dtype = common_dtype([input])
    if dtype is bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor. Convert it first, e.g. with .int().")
    refuse_complex("mvlgamma", dtype)
    x = input if dtype.is_floating_point else cast(input, get_default_dtype())
    shifts = cast(iota((p,), 0, dtype if dtype.is_floating_point else get_default_dtype()), x.dtype) * -0.5
    terms = ops.lgamma(reshape(x, (*x.ndarray.shape, 1)) + shifts)
    return sum(terms, (x.ndarray.ndim,)) + p * (p - 1) / 4 * math.log(math.pi)


def igamma(input: Tensor, other: Tensor) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other), of floating-point numbers that are not negative.

    The derivative by `input` is not implemented (PyTorch). In float64 within 4e-14, where PyTorch's errs by up to 2e-9.

    Shapes are broadcast, types promoted. Floats keep their type; NotImplementedError for complex numbers, integers
    and bool.

    >>> import tracegrad as tg
    >>> tg.igamma(tg.tensor([1., 4.]), tg.tensor([1., 4.]))
    tensor([0.6321, 0.5665])
    """
    return ops.igamma(input, other)


def igammac(input: Tensor, other: Tensor) -> Tensor:
    """The regularised upper incomplete gamma function Q(input, other), see `igamma`.

    Shapes are broadcast, types promoted. Floats keep their type; NotImplementedError for complex numbers, integers
    and bool.

    >>> import tracegrad as tg
    >>> tg.igammac(tg.tensor([1., 4.]), tg.tensor([1., 4.]))
    tensor([0.3679, 0.4335])
    """
    return ops.igammac(input, other)


def zeta(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Hurwitz' zeta function, the sum of ``(k + other)**-input`` over k = 0, 1, ...; either may be a number.

    NaN for an `input` below 1, infinite at 1. The derivative by `input` is not implemented (PyTorch).

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.zeta(tg.tensor([2., 4.]), 1)
    tensor([1.6449, 1.0823])
    """
    require_a_tensor("special_zeta", input, other)
    return ops.zeta(input, other)
