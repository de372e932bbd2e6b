"""Products of matrices and vectors, all made of the one batched matrix product."""

from __future__ import annotations

import math
from typing import Any

from ..ops import movement
from ..ops import reductions as folds
from ..ops.products import dot as product
from ..ops.types import bool_, broadcast_shapes
from ..tensors.composite import composite, relabel
from ..tensors.fusion import fused
from . import array_forms
from .shapes import t


def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices."""
    _require_ndim("mm", (("self", input, 2), ("mat2", mat2, 2)))
    return product(input, mat2)


def _require_ndim(name: str, operands: Any) -> None:
    for argument, x, ndim in operands:
        if x.ndarray.ndim != ndim:
            kind = {1: "a 1D tensor", 2: "a matrix", 3: "a 3D tensor"}[ndim]
            raise RuntimeError(f"{name}: {argument} must be {kind}, got {x.ndarray.ndim}D; matmul() takes any shapes")


@composite("BmmBackward0")
def bmm(input: Any, mat2: Any) -> Any:
    """The products of matching matrices in two batches."""
    _require_ndim("bmm", (("batch1", input, 3), ("batch2", mat2, 3)))
    if input.ndarray.shape[0] != mat2.ndarray.shape[0] or input.ndarray.shape[2] != mat2.ndarray.shape[1]:
        b, _, k = input.ndarray.shape
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: "
            f"{list(mat2.ndarray.shape[:2])}."
        )
    return product(input, mat2)


@composite("MvBackward0")
def mv(input: Any, vec: Any) -> Any:
    """A matrix times a vector."""
    _require_ndim("mv", (("self", input, 2), ("vec", vec, 1)))
    (m, k), n = input.ndarray.shape, vec.ndarray.size
    if k != n:
        raise RuntimeError(f"size mismatch, got input ({m}), mat ({m}x{k}), vec ({n})")
    return movement.reshape(product(input, movement.reshape(vec, (n, 1))), (m,))


@composite("DotBackward0")
def dot(input: Any, tensor: Any) -> Any:
    """The scalar product of two vectors."""
    if input.ndarray.ndim != 1 or tensor.ndarray.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndarray.ndim}D and {tensor.ndarray.ndim}D tensors")
    n = input.ndarray.size
    if n != tensor.ndarray.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{tensor.ndarray.size}] to have the same number "
            f"of elements, but got {n} and {tensor.ndarray.size} elements respectively"
        )
    return movement.reshape(product(movement.reshape(input, (1, n)), movement.reshape(tensor, (n, 1))), ())


def outer(input: Any, vec2: Any) -> Any:
    """Each element of one vector times each of the other."""
    _require_ndim("outer", (("self", input, 1), ("vec2", vec2, 1)))
    return movement.reshape(input, (input.ndarray.size, 1)) * vec2


def matmul(input: Any, other: Any) -> Any:
    """The matrix product as ``@``: vectors as rows or columns, leading axes broadcast.

    RuntimeError where the inner sizes or the batches do not fit together.
    """
    a, b = input.ndarray.ndim, other.ndarray.ndim
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 2:
        return product(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 1:
        row = matmul(movement.reshape(input, (1, input.ndarray.size)), other)
        return _without_axis(row, -2)
    if b == 1:
        return _without_axis(matmul(input, movement.reshape(other, (other.ndarray.size, 1))), -1)
    return _by_rows(input, other) if b == 2 else _batched(input, other)


def _without_axis(x: Any, axis: int) -> Any:
    shape = list(x.ndarray.shape)
    del shape[axis]
    return movement.reshape(x, tuple(shape))


def _by_rows(input: Any, other: Any) -> Any:
    """All rows of a batch times one matrix: a single product."""
    *lead, k = input.ndarray.shape
    rows = movement.reshape(input, (math.prod(lead), k))
    out = product(rows, other)
    return movement.reshape(out, (*lead, other.ndarray.shape[1]))


def _batched(input: Any, other: Any) -> Any:
    x, y = input.ndarray.shape, other.ndarray.shape
    batch = broadcast_shapes(x[:-2], y[:-2])
    left = input if x[:-2] == batch else movement.broadcast(input, (*batch, *x[-2:]))
    right = other if y[:-2] == batch else movement.broadcast(other, (*batch, *y[-2:]))
    return product(left, right)


def _require_type(which: str, x: Any, y: Any) -> None:
    if x.dtype is not y.dtype:
        raise RuntimeError(f"{which} must have the same dtype, but got {x.dtype.title} and {y.dtype.title}; use .to()")


@fused("AddmmBackward0", array_forms.affine, array_forms.affine_gradient, 3, {1: (2,), 2: (1,)})
def _affine(input: Any, mat1: Any, mat2: Any) -> Any:
    return mm(mat1, mat2) + input


@composite("AddmmBackward0")
def _scaled_affine(input: Any, mat1: Any, mat2: Any, beta: float, alpha: float) -> Any:
    out = mm(mat1, mat2)
    out = out if alpha == 1 else out * alpha
    return out + (input if beta == 1 else input * beta)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    if mat1.dtype is not mat2.dtype:
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {mat1.dtype.title} and {mat2.dtype.title}")
    _require_type("self and mat2", input, mat2)
    if alpha == 1 and beta == 1:
        return _affine(input, mat1, mat2)
    return _scaled_affine(input, mat1, mat2, beta, alpha)


@composite("BaddbmmBackward0")
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha * bmm(batch1, batch2)``."""
    _require_type("input and batch1", input, batch1)
    out = bmm(batch1, batch2)
    out = out if alpha == 1 else out * alpha
    return out + (input if beta == 1 else input * beta)


@composite("AddmvBackward0")
def addmv(input: Any, mat: Any, vec: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """``beta * input + alpha * (mat @ vec)``."""
    _require_type("input and mat", input, mat)
    out = mv(mat, vec)
    out = out if alpha == 1 else out * alpha
    return out + (input if beta == 1 else input * beta)


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``: `weight` is ``[out, in]``, `input` ``[..., in]``.

    RuntimeError where the sizes do not fit together.
    """
    if weight.ndarray.ndim == 1:
        out = matmul(input, weight)
        return out if bias is None else out + bias
    if input.ndarray.ndim == 2:
        return product(input, t(weight)) if bias is None else addmm(bias, input, t(weight))
    if not input.ndarray.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are 0D and {weight.ndarray.ndim}D"
        )
    *lead, k = input.ndarray.shape
    rows = movement.reshape(input, (math.prod(lead), k))
    out = product(rows, t(weight)) if bias is None else addmm(bias, rows, t(weight))
    return movement.reshape(out, (*lead, weight.ndarray.shape[0]))


@composite("TraceBackward0")
def trace(input: Any) -> Any:
    """The sum of a matrix's diagonal. NotImplementedError for truth values."""
    if input.dtype is bool_:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'. Convert it first, e.g. with .int().")
    if input.ndarray.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndarray.ndim}")
    n = min(input.ndarray.shape)
    square = movement.slice(input, (0, 0), (n, n), (1, 1))
    flat = movement.reshape(square, (n * n,))
    return folds.sum(movement.slice(flat, (0,), (n * n,), (n + 1,)), (0,))


def vecdot(x: Any, y: Any, dim: int = -1) -> Any:
    """The scalar products along `dim`."""
    return (x * y).sum(dim)


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The p-norm distances between all rows of `x1` and all rows of `x2`."""
    _require_type("x1 and x2", x1, x2)
    for place, x in enumerate((x1, x2), 1):
        if x.ndarray.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{place} got: {x.ndarray.ndim}D")
    columns = x1.ndarray.shape[-1], x2.ndarray.shape[-1]
    if columns[0] != columns[1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {columns[0]} X2: {columns[1]}")
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    out = difference.norm(p, -1)
    relabel(out, "CdistBackward0", (x1, x2), [x1, x2, out])
    return out
