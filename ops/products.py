"""The matrix product: the one product with a loop of its own; everything else is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import quietly
from .core import Kernel, at_once, bind, current, define, switch
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
    vjp={
        "x": lambda g, y, x_by_columns: derived(g, y, 0, x_by_columns),
        "y": lambda g, x, y_by_columns: derived(g, x, 1, y_by_columns),
    },
    backward_name="MmBackward0",
)


def derived(g: Any, other: Any, position: int, by_columns: bool) -> Any:
    """The cotangent of operand 0 or 1, from that of the product and the other operand.

    It lies in memory as the operand does: a weight that is read transposed gets a gradient that is contiguous. What a
    checkpoint has computed again may be of another size, which `dot` refuses.
    """
    if (interpreter := at_once(g, other)) is not None and _fits(g.ndarray.shape, other.ndarray.shape, -1 - position):
        factor, given = other.ndarray, g.ndarray
        if 0 in given.strides:  # repeated elements, with which numpy would not call a library
            given = np.ascontiguousarray(given)
        if by_columns:
            factors = (given.T, factor) if position else (factor, given.T)
            return interpreter.literal(quietly(dot_primitive.evaluate, *factors).T)
        swapped = factor.swapaxes(-1, -2)
        factors = (swapped, given) if position else (given, swapped)
        return interpreter.literal(quietly(dot_primitive.evaluate, *factors))
    if by_columns:
        return transposed(dot(transposed(g), other) if position else dot(other, transposed(g)))
    return dot(transposed(other), g) if position else dot(g, transposed(other))


def _fits(g: tuple[int, ...], other: tuple[int, ...], axis: int) -> bool:
    """Whether matrices of these shapes, batches of them too, are as long along the axis over which they are summed."""
    return g[axis] == other[axis] and g[:-2] == other[:-2]


def dot(x: Any, y: Any) -> Any:
    """``[..., m, k] @ [..., k, n]`` with equal leading axes, of one type.

    RuntimeError where sizes or types differ, NotImplementedError for bool.
    """
    interpreter = current()
    if switch.stack or not _are_usual(x, y):
        _dot_type(interpreter.type_of(x), interpreter.type_of(y))
    return bind(dot_primitive, x, y)


def _are_usual(x: Any, y: Any) -> bool:
    """Whether the type rule can refuse nothing but extents, which numpy refuses as well: what is asked quickly."""
    a, b = getattr(x, "ndarray", None), getattr(y, "ndarray", None)
    if a is None or b is None or a.dtype is not b.dtype or a.dtype.kind != "f":
        return False
    return a.ndim >= 2 and a.shape[:-2] == b.shape[:-2]
