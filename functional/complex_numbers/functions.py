"""Functions of complex numbers, and of their parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...ops import arithmetic
from ...ops.comparison import eq, isnan, lt, where
from ...ops.complex_numbers import parts as complex_numbers
from ...ops.complex_numbers.conjugated import bit_of
from ...ops.identity import copy
from ...ops.sources import full
from ...ops.trigonometry import atan2, cos, sin
from ...ops.types import FLOATING, bool_, float32, float64, get_default_dtype
from ...tensors.autocasting import full_precision
from ...tensors.composite import relabel
from ...tensors.tensor import Tensor
from ..joining import stack

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _require_parts(first: Any, second: Any, name: str, names: tuple[str, str] = ("real", "imag")) -> None:
    for position, (x, title) in enumerate(zip((first, second), names, strict=True), 1):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}: argument '{title}' (position {position}) must be Tensor, not {type(x).__name__}")
    if not {first.dtype, second.dtype} <= {float32, float64}:
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{first.dtype.title} and {second.dtype.title}; {name} of float16 is not there"
        )
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {first.dtype.title} but got scalar type {second.dtype.title} for second "
            "argument"
        )


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of their parts, of one type (float32 or float64), which broadcast.

    >>> import tracegrad as tg
    >>> tg.complex(tg.tensor([1., 2.]), tg.tensor([0., -1.]))
    tensor([1.+0.j, 2.-1.j])
    """
    _require_parts(real, imag, "complex()")
    zero = full((), 0, real.dtype)
    parts = where(full((), True, bool_), real, imag * zero) if real.shape != imag.shape else real
    others = where(full((), True, bool_), imag, real * zero) if real.shape != imag.shape else imag
    out = complex_numbers.view_as_complex(stack([parts, others], -1))
    relabel(out, "ComplexBackward0", (real, imag))
    return out


@full_precision
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers of their sizes and angles, of one type (float32 or float64), which broadcast.

    >>> import tracegrad as tg
    >>> tg.polar(tg.tensor([1., 2.]), tg.tensor([0., 0.]))
    tensor([1.+0.j, 2.+0.j])
    """
    _require_parts(abs, angle, "polar()", ("abs", "angle"))
    out = complex(abs * cos(angle), abs * sin(angle))
    relabel(out, "PolarBackward0", (abs, angle))
    return out


def real(input: Tensor) -> Tensor:
    """The real part, a view; `input` itself if it is real.

    >>> import tracegrad as tg
    >>> tg.real(tg.tensor([1 + 2j]))
    tensor([1.])
    """
    return complex_numbers.real(input)


def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view. RuntimeError for real numbers.

    >>> import tracegrad as tg
    >>> tg.imag(tg.tensor([1 + 2j]))
    tensor([2.])
    """
    return complex_numbers.imag(input)


def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts along a new last axis, a view. RuntimeError for real numbers and conjugated views.

    >>> import tracegrad as tg
    >>> tg.view_as_real(tg.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    if is_conj(input):
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    return complex_numbers.view_as_real(input)


@full_precision
def view_as_complex(input: Tensor) -> Tensor:
    """Complex numbers of the parts along the last axis, whose extent is 2, a view. RuntimeError where it cannot be one.

    >>> import tracegrad as tg
    >>> tg.view_as_complex(tg.tensor([[1., 2.]]))
    tensor([1.+2.j])
    """
    out = complex_numbers.view_as_complex(input)
    if out.buffer is not input.buffer:
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension, and 1 for the last")
    return out


def angle(input: Tensor) -> Tensor:
    """The angles of complex numbers in (-pi, pi]; of real ones pi where they are negative, else 0. NaN stays NaN.

    Its gradient at 0 is 0, of real numbers everywhere.

    >>> import tracegrad as tg
    >>> tg.angle(tg.tensor([1j, -1.]))
    tensor([1.5708, 3.1416])
    """
    if input.dtype.is_complex:
        out = atan2(complex_numbers.imag(input), complex_numbers.real(input))
        relabel(out, "AngleBackward0", (input,), [input])
        return out
    x = input if input.dtype.category >= FLOATING else input.to(get_default_dtype())
    nothing = where(lt(x, x), x, 0.0)  # 0 also of infinities, with a derivative, which is 0
    out = where(isnan(x), math.nan, where(lt(x, 0), math.pi, nothing))
    relabel(out, "AngleBackward0", (input,), [x])
    return out


def conj(input: Tensor) -> Tensor:
    """The complex conjugate; `input` itself if it is real.

    A view of complex numbers: writes to either tensor are seen by both. `is_conj` tells what is one; `resolve_conj` and
    `conj_physical` compute into memory of their own. Difference: a write to the memory by numpy is not seen by a
    conjugate that is there already, until tracegrad writes there.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1 + 2j])
    >>> x.conj().is_conj(), x.conj()
    (True, tensor([1.-2.j]))
    """
    return complex_numbers.conj_view(input)


def conj_physical(input: Tensor) -> Tensor:
    """The conjugates of complex numbers, ``re - im * i``, in memory of their own; real tensors come back themselves.

    >>> import tracegrad as tg
    >>> tg.conj_physical(tg.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return complex_numbers.conj(input)


def _has_real_numbers(input: Tensor) -> bool:
    """Whether nothing is to be written: ``conj_physical_`` of real numbers, of whatever memory they show."""
    return not (input.dtype.is_complex or input.requires_grad)


conj_physical.directly = _has_real_numbers  # type: ignore[attr-defined]


def resolve_conj(input: Tensor) -> Tensor:
    """The numbers of `input` in memory of their own if it is a conjugated view (`is_conj`), else `input` itself.

    >>> import tracegrad as tg
    >>> tg.resolve_conj(tg.tensor([1 + 2j]).conj()).is_conj()
    False
    """
    return copy(input) if is_conj(input) else input


def resolve_neg(input: Tensor) -> Tensor:
    """The numbers of `input` in memory of their own if it is a negated view (`is_neg`), else `input` itself.

    >>> import tracegrad as tg
    >>> tg.resolve_neg(tg.tensor([1 + 2j]).conj().imag)
    tensor([-2.])
    """
    return copy(input) if is_neg(input) else input


def is_conj(input: Tensor) -> bool:
    """Whether `input` is a conjugated view of complex numbers, which `conj`, `adjoint`, ``x.mH`` and ``x.H`` give.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1 + 2j])
    >>> tg.is_conj(x), tg.is_conj(x.conj()), tg.is_conj(x.conj() * 2)
    (False, True, False)
    """
    return bit_of(input.ndarray, input.buffer) == "conjugate"


def is_neg(input: Tensor) -> bool:
    """Whether `input` is a negated view of real numbers: the imaginary part of a conjugated one.

    >>> import tracegrad as tg
    >>> tg.is_neg(tg.tensor([1 + 2j]).conj().imag)
    True
    """
    return bit_of(input.ndarray, input.buffer) == "negative"


def isreal(input: Tensor) -> Tensor:
    """Where the imaginary part is 0.

    >>> import tracegrad as tg
    >>> tg.isreal(tg.tensor([1 + 0j, 2j]))
    tensor([ True, False])
    """
    if input.dtype.is_complex:
        return eq(complex_numbers.imag(input), 0)
    return full(input.ndarray.shape, True, bool_)


def sgn(input: Tensor) -> Tensor:
    """The sign; of complex numbers ``input / abs(input)``, and 0 of 0.

    >>> import tracegrad as tg
    >>> tg.sgn(tg.tensor([3 + 4j, 0]))
    tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    out = arithmetic.sgn(input)
    relabel(out, "SgnBackward0", (input,), [input, out])
    return out
