"""LU decompositions with row interchanges, which numpy does not hand out, and what is solved by them.

Derivatives: with A = P L U, ``M = L^-1 P^T dA`` gives ``dU = M - tril(M1 U1^-1, -1) U`` where A is not taller than wide
(M1, U1: the leading square), and ``dL = N - L triu(L1^-1 N1)`` with ``N = P^T dA U^-1`` otherwise; the rules are the
adjoints of these.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...ops.types import broadcast_shapes
from ...tensors.composite import composite
from .. import joining, return_types
from .checks import (
    batch_place,
    first_failure,
    numbers,
    require_fitting,
    require_kernel,
    require_one_type,
    require_square,
    type_name,
)
from .forms import by_columns, identity_like, lower, mH, mT, plus, upper, zeros
from .triangular import solve_triangular

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def factored(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """L and U of the matrices in one array each, the interchanges (from 1), and the first pivot that is 0 (from 1)."""
    *lead, m, n = a.shape
    lu = np.array(a, order="C").reshape(math.prod(lead), m, n)
    each = np.arange(len(lu))
    pivots = np.empty((len(lu), min(m, n)), np.int32)
    info = np.zeros(len(lu), np.int32)
    for j in range(min(m, n)):
        found = lu[:, j:, j]
        size = np.abs(found.real) + np.abs(found.imag) if a.dtype.kind == "c" else np.abs(found)
        best = j + np.argmax(size, 1)
        pivots[:, j] = best + 1
        lu[each, j], lu[each, best] = lu[each, best], lu[each, j]
        pivot = lu[:, j, j]
        info[(pivot == 0) & (info == 0)] = j + 1
        lu[:, j + 1 :, j] /= np.where(pivot == 0, 1, pivot)[:, None]
        lu[:, j + 1 :, j + 1 :] -= lu[:, j + 1 :, j, None] * lu[:, j, None, j + 1 :]
    return lu.reshape(a.shape), pivots.reshape(*lead, min(m, n)), info.reshape(lead)


def permutation(pivots: np.ndarray, m: int) -> np.ndarray:
    """The matrices P that the interchanges stand for."""
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    order = np.tile(np.arange(m), (len(flat), 1))
    each = np.arange(len(flat))
    for j in range(flat.shape[-1]):
        best = flat[:, j] - 1
        order[each, j], order[each, best] = order[each, best], order[each, j]
    return np.eye(m, dtype=bool)[:, order].transpose(1, 0, 2).reshape(*pivots.shape[:-1], m, m)


def _permutation_of(pivots: np.ndarray, like: np.ndarray) -> np.ndarray:
    return permutation(pivots, like.shape[-2]).astype(like.dtype)


PERMUTATION = NumpyFunction("lu_unpack", "pivots LU", "P", _permutation_of, None)


def lower_of(lu: Tensor) -> Tensor:
    """L of a factorization in one tensor: ones on its diagonal."""
    m, n = lu.ndarray.shape[-2:]
    square = lower(joining.narrow(lu, -1, 0, min(m, n)), -1)
    ones = identity_like(square)[:, : min(m, n)]
    return square + ones


def upper_of(lu: Tensor) -> Tensor:
    """U of a factorization in one tensor."""
    m, n = lu.ndarray.shape[-2:]
    return upper(joining.narrow(lu, -2, 0, min(m, n)))


def _pulled_back(gl: Any, gu: Any, permuted: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """The cotangent of A = P L U from those of L and U."""
    m, n = left.ndarray.shape[-2], right.ndarray.shape[-1]
    k = min(m, n)
    gl, gu = gl if gl is None else lower(gl, -1), gu if gu is None else upper(gu)
    of_l: Any = None if gl is None else mH(left) @ gl
    of_u: Any = None if gu is None else gu @ mH(right)
    if m <= n:
        inner = lower(of_l if of_u is None else -of_u if of_l is None else of_l - of_u, -1)
        first = joining.narrow(right, -1, 0, k)
        inner = solve_triangular(mH(first), inner, upper=False, left=False)
        if m < n:
            inner = joining.cat([inner, zeros(inner, *inner.ndarray.shape[:-1], n - m)], -1)
        return permuted @ solve_triangular(mH(left), plus(inner, gu), upper=True, unitriangular=True)
    inner = upper(of_u if of_l is None else -of_l if of_u is None else of_u - of_l)
    first = joining.narrow(left, -2, 0, k)
    inner = solve_triangular(mH(first), inner, upper=True, unitriangular=True)
    inner = joining.cat([inner, zeros(inner, *inner.ndarray.shape[:-2], m - n, k)], -2)
    return permuted @ solve_triangular(mH(right), plus(inner, gl), upper=False, left=False)


def _factor_gradient(g: Any, LU: Any, pivots: Any) -> Any:
    if g[0] is None:
        return None
    m, n = LU.ndarray.shape[-2:]
    gl, gu = joining.narrow(g[0], -1, 0, min(m, n)), joining.narrow(g[0], -2, 0, min(m, n))
    return _pulled_back(gl, gu, PERMUTATION(pivots, LU.detach()), lower_of(LU), upper_of(LU))


FACTOR = NumpyFunction(
    "linalg.lu_factor",
    "A",
    "LU pivots info",
    factored,
    _factor_gradient,
    "LinalgLuFactorExBackward0",
    lies="columns rows rows",
)


def _parts(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lu, pivots, _ = factored(a)
    k = min(a.shape[-2:])
    left = np.tril(lu[..., :k], -1) + np.eye(a.shape[-2], k, dtype=a.dtype)
    return permutation(pivots, a.shape[-2]).astype(a.dtype), left, np.triu(lu[..., :k, :])


def _lu_gradient(g: Any, P: Any, L: Any, U: Any) -> Any:
    return None if g[1] is None and g[2] is None else _pulled_back(g[1], g[2], P, L, U)


LU = NumpyFunction("linalg.lu", "A", "P L U", _parts, _lu_gradient, "LinalgLuBackward0", constant=(0,))


def _require_lu(name: str, a: Any, pivot: bool) -> None:
    if a.ndarray.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(a.shape)} instead")
    require_kernel("lu_cpu", a)
    if not pivot:
        raise RuntimeError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU. Leave pivot=True, its default."
        )


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> return_types.linalg_lu_factor_ex:
    """(LU, pivots, info): `lu_factor`, with the first pivot that is 0 in `info` (from 1; 0 where there is none).

    Shapes: ``A [..., m, n]``, ``LU`` the same, ``pivots [..., min(m, n)]`` (int32), ``info [...]`` (int32).

    >>> import tracegrad as tg
    >>> tg.linalg.lu_factor_ex(tg.tensor([[0., 0.], [0., 1.]])).info
    tensor(1, dtype=tracegrad.int32)
    """
    _require_lu("torch.lu_factor", A, pivot)
    LU, pivots, info = FACTOR(A)
    if check_errors:
        _refuse_zero_pivot(info)
    return return_types.linalg_lu_factor_ex(LU, pivots, info)


def _refuse_zero_pivot(info: Tensor) -> None:
    values = numbers(info)
    if values.any():
        i = first_failure(values)
        raise RuntimeError(
            f"torch.linalg.lu_factor: {batch_place(values)}U[{i},{i}] is zero and using it on lu_solve would result in "
            "a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) "
            "or linalg.lu_factor_ex(A, pivot)"
        )


def lu_factor(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu_factor:
    """(LU, pivots): both factors of ``A = P L U`` in one tensor, and the interchanges of rows (from 1), for `lu_solve`.

    Shapes: ``A [..., m, n]``, ``LU`` the same, ``pivots [..., min(m, n)]`` (int32). RuntimeError for a pivot that is 0
    (see `lu_factor_ex`) and for ``pivot=False``, which CPUs do not have in PyTorch, either.

    >>> import tracegrad as tg
    >>> tg.linalg.lu_factor(tg.tensor([[1., 2.], [4., 4.]])).pivots
    tensor([2, 2], dtype=tracegrad.int32)
    """
    out = lu_factor_ex(A, pivot=pivot, check_errors=True)
    return return_types.linalg_lu_factor(out.LU, out.pivots)


def lu(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu:
    """(P, L, U) with ``A = P @ L @ U``: a permutation, a lower triangle with ones on its diagonal, an upper triangle.

    Shapes: ``A [..., m, n]``, ``P [..., m, m]``, ``L [..., m, k]``, ``U [..., k, n]`` with k = min(m, n).

    >>> import tracegrad as tg
    >>> tg.linalg.lu(tg.tensor([[1., 2.], [4., 4.]])).U
    tensor([[4., 4.],
            [0., 1.]])
    """
    _require_lu("linalg.lu", A, pivot)
    return return_types.linalg_lu(*LU(A))


@composite("LinalgLuSolveBackward0", dict.fromkeys(("LU", "out"), ("LU", "B")))
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The solution X of ``AX = B`` (``XA = B`` if not `left`), given ``lu_factor(A)``; with `adjoint`, of A's adjoint.

    Shapes: ``LU [..., n, n]``, ``pivots [..., n]``, ``B [..., n, k]`` (``[..., k, n]``); leading axes broadcast.

    >>> import tracegrad as tg
    >>> A = tg.tensor([[2., 0.], [1., 4.]])
    >>> tg.linalg.lu_solve(*tg.linalg.lu_factor(A), tg.tensor([[2.], [9.]]))
    tensor([[1.],
            [2.]])
    """
    require_kernel("linalg.lu_solve", LU)
    if pivots.dtype.name != "int32":
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    require_square("torch.linalg.lu_solve", LU, "LU")
    require_one_type("linalg.lu_solve", LU, B)
    require_fitting("linalg.lu_solve", LU, B, left)
    if pivots.shape != LU.shape[:-1]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if not left:  # the adjoint of the equation has A's adjoint on the left
        return mH(_solved_by(LU, pivots, mH(B), not adjoint))
    return _solved_by(LU, pivots, B, adjoint)


def _solved_by(LU: Tensor, pivots: Tensor, B: Tensor, adjoint: bool) -> Tensor:
    lead = broadcast_shapes(LU.ndarray.shape[:-2], B.ndarray.shape[:-2])
    B = B.expand(*lead, *B.ndarray.shape[-2:]) if B.ndarray.shape[:-2] != lead else B
    P, L, U = PERMUTATION(pivots, LU.detach()), lower_of(LU), upper_of(LU)
    if adjoint:
        inner = solve_triangular(mH(U), B, upper=False)
        return by_columns(P @ solve_triangular(mH(L), inner, upper=True, unitriangular=True))
    inner = solve_triangular(L, mT(P) @ B, upper=False, unitriangular=True)
    return solve_triangular(U, inner, upper=True)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> return_types.lu_unpack:
    """(P, L, U) of what `lu_factor` gives; what is not asked for is an empty tensor.

    >>> import tracegrad as tg
    >>> tg.lu_unpack(*tg.linalg.lu_factor(tg.tensor([[1., 2.], [4., 4.]]))).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    if unpack_pivots and LU_pivots.dtype.name != "int32":
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor. Got "
            f"{type_name(LU_pivots)}."
        )
    nothing = zeros(LU_data, 0)
    P = PERMUTATION(LU_pivots, LU_data.detach()) if unpack_pivots else nothing
    L, U = (lower_of(LU_data), upper_of(LU_data)) if unpack_data else (nothing, nothing)
    return return_types.lu_unpack(P, L, U)
