"""The matrix product: the one product with a loop of its own; everything else is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Kernel, bind, current, define
from .movement import transpose
from .types import Type, bool_


def _dot_type(x: Type, y: Type) -> Type:
    if x.dtype is bool_ and y.dtype is bool_:
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    if x.dtype is not y.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {x.dtype.c_name} != {y.dtype.c_name}")
    if x.ndim < 2 or x.shape[:-2] != y.shape[:-2]:
        raise RuntimeError(f"batch dimensions of a matrix product must be equal: {x} @ {y}")
    if x.shape[-1] != y.shape[-2]:
        (m, k), (inner, n) = x.shape[-2:], y.shape[-2:]
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({m}x{k} and {inner}x{n})")
    return Type(x.dtype, (*x.shape[:-1], y.shape[-1]))


def transposed(x: Any) -> Any:
    """x with its last two axes swapped."""
    ndim = current().type_of(x).ndim
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


dot_primitive = define(
    "dot",
    ("x", "y"),
    type=_dot_type,
    eval=np.matmul,
    lower=Kernel("dot"),
    vjp={"x": lambda g, y: dot(g, transposed(y)), "y": lambda g, x: dot(transposed(x), g)},
    backward_name="MmBackward0",
)


def dot(x: Any, y: Any) -> Any:
    """``[..., m, k] @ [..., k, n]`` with equal leading axes, of one type.

    RuntimeError where sizes or types differ, NotImplementedError for bool.
    """
    interpreter = current()
    _dot_type(interpreter.type_of(x), interpreter.type_of(y))
    return bind(dot_primitive, x, y)
