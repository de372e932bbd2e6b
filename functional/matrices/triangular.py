"""Triangular systems, and Cholesky's decomposition.

The derivative of Cholesky's: I. Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...ops.types import broadcast_shapes
from ...tensors.composite import relabel
from ...tracing.user_warning import deprecated_for, warn_once
from .. import return_types
from .checks import (
    LinAlgError,
    batch_place,
    first_failure,
    numbers,
    require_fitting,
    require_floating,
    require_kernel,
    require_matrices,
    require_one_type,
    require_square,
)
from .forms import by_columns, diagonal, diagonals, lower, mH
from .forms import upper as upper_triangle

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


# ----------------------------------------------------------------------------------------------- triangular systems


def _solved(a: np.ndarray, b: np.ndarray, upper: bool, left: bool, unit: bool) -> np.ndarray:
    """The solution of ``AX = B`` (``XA = B``), of which one triangle of A is read."""
    if not left:
        return np.swapaxes(_solved(np.swapaxes(a, -2, -1), np.swapaxes(b, -2, -1), not upper, True, unit), -2, -1)
    if not upper:  # the other way round it is an upper triangle, in which elimination finds nothing to interchange
        return _solved(a[..., ::-1, ::-1], b[..., ::-1, :], True, True, unit)[..., ::-1, :]
    n = a.shape[-1]
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])
    if not n or not b.size:
        return np.zeros(shape, b.dtype)
    full = np.triu(a, 1) + np.eye(n, dtype=a.dtype) if unit else np.triu(a)
    if unit or np.all(np.diagonal(a, 0, -2, -1) != 0):
        return np.linalg.solve(full, np.broadcast_to(b, shape))
    return _substituted(full, np.array(np.broadcast_to(b, shape)))


def _substituted(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Back substitution, which divides by zeros, too."""
    for i in range(a.shape[-1] - 1, -1, -1):
        x[..., i, :] = x[..., i, :] / a[..., i, i, None]
        x[..., :i, :] -= a[..., :i, i, None] * x[..., i, None, :]
    return x


def _triangular_gradient(g: Any, A: Any, X: Any, upper: bool, left: bool, unit: bool, wanted: Any) -> tuple[Any, Any]:
    of_b = solve_triangular(mH(A), g, upper=not upper, left=left, unitriangular=unit)
    if not wanted[0]:
        return None, of_b
    of_a = -(of_b @ mH(X) if left else mH(X) @ of_b)
    return (upper_triangle if upper else lower)(of_a, (1 if upper else -1) if unit else 0), of_b


TRIANGULAR = NumpyFunction(
    "linalg.solve_triangular",
    "A B",
    "X",
    _solved,
    _triangular_gradient,
    "LinalgSolveTriangularBackward0",
    lies="columns",
)


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """The solution X of ``AX = B`` (``XA = B`` if not `left`), where A is an upper (lower) triangle.

    The other triangle is not read; nor is the diagonal if `unitriangular`: it is ones. A 0 on it gives infinities and
    NaN. Shapes: ``A [..., n, n]``, ``B [..., n, k]`` (``[..., k, n]``); leading axes broadcast.

    >>> import tracegrad as tg
    >>> tg.linalg.solve_triangular(tg.tensor([[2., 1.], [0., 4.]]), tg.tensor([[4.], [8.]]), upper=True)
    tensor([[1.],
            [2.]])
    """
    name = "linalg.solve_triangular"
    require_square(name, A)
    require_matrices(name, B, "B")
    require_one_type(name, A, B)
    require_fitting(name, A, B, left)
    require_kernel("triangular_solve", A)
    broadcast_shapes(A.ndarray.shape[:-2], B.ndarray.shape[:-2])
    return TRIANGULAR(A, B, upper=bool(upper), left=bool(left), unit=bool(unitriangular))


def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> return_types.triangular_solve:
    """(solution, cloned_coefficient): the X of ``AX = input`` (``A.mH X`` if `transpose`), A a triangle; a copy of A.

    ``input [..., n, k]``, ``A [..., n, n]``, of which the `upper` or the lower triangle is read, with ones on its
    diagonal if `unitriangular`. `linalg.solve_triangular` has its arguments the other way. RuntimeError for shapes or
    types that do not fit.

    >>> import tracegrad as tg
    >>> tg.triangular_solve(tg.tensor([[4.0], [2.0]]), tg.tensor([[1.0, 1.0], [0.0, 2.0]])).solution
    tensor([[3.],
            [1.]])
    """
    warn_once(deprecated_for("torch.triangular_solve", "torch.linalg.solve_triangular"))
    for name, x in (("b", input), ("A", A)):
        if x.ndarray.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {x.ndarray.ndim} "
                "dimensions instead"
            )
    require_square("triangular_solve", A)
    if transpose:
        solution = solve_triangular(mH(A), input, upper=not upper, unitriangular=unitriangular)
    else:
        solution = solve_triangular(A, input, upper=upper, unitriangular=unitriangular)
    relabel(solution, "TriangularSolveBackward0", (input, A), [input, A, solution])
    return return_types.triangular_solve(solution, by_columns(A))


# --------------------------------------------------------------------------------------------------------- Cholesky


def _decomposed(a: np.ndarray, upper: bool) -> tuple[np.ndarray, np.ndarray]:
    """L (U), and the order of the first leading minor that is not positive (0 where there is none)."""
    a = np.swapaxes(a, -2, -1).conj() if upper else a
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        found = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        found = np.empty_like(a)
        for place in np.ndindex(info.shape):
            found[place], info[place] = _column_by_column(a[place])
    bad = ~np.isfinite(np.diagonal(found, 0, -2, -1).real)
    if bad.any():  # NaN is not positive, which LAPACK does not always see
        info = np.where(bad.any(-1) & (info == 0), np.argmax(bad, -1) + 1, info).astype(np.int32)
    return np.swapaxes(found, -2, -1).conj() if upper else found, info


def _column_by_column(a: np.ndarray) -> tuple[np.ndarray, int]:
    """As far as it goes for one matrix: what remains is left as it is."""
    out = np.tril(a)
    for j in range(len(a)):
        pivot = (out[j, j] - np.vdot(out[j, :j], out[j, :j])).real
        if not pivot > 0:
            out[j, j] = pivot
            return out, j + 1
        out[j, j] = np.sqrt(pivot)
        out[j + 1 :, j] = (out[j + 1 :, j] - out[j + 1 :, :j] @ out[j, :j].conj()) / out[j, j]
    return out, 0


def _cholesky_gradient(g: Any, L: Any, upper: bool) -> Any:
    if g[0] is None:
        return None
    factor, of_factor = (mH(L), mH(g[0])) if upper else (L, g[0])
    inner = mH(factor) @ of_factor
    below = lower(inner, -1)
    symmetric = (below + mH(below) + diagonals(diagonal(inner))) * 0.5  # as PyTorch has it, with imaginary parts
    half = solve_triangular(mH(factor), symmetric, upper=True)
    return solve_triangular(factor, half, upper=False, left=False)


CHOLESKY = NumpyFunction(
    "linalg.cholesky", "A", "L info", _decomposed, _cholesky_gradient, "LinalgCholeskyExBackward0", lies="columns rows"
)


def _cholesky(name: str, A: Tensor, upper: bool, check_errors: bool) -> tuple[Tensor, Tensor]:
    L, info = CHOLESKY(A, upper=bool(upper))
    if check_errors:
        values = numbers(info)
        if values.any():
            raise LinAlgError(
                f"{name}: {batch_place(values)}The factorization could not be completed because the input is not "
                f"positive-definite (the leading minor of order {first_failure(values)} is not positive-definite). "
                "Add a small multiple of the identity, or use linalg.cholesky_ex, which does not raise."
            )
    return L, info


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> return_types.linalg_cholesky_ex:
    """(L, info): `cholesky`, with the order of the first leading minor that is not positive in `info`, else 0.

    `info` is int32 [...] for matrices [..., n, n].

    >>> import tracegrad as tg
    >>> tg.linalg.cholesky_ex(tg.tensor([[1., 2.], [2., 1.]])).info
    tensor(2, dtype=tracegrad.int32)
    """
    require_square("linalg.cholesky", A)
    if A.ndarray.dtype.kind in "biu":
        require_floating("linalg.cholesky", A)
    require_kernel("cholesky_cpu", A)
    return return_types.linalg_cholesky_ex(*_cholesky("linalg.cholesky", A, upper, check_errors))


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangle L with ``A = L @ L.mH`` (the upper U with ``A = U.mH @ U`` if `upper`), of which half is read.

    Shapes: ``A [..., n, n]`` and the same for the result. LinAlgError where A is not positive-definite.

    >>> import tracegrad as tg
    >>> tg.linalg.cholesky(tg.tensor([[4., 2.], [2., 5.]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return cholesky_ex(A, upper=upper, check_errors=True).L


def torch_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The triangle L with ``input = L @ L.mH`` (U with ``U.mH @ U`` if `upper`): `linalg.cholesky` by its older name.

    LinAlgError where a matrix of ``[..., n, n]`` is not positive-definite, RuntimeError for what is not square.

    >>> import tracegrad as tg
    >>> tg.cholesky(tg.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    warn_once(deprecated_for("torch.cholesky", "torch.linalg.cholesky"))
    require_square("cholesky", input)
    require_kernel("cholesky_cpu", input)
    return _cholesky("cholesky", input, upper, True)[0]


def _solved_by(b: np.ndarray, factor: np.ndarray, upper: bool) -> np.ndarray:
    factor = np.swapaxes(factor, -2, -1).conj() if upper else factor
    half = _solved(factor, b, False, True, False)
    return _solved(np.swapaxes(factor, -2, -1).conj(), half, True, True, False)


def _of_factor(common: Any, factor: Tensor, upper: bool) -> Tensor:
    """The cotangent of a factor from that of A; as in PyTorch also where the factor is not read."""
    common = common + mH(common)
    return -(factor @ common) if upper else -(common @ factor)


def _by_factor_gradient(g: Any, L: Any, X: Any, upper: bool, wanted: Any) -> tuple[Any, Any]:
    of_b = cholesky_solve(g, L, upper)
    return of_b, _of_factor(of_b @ mH(X), L, upper) if wanted[1] else None


BY_FACTOR = NumpyFunction(
    "cholesky_solve", "B L", "X", _solved_by, _by_factor_gradient, "CholeskySolveBackward0", lies="columns"
)


def _inverse_gradient(g: Any, L: Any, inverse: Any, upper: bool) -> Any:
    return _of_factor(inverse @ g @ inverse, L, upper)


FROM_FACTOR = NumpyFunction(
    "cholesky_inverse",
    "L",
    "inverse",
    lambda factor, upper: _solved_by(np.eye(factor.shape[-1], dtype=factor.dtype), factor, upper),
    _inverse_gradient,
    "CholeskyInverseBackward0",
    lies="columns",
)


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solution X of ``AX = input``, where `input2` is A's factor from `cholesky`.

    Shapes: ``input [..., n, k]``, ``input2 [..., n, n]``; leading axes broadcast.

    >>> import tracegrad as tg
    >>> tg.cholesky_solve(tg.tensor([[8.], [12.]]), tg.tensor([[2., 0.], [1., 2.]]))
    tensor([[1.],
            [2.]])
    """
    for name, x in (("b", input), ("u", input2)):
        if x.ndarray.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {x.ndarray.ndim} dimensions instead")
    require_square("cholesky_solve", input2)
    require_one_type("cholesky_solve", input2, input)
    require_fitting("cholesky_solve", input2, input, True)
    broadcast_shapes(input.ndarray.shape[:-2], input2.ndarray.shape[:-2])
    out = BY_FACTOR(input, input2, upper=bool(upper))
    relabel(out, "CholeskySolveBackward0", (input, input2), [input, input2, out])
    return out


def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose factor from `cholesky` is `input`. LinAlgError for a 0 on its diagonal.

    >>> import tracegrad as tg
    >>> tg.cholesky_inverse(tg.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])
    """
    require_square("cholesky_inverse", input)
    require_kernel("cholesky_inverse_out_cpu", input)
    zero = numbers(diagonal(input.detach()) == 0)
    if zero.any():
        failing = np.where(zero.any(-1), np.argmax(zero, -1) + 1, 0)
        raise LinAlgError(
            f"cholesky_inverse: {batch_place(failing)}The diagonal element {first_failure(failing)} is zero, the "
            "inversion could not be completed because the input matrix is singular."
        )
    return FROM_FACTOR(input, upper=bool(upper))
