"""Complex numbers and their parts.

Compiled code has no complex numbers: calls that compute with them are re-recorded, and these ops are numpy's there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import Movement, Pointwise, bind, current, define
from ..movement import reshape, slice
from ..types import Type, complex_of, float16, real_of
from .conjugated import CONJUGATED


def _conj_type(x: Type) -> Type:
    if not x.dtype.is_complex:
        raise TypeError(f"conj computes complex numbers, got {x}")
    return x


# Its own derivative: the cotangent of the conjugate is conjugated.
conj_primitive = define(
    "conj", ("x",), type=_conj_type, eval=np.conj, lower=Pointwise("conj({x})"), vjp={"x": lambda g: conj(g)}
)


# The same as a view, which writes go through: what programs call; derivatives and formulas take the one above.
conj_view_primitive = define(
    "conj_view",
    ("x",),
    type=_conj_type,
    eval=np.conj,
    lower=CONJUGATED,
    vjp={"x": lambda g: conj(g)},
    backward_name="ConjBackward0",
)


def conj_view(x: Any) -> Any:
    """The complex conjugate, in the same memory as programs see it; real numbers as they are."""
    return bind(conj_view_primitive, x) if current().type_of(x).dtype.is_complex else x


def conj(x: Any) -> Any:
    """The complex conjugate; real numbers as they are."""
    return bind(conj_primitive, x) if current().type_of(x).dtype.is_complex else x


def _parts_type(x: Type) -> Type:
    if not x.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return Type(real_of(x.dtype), (*x.shape, 2))


def _parts(x: np.ndarray) -> np.ndarray:
    """Both parts of each number along a new last axis, in the same memory."""
    strides = (*x.strides, x.itemsize // 2)
    return as_strided(x.real, (*x.shape, 2), strides, writeable=x.flags.writeable)


view_as_real_primitive = define(
    "view_as_real",
    ("x",),
    type=_parts_type,
    eval=_parts,
    lower=Movement("view_as_real", view=True),
    vjp={"x": lambda g: view_as_complex(g)},
)


def view_as_real(x: Any) -> Any:
    """Real and imaginary parts along a new last axis, in the same memory. RuntimeError for real numbers."""
    _parts_type(current().type_of(x))
    return bind(view_as_real_primitive, x)


def _numbers_type(x: Type) -> Type:
    if x.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if not x.dtype.is_floating_point or x.dtype.itemsize < 4:
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{x.dtype.title}" + ("; complex numbers of Half are not there" if x.dtype is float16 else "")
        )
    return Type(complex_of(x.dtype), x.shape[:-1])


def _numbers(x: np.ndarray) -> np.ndarray:
    """The numbers whose parts are along the last axis; in the same memory where it lies so."""
    of = np.dtype(np.complex64 if x.dtype == np.float32 else np.complex128)
    lies_so = x.strides[-1] == x.itemsize and all(s % of.itemsize == 0 for s in x.strides[:-1])
    return x.view(of)[..., 0] if lies_so else np.ascontiguousarray(x).view(of)[..., 0]


view_as_complex_primitive = define(
    "view_as_complex",
    ("x",),
    type=_numbers_type,
    eval=_numbers,
    lower=Movement("view_as_complex", view=True),
    vjp={"x": lambda g: view_as_real(g)},
)


def view_as_complex(x: Any) -> Any:
    """Complex numbers of the two parts along the last axis. RuntimeError unless its extent is 2."""
    of = current().type_of(x)
    _numbers_type(of)
    return bind(view_as_complex_primitive, x)


#: Views in another type, and conjugates: what they show is not what compiled code has in that memory.
RETYPING = (view_as_real_primitive, view_as_complex_primitive, conj_view_primitive)


def real(x: Any) -> Any:
    """The real part, in the same memory; real numbers as they are."""
    return _part(x, 0) if current().type_of(x).dtype.is_complex else x


def imag(x: Any) -> Any:
    """The imaginary part, in the same memory. RuntimeError for real numbers."""
    if not current().type_of(x).dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(x, 1)


def _part(x: Any, which: int) -> Any:
    parts = view_as_real(x)
    shape = current().type_of(x).shape
    one = slice(parts, (*(0 for _ in shape), which), (*shape, which + 1), (1,) * (len(shape) + 1))
    return reshape(one, shape)
