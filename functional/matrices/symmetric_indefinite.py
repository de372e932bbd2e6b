"""Decompositions ``L D L^T`` of symmetric matrices, which numpy does not have: J. Bunch, L. Kaufman (1977)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction, underivable
from ...ops.types import broadcast_shapes
from .. import return_types
from .checks import (
    batch_place,
    first_failure,
    numbers,
    require_floating,
    require_kernel,
    require_one_type,
    require_square,
)

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


_ALPHA = (1 + math.sqrt(17)) / 8  # the bound of growth is then least


class _Matrix:
    """One matrix, whose lower triangle becomes L and the blocks of D (of one or two rows)."""

    def __init__(self, a: np.ndarray, hermitian: bool) -> None:
        self.a, self.n = np.tril(a), len(a)
        self.pivots, self.info = np.zeros(self.n, np.int32), 0
        self.conj = np.conj if hermitian else np.asarray

    def decompose(self) -> None:
        k = 0
        while k < self.n:
            k += self._step(k)

    def _step(self, k: int) -> int:
        pivot, size = self._choose(k)
        if pivot < 0:
            self.info = self.info or k + 1
            self.pivots[k] = k + 1
            return 1
        at = k + size - 1
        if pivot != at:
            self._interchange(k, at, pivot)
        below = self.a[k + size :, k : k + size].copy()
        block = self.a[k : k + size, k : k + size]
        block = block + self.conj(np.tril(block, -1).T)
        if len(below):
            factor = np.linalg.solve(block.T, below.T).T
            self.a[k + size :, k + size :] -= np.tril(factor @ self.conj(below.T))
            self.a[k + size :, k : k + size] = factor
        self.pivots[k : k + size] = pivot + 1 if size == 1 else -(pivot + 1)
        return size

    def _choose(self, k: int) -> tuple[int, int]:
        """The row to interchange with and the size of the block; a negative row where all is 0."""
        a, n = np.abs(self.a.real) + np.abs(self.a.imag), self.n  # what LAPACK takes for the size
        column = a[k + 1 :, k]
        largest = column.max() if k < n - 1 else 0.0
        if max(a[k, k], largest) == 0 or np.isnan(a[k, k]):
            return -1, 1
        if a[k, k] >= _ALPHA * largest:
            return k, 1
        row = k + 1 + int(np.argmax(column))
        others = max(a[row, k:row].max(), a[row + 1 :, row].max() if row < n - 1 else 0.0)
        if a[k, k] >= _ALPHA * largest * (largest / others):
            return k, 1
        return (row, 1) if a[row, row] >= _ALPHA * others else (row, 2)

    def _interchange(self, k: int, at: int, pivot: int) -> None:
        a, conj = self.a, self.conj
        a[pivot + 1 :, [at, pivot]] = a[pivot + 1 :, [pivot, at]]
        between = a[at + 1 : pivot, at].copy()
        a[at + 1 : pivot, at] = conj(a[pivot, at + 1 : pivot])
        a[pivot, at + 1 : pivot] = conj(between)
        a[pivot, at] = conj(a[pivot, at])
        a[at, at], a[pivot, pivot] = a[pivot, pivot], a[at, at]
        if at != k:
            a[at, k], a[pivot, k] = a[pivot, k], a[at, k]


def _factored(a: np.ndarray, hermitian: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lead, n = a.shape[:-2], a.shape[-1]
    out, pivots, info = np.empty_like(a), np.empty((*lead, n), np.int32), np.zeros(lead, np.int32)
    for place in np.ndindex(lead):
        matrix = _Matrix(a[place], hermitian)
        matrix.decompose()
        out[place], pivots[place], info[place] = matrix.a, matrix.pivots, matrix.info
    return out, pivots, info


FACTOR = NumpyFunction(
    "linalg.ldl_factor",
    "A",
    "LD pivots info",
    _factored,
    underivable("linalg_ldl_factor_ex"),
    "NotImplemented",
    lies="columns rows rows",
)


def _solved(a: np.ndarray, pivots: np.ndarray, b: np.ndarray, hermitian: bool) -> np.ndarray:
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, (*lead, *a.shape[-2:]))
    pivots = np.broadcast_to(pivots, (*lead, pivots.shape[-1]))
    x = np.array(np.broadcast_to(b, (*lead, *b.shape[-2:])))
    for place in np.ndindex(lead):
        _solve_one(a[place], pivots[place], x[place], np.conj if hermitian else np.asarray)
    return x


def _solve_one(a: np.ndarray, pivots: np.ndarray, x: np.ndarray, conj: Any) -> None:
    """LAPACK's sytrs, in place: by L and D from the front, by the adjoint of L from the back."""
    k, n, blocks = 0, len(a), []
    while k < n:
        size = 1 if pivots[k] > 0 else 2
        at, pivot = k + size - 1, abs(int(pivots[k])) - 1
        blocks.append((k, size, at, pivot))
        x[[at, pivot]] = x[[pivot, at]]
        x[k + size :] -= a[k + size :, k : k + size] @ x[k : k + size]
        block = np.tril(a[k : k + size, k : k + size])
        block = block + conj(np.tril(block, -1).T)
        x[k : k + size] = np.linalg.solve(block, x[k : k + size]) if block.all() or size == 2 else x[k] / block[0]
        k += size
    for k, size, at, pivot in reversed(blocks):
        x[k : k + size] -= conj(a[k + size :, k : k + size].T) @ x[k + size :]
        x[[at, pivot]] = x[[pivot, at]]


SOLVE = NumpyFunction(
    "linalg.ldl_solve",
    "LD pivots B",
    "X",
    _solved,
    underivable("linalg_ldl_solve"),
    "NotImplemented",
    lies="columns",
)


def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> return_types.linalg_ldl_factor_ex:
    """(LD, pivots, info): `ldl_factor`, with the place of the first block of D that is 0 in `info` (from 1, else 0).

    `info` is int32 [...] for matrices [..., n, n].

    >>> import tracegrad as tg
    >>> tg.linalg.ldl_factor_ex(tg.zeros(2, 2)).info
    tensor(1, dtype=tracegrad.int32)
    """
    require_square("torch.linalg.ldl_factor_ex", A)
    if A.ndarray.dtype.kind in "biu":
        require_floating("torch.linalg.ldl_factor_ex", A)
    require_kernel("ldl_factor_kernel_cpu", A)
    LD, pivots, info = FACTOR(A, hermitian=bool(hermitian) and A.ndarray.dtype.kind == "c")
    values = numbers(info) if check_errors else np.zeros(0)
    if values.any():
        raise RuntimeError(
            f"torch.linalg.ldl_factor_ex: {batch_place(values)}The diagonal element {first_failure(values)} is zero: "
            "the matrix is singular, and D cannot be inverted. Use linalg.ldl_factor_ex without check_errors, or lstsq."
        )
    return return_types.linalg_ldl_factor_ex(LD, pivots, info)


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> return_types.linalg_ldl_factor:
    """(LD, pivots): a unit lower triangle L and a block diagonal D with ``A = L D L^T``, for `ldl_solve`.

    A [..., n, n] is symmetric (Hermitian if `hermitian`); its lower triangle is read. D's blocks have one or two rows,
    and `pivots` (int32 [..., n]) are LAPACK's: negative for blocks of two. RuntimeError where D is singular. Not
    differentiable.

    >>> import tracegrad as tg
    >>> tg.linalg.ldl_factor(tg.tensor([[2., 0.], [0., 3.]])).pivots
    tensor([1, 2], dtype=tracegrad.int32)
    """
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian, check_errors=True)
    return return_types.linalg_ldl_factor(LD, pivots)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution X of ``AX = B``, given ``ldl_factor(A)``. Shapes: ``LD [..., n, n]``, ``B [..., n, k]``.

    >>> import tracegrad as tg
    >>> A = tg.tensor([[2., 1.], [1., 0.]])
    >>> tg.linalg.ldl_solve(*tg.linalg.ldl_factor(A), tg.tensor([[4.], [1.]]))
    tensor([[1.],
            [2.]])
    """
    name = "torch.linalg.ldl_solve"
    require_square(name, LD, "LD")
    require_kernel("ldl_solve_kernel_cpu", LD)
    if B.ndarray.ndim < 2:
        raise RuntimeError(f"{name}: Expected B to have at least 2 dimensions, but it has {B.ndarray.ndim} dimensions "
                           "instead")  # fmt: skip
    if pivots.ndarray.shape != LD.ndarray.shape[:-1]:
        raise RuntimeError(f"{name}: Expected pivots.shape={list(pivots.shape)} to be LD.shape[:-1]")
    if pivots.ndarray.dtype.kind != "i":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype.title}")
    require_one_type(name, LD, B)
    broadcast_shapes(LD.ndarray.shape[:-2], B.ndarray.shape[:-2])
    return SOLVE(LD, pivots, B, hermitian=bool(hermitian) and LD.ndarray.dtype.kind == "c")
