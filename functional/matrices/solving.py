"""Inverses, pseudo-inverses, and systems of equations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...ops.types import broadcast_shapes, int64
from ...tensors.creation import full
from .. import return_types
from .checks import (
    LinAlgError,
    batch_place,
    first_failure,
    is_complex,
    numbers,
    require_fitting,
    require_floating,
    require_one_type,
    require_square,
    type_name,
)
from .forms import by_columns, conj, mH, mT, zeros
from .lu import factored

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


# ---------------------------------------------------------------------------------------------------------- inverses


def _by_matrix(solve: Any, a: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``solve(a, *others)``, NaN for singular matrices; and for these their first pivot that is 0 (from 1)."""
    info = np.zeros(a.shape[:-2], np.int32)
    try:
        return solve(a, *others), info
    except np.linalg.LinAlgError:
        info = factored(a)[2]
    safe = np.where((info != 0)[..., None, None], np.eye(a.shape[-1], dtype=a.dtype), a)
    return np.where((info != 0)[..., None, None], a.dtype.type(np.nan), solve(safe, *others)), info


def _inverse_gradient(g: Any, inverse: Any) -> Any:
    return None if g[0] is None else -(mH(inverse) @ g[0] @ mH(inverse))


INVERSE = NumpyFunction(
    "linalg.inv",
    "A",
    "inverse info",
    lambda a: _by_matrix(np.linalg.inv, a),
    _inverse_gradient,
    "LinalgInvExBackward0",
    lies="columns rows",
)


def inv_ex(A: Tensor, *, check_errors: bool = False) -> return_types.linalg_inv_ex:
    """(inverse, info): `inv`, with the first pivot that is 0 in `info` (from 1; 0 where there is none).

    `info` is int32 [...] for matrices [..., n, n]. The inverse of a singular matrix is NaN here.

    >>> import tracegrad as tg
    >>> tg.linalg.inv_ex(tg.tensor([[2., 0.], [0., 0.]])).info
    tensor(2, dtype=tracegrad.int32)
    """
    require_square("linalg.inv", A)
    require_floating("linalg.inv", A)
    inverse, info = INVERSE(A)
    if check_errors:
        values = numbers(info)
        if values.any():
            raise LinAlgError(
                f"linalg.inv: {batch_place(values)}The diagonal element {first_failure(values)} is zero, the inversion "
                "could not be completed because the input matrix is singular. linalg.pinv takes any matrix."
            )
    return return_types.linalg_inv_ex(inverse, info)


def inv(A: Tensor) -> Tensor:
    """The inverses of the square matrices ``A [..., n, n]``. LinAlgError for a singular one.

    >>> import tracegrad as tg
    >>> tg.linalg.inv(tg.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return inv_ex(A, check_errors=True).inverse


def inverse(input: Tensor) -> Tensor:
    """The inverses of the square matrices ``[..., n, n]``: `linalg.inv` under its older name.

    LinAlgError for a singular one, RuntimeError for what is not square and for integers.

    >>> import tracegrad as tg
    >>> tg.inverse(tg.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return inv(input)


def _pseudo_inverse(a: np.ndarray, *limits: np.ndarray, hermitian: bool) -> np.ndarray:
    absolute, relative = limits
    if not a.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    if hermitian:
        s, u = np.linalg.eigh(a)
        largest = np.abs(s).max(-1, keepdims=True)
        vh = u.swapaxes(-2, -1).conj()
    else:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        largest = s[..., :1]
    kept = np.abs(s) > np.maximum(absolute[..., None], relative[..., None] * largest)
    weights = np.divide(1, s, where=kept, out=np.zeros_like(s))
    return np.matmul(vh.swapaxes(-2, -1).conj() * weights[..., None, :], u.swapaxes(-2, -1).conj())


def _pinv_gradient(g: Any, A: Any, pinv: Any) -> Any:
    """G. Golub, V. Pereyra, The differentiation of pseudo-inverses (1973), for full and constant rank."""
    m, n = A.ndarray.shape[-2:]
    gh, adjoint = mH(g), mH(pinv)
    if m <= n:
        k = gh @ pinv
        ka = k @ adjoint
        return -mH(pinv @ k) + ka - (A @ pinv) @ ka + (adjoint @ pinv) @ (gh - k @ A)
    k = pinv @ gh
    ak = adjoint @ k
    return -mH(k @ pinv) + (gh - A @ k) @ pinv @ adjoint + ak - (ak @ pinv) @ A


PSEUDO_INVERSE = NumpyFunction(
    "linalg.pinv", "A atol rtol", "pinv", _pseudo_inverse, lambda g, A, pinv: (_pinv_gradient(g, A, pinv), None, None),
    "LinalgPinvBackward0",
)  # fmt: skip


def limits(x: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """The limits below which singular values of `x` count as 0, as tensors: absolute, and as a part of the largest."""
    dtype = x.real.dtype if is_complex(x) else x.dtype
    if rtol is None:
        usual = float(np.finfo(x.ndarray.dtype).eps) * max(x.ndarray.shape[-2:])
        rtol = usual if atol is None else full((), 0.0, dtype=dtype)
        if atol is not None and hasattr(atol, "ndarray"):
            rtol = (atol <= 0).to(dtype) * usual
        elif atol is not None:
            rtol = 0.0 if atol > 0 else usual
    atol = 0.0 if atol is None else atol
    atol, rtol = (t if hasattr(t, "ndarray") else full((), float(t), dtype=dtype) for t in (atol, rtol))
    return atol.detach(), rtol.detach()


def pinv(
    A: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """The Moore-Penrose pseudo-inverses of ``A [..., m, n]``, in ``[..., n, m]``.

    Singular values of at most ``max(atol, rtol * largest)`` count as 0; `atol` is 0, `rtol` the type's epsilon times
    max(m, n) unless given (numbers or tensors; `rcond` is an older name of `rtol`). With `hermitian` one triangle is
    read and eigenvalues take their place. RuntimeError for integers.

    >>> import tracegrad as tg
    >>> tg.linalg.pinv(tg.tensor([[2., 0.], [0., 0.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    if A.ndarray.ndim < 2 or A.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise RuntimeError(
            f"linalg.pinv({type_name(A)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
        )
    if hermitian:
        require_square("linalg.pinv", A)
    atol, rtol = limits(A, atol, rcond if rtol is None else rtol)
    return PSEUDO_INVERSE(A, atol, rtol, hermitian=bool(hermitian))


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverses ``[..., n, m]`` of ``[..., m, n]``: `linalg.pinv` under its older name.

    Singular values below `rcond` times the largest count as 0.

    >>> import tracegrad as tg
    >>> tg.pinverse(tg.tensor([[2.0, 0.0]]))
    tensor([[0.5000],
            [0.0000]])
    """
    return pinv(input, rcond)


# ---------------------------------------------------------------------------------------------- systems of equations


def _solution(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if not b.size:
        return np.zeros((*lead, *b.shape[-2:]), b.dtype), np.zeros(a.shape[:-2], np.int32)
    return _by_matrix(np.linalg.solve, np.broadcast_to(a, (*lead, *a.shape[-2:])), b)


def _solve_gradient(g: Any, A: Any, X: Any, wanted: Any) -> Any:
    if g[0] is None:
        return None, None
    of_b = SOLVE(mH(A), g[0])[0]
    return -(of_b @ mH(X)) if wanted[0] else None, of_b


SOLVE = NumpyFunction(
    "linalg.solve", "A B", "X info", _solution, _solve_gradient, "LinalgSolveExBackward0", lies="columns rows"
)


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> return_types.linalg_solve_ex:
    """(result, info): `solve`, with the first pivot that is 0 in `info` (from 1; 0 where there is none).

    `info` is int32 [...] for systems [..., n, n]. The solution of a singular system is NaN here.

    >>> import tracegrad as tg
    >>> tg.linalg.solve_ex(tg.zeros(1, 1), tg.ones(1, 1)).info
    tensor(1, dtype=tracegrad.int32)
    """
    require_square("linalg.solve", A)
    require_floating("linalg.solve", A)
    require_one_type("linalg.solve", A, B)
    is_vector = B.ndarray.ndim == 1 or A.ndarray.ndim - 1 == B.ndarray.ndim and A.shape[:-1] == B.shape
    right = B.unsqueeze(-1) if is_vector else B
    if not B.ndarray.ndim:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 1 dimension.")
    require_fitting("linalg.solve", A, right, left)
    if not left and is_vector:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    broadcast_shapes(A.ndarray.shape[:-2], right.ndarray.shape[:-2])
    X, info = SOLVE(A, right) if left else SOLVE(mT(A), mT(right))
    if check_errors:
        values = numbers(info)
        if values.any():
            raise LinAlgError(
                f"torch.linalg.solve: {batch_place(values)}The solver failed because the input matrix is singular. "
                "linalg.lstsq takes any matrix."
            )
    X = X if left else mT(X)
    X = X.squeeze(-1) if is_vector else X  # vectors side by side are the columns of one matrix
    return return_types.linalg_solve_ex(by_columns(X) if is_vector and X.ndarray.ndim > 1 else X, info)


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of ``AX = B`` (``XA = B`` if not `left`). LinAlgError where A is singular.

    Shapes: ``A [..., n, n]``; ``B [..., n, k]`` (``[..., k, n]``), or vectors: ``[n]``, or ``[..., n]`` with the
    leading axes of A. Leading axes broadcast. Both are of one floating type.

    >>> import tracegrad as tg
    >>> tg.linalg.solve(tg.tensor([[2., 0.], [0., 4.]]), tg.tensor([2., 8.]))
    tensor([1., 2.])
    """
    return solve_ex(A, B, left=left, check_errors=True).result


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _least_squares(a: np.ndarray, b: np.ndarray, rcond: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The solutions of least norm, the ranks, the singular values."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    m, n = a.shape[-2:]
    out = np.zeros((*lead, n, b.shape[-1]), a.dtype)
    rank = np.zeros(lead, np.int64)
    values = np.zeros((*lead, min(m, n)), a.real.dtype)
    a, b = np.broadcast_to(a, (*lead, m, n)), np.broadcast_to(b, (*lead, *b.shape[-2:]))
    for place in np.ndindex(lead) if a.size and b.size else ():
        out[place], _, rank[place], values[place] = np.linalg.lstsq(a[place], b[place], rcond)
    return out, rank, values


def _least_squares_gradient(g: Any, A: Any, B: Any, wanted: Any) -> tuple[Any, Any]:
    if g[0] is None:
        return None, None
    inverse = pinv(A)
    of_b = mH(inverse) @ g[0] if wanted[1] else None
    return _pinv_gradient(g[0] @ mH(B), A, inverse) if wanted[0] else None, of_b


LEAST_SQUARES = NumpyFunction(
    "linalg.lstsq", "A B", "X rank values", _least_squares, _least_squares_gradient, "LinalgLstsqBackward0",
    constant=(2,), lies="columns rows rows",
)  # fmt: skip


def _require_least_squares(a: Any, b: Any, driver: Any, is_vector: bool) -> None:
    name = "torch.linalg.lstsq"
    if a.ndarray.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if not b.ndarray.ndim:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype, but got input's dtype "
                           f"{type_name(a)} and other's dtype {type_name(b)}")  # fmt: skip
    if driver is not None and driver not in DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of ({', '.join(DRIVERS)})")
    if is_vector and a.ndarray.shape[-2] != b.ndarray.shape[-1]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-1)")
    if not is_vector and a.ndarray.shape[-2] != b.ndarray.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-2)")


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> return_types.linalg_lstsq:
    """(solution, residuals, rank, singular_values) of the least-squares problems ``min |AX - B|``.

    Shapes: ``A [..., m, n]``, ``B [..., m, k]`` or vectors ``[..., m]``, ``solution [..., n, k]``. Singular values of
    at most `rcond` (the type's epsilon times max(m, n)) times the largest count as 0. ``residuals [..., k]`` are the
    squared distances, empty unless m > n and all ranks are n, and for the driver "gelsy" (the default); ``rank [...]``
    is empty for the driver "gels", `singular_values` for "gels" and "gelsy", as in PyTorch.
    All drivers are one computation here.

    >>> import tracegrad as tg
    >>> tg.linalg.lstsq(tg.tensor([[1.], [1.]]), tg.tensor([[1.], [3.]])).solution
    tensor([[2.]])
    """
    is_vector = B.ndarray.ndim == 1 or A.ndarray.ndim - 1 == B.ndarray.ndim and A.shape[:-1] == B.shape
    _require_least_squares(A, B, driver, is_vector)
    require_floating("torch.linalg.lstsq", A)
    m, n = A.ndarray.shape[-2:]
    limit = float(np.finfo(A.ndarray.dtype).eps) * max(m, n) if rcond is None else float(rcond)
    right = B.unsqueeze(-1) if is_vector else B
    broadcast_shapes(A.ndarray.shape[:-2], right.ndarray.shape[:-2])
    X, rank, values = LEAST_SQUARES(A, right, rcond=limit)
    driver = driver or "gelsy"
    nothing = zeros(values, 0)
    residuals = X.reshape(-1)[:0].real if is_complex(A) else X.reshape(-1)[:0]
    if m > n and driver != "gelsy" and (driver == "gels" or bool((numbers(rank) == n).all())):
        difference = A @ X - right
        residuals = (difference * conj(difference)).sum(-2)
        residuals = residuals.real if is_complex(A) else residuals
    return return_types.linalg_lstsq(
        X.squeeze(-1) if is_vector else X,
        residuals,
        full((0,), 0, dtype=int64) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else nothing,
    )


# ------------------------------------------------------------------------------------------------------------ tensors


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of ``A`` as a map from its axes after `ind` to those before.

    RuntimeError unless both groups of axes have equally many elements.

    >>> import tracegrad as tg
    >>> tg.linalg.tensorinv(tg.eye(4).reshape(2, 2, 4)).shape
    tracegrad.Size([4, 2, 2])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = A.ndarray.shape
    first, last = math.prod(shape[:ind]), math.prod(shape[ind:])
    if first != last:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{last} != {first}"
        )
    return inv(A.reshape(first, last)).reshape(*shape[ind:], *shape[:ind])


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The X with ``tensordot(A, X, X.ndim) = B``; A's axes `dims` are moved to its end first.

    >>> import tracegrad as tg
    >>> tg.linalg.tensorsolve(tg.eye(4).reshape(2, 2, 4), tg.ones(2, 2)).shape
    tracegrad.Size([4])
    """
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndarray.ndim - len(dims), A.ndarray.ndim)))
    shape = A.ndarray.shape[B.ndarray.ndim :]
    if math.prod(shape) != math.prod(A.ndarray.shape[: B.ndarray.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {math.prod(shape)} != {math.prod(A.ndarray.shape[: B.ndarray.ndim])}"
        )
    n = B.ndarray.size
    return solve(A.reshape(n, n), B.reshape(n)).reshape(shape)
