"""The error function's relatives, the normal distribution's functions, and products with logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...ops.comparison import eq, gt, lt, where
from ...ops.elementwise import special as ops
from ...ops.trigonometry import sin
from ...tensors.composite import relabel
from ..arithmetic import require_a_tensor

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number
    from ...tensors.tensor import Tensor


def erfc(input: Tensor) -> Tensor:
    """``1 - erf(input)``, right where it is small.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.erfc(tg.tensor([-1., 0., 3.]))
    tensor([1.8427e+00, 1.0000e+00, 2.2090e-05])
    """
    return ops.erfc(input)


def erfinv(input: Tensor) -> Tensor:
    """The inverse of `erf`: infinite at -1 and 1, NaN outside.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.erfinv(tg.tensor([0., 0.5, -1.]))
    tensor([0.0000, 0.4769,   -inf])
    """
    return ops.erfinv(input)


def erfcx(input: Tensor) -> Tensor:
    """``exp(input**2) * erfc(input)``, also where erfc is 0.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.erfcx(tg.tensor([0., 1., 100.]))
    tensor([1.0000, 0.4276, 0.0056])
    """
    return ops.erfcx(input)


def ndtr(input: Tensor) -> Tensor:
    """The normal distribution's cumulative function.

    Difference: below -8 it has small numbers, right to 1e-12, where PyTorch's is 0.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.ndtr(tg.tensor([-2., 0., 1.]))
    tensor([0.0228, 0.5000, 0.8413])
    """
    return ops.ndtr(input)


def log_ndtr(input: Tensor) -> Tensor:
    """``log(ndtr(input))``, also where ndtr is 0 or 1.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.log_ndtr(tg.tensor([-40., 0., 3.]))
    tensor([-8.0461e+02, -6.9315e-01, -1.3508e-03])
    """
    out = ops.log_ndtr(input)
    relabel(out, "SpecialLogNdtrBackward0", (input,), [out])
    return out


def ndtri(input: Tensor) -> Tensor:
    """The inverse of `ndtr`, the normal distribution's quantiles: infinite at 0 and 1, NaN outside.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.ndtri(tg.tensor([0., 0.5, 0.975]))
    tensor([  -inf, 0.0000, 1.9600])
    """
    return ops.ndtri(input)


def entr(input: Tensor) -> Tensor:
    """``-input * log(input)``: 0 at 0, minus infinity for negative elements.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.entr(tg.tensor([-1., 0., 0.5]))
    tensor([  -inf, 0.0000, 0.3466])
    """
    return ops.entr(input)


def xlog1py(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """``input * log1p(other)``, and 0 where `input` is 0 and `other` a number. Either may be a Python number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.xlog1py(tg.tensor([0., 2.]), tg.tensor([-1., 1.]))
    tensor([0.0000, 1.3863])
    """
    require_a_tensor("special_xlog1py", input, other)
    return ops.xlog1py(input, other)


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """``log(x / (1 - x))``, where x is `input`, with `eps` kept within [eps, 1 - eps]; without it NaN outside [0, 1].

    With an `eps` over a half x is `eps` where it was less, else ``1 - eps``.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.logit(tg.tensor([0., 0.5, 0.75]), eps=0.25)
    tensor([-1.0986,  0.0000,  1.0986])
    """
    if eps is None:
        return ops.logit(input)
    # The derivative at NaN is NaN, unlike that of `clamp`.
    return ops.logit(where(lt(input, eps), eps, where(gt(input, 1 - eps), 1 - eps, input)))


def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """``log2(2**input + 2**other)`` of floating-point tensors, without overflow.

    Shapes are broadcast, types promoted. Floats keep their type; NotImplementedError for complex numbers, integers
    and bool.

    >>> import tracegrad as tg
    >>> tg.logaddexp2(tg.tensor([1., 2000.]), tg.tensor([1., 1999.]))
    tensor([2.0000e+00, 2.0006e+03])
    """
    return ops.logaddexp2(input, other)


def sinc(input: Tensor) -> Tensor:
    """``sin(pi * input) / (pi * input)``, and 1 at 0.

    The shape is that of `input`. Floats and complex numbers keep their type; integers and bool give the default
    type.

    >>> import tracegrad as tg
    >>> tg.sinc(tg.tensor([0., 0.5, 1.5]))
    tensor([ 1.0000,  0.6366, -0.2122])
    """
    if not input.dtype.is_complex:
        return ops.sinc(input)
    angle, is_zero = input * math.pi, eq(input, 0)
    return where(is_zero, 1.0, sin(angle) / where(is_zero, 1.0, angle))
