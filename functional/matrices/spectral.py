"""Eigenvalues and singular values.

The derivatives: M. Giles, An extended collection of matrix derivative results (2008); for singular vectors beside a
full basis: J. Townsend, Differentiating the singular value decomposition (2016). Vectors are determined up to a sign
(a phase): a loss must not depend on it. Where values coincide, gradients of vectors are not finite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...tape.tangents import is_differentiated
from .. import return_types
from .checks import (
    LinAlgError,
    is_complex,
    numbers,
    require_floating,
    require_kernel,
    require_matrices,
    require_square,
    type_name,
)
from .forms import column, conj, diagonal, diagonals, identity_like, mH, mT, plus, real, row
from .solving import solve

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


# ------------------------------------------------------------------------------------------------- singular values


def _decomposed(a: np.ndarray, full_matrices: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    _require_finite("linalg.svd", a)
    m, n = a.shape[-2:]
    if a.size:
        u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
        return u, s, vh
    k = min(m, n)
    u = np.zeros((*a.shape[:-2], m, m if full_matrices else k), a.dtype)
    vh = np.zeros((*a.shape[:-2], n if full_matrices else k, n), a.dtype)
    return (
        u + np.eye(*u.shape[-2:], dtype=a.dtype),
        np.zeros((*a.shape[:-2], k), a.real.dtype),
        vh + np.eye(*vh.shape[-2:], dtype=a.dtype),
    )


def _require_finite(name: str, a: np.ndarray) -> None:
    if not np.isfinite(a).all():
        bad = ~np.isfinite(a).all((-2, -1))
        place = f"(Batch element {int(np.flatnonzero(bad)[0])}): " if bad.ndim else ""
        raise LinAlgError(
            f"{name}: {place}The algorithm failed to converge because the input matrix contained non-finite values."
        )


def _skew(x: Tensor) -> Tensor:
    return x - mH(x)


def _differences(values: Any) -> Any:
    """``values[j] - values[i]`` at row i and column j, 1 on the diagonal."""
    return row(values) - column(values) + identity_like(column(values))


def _svd_gradient(g: Any, U: Any, S: Any, Vh: Any) -> Any:
    gu, gs, gvh = g
    if gu is None and gs is None and gvh is None:
        return None
    k = S.ndarray.shape[-1]
    if gu is None and gvh is None:
        return (U[..., :k] * row(gs)) @ Vh[..., :k, :]
    U, gu = U[..., :k], gu if gu is None else gu[..., :k]
    Vh, gvh = Vh[..., :k, :], gvh if gvh is None else gvh[..., :k, :]
    of_u, of_v = None if gu is None else mH(U) @ gu, None if gvh is None else Vh @ mH(gvh)
    if is_complex(U):
        _require_invariance(of_u, of_v)
    scale = S * S
    between = _differences(scale)
    inner = None if of_u is None else _skew(of_u) / between * row(S)
    inner = plus(inner, None if of_v is None else column(S) * (_skew(of_v) / between))
    if gs is not None:
        inner = inner + diagonals(gs)
    if is_complex(U) and of_u is not None:
        inner = inner + diagonals((diagonal(of_u) - real(diagonal(of_u))) / S)
    return _beside(U, S, Vh, inner, gu, gvh, of_u, of_v)


def _beside(U: Tensor, S: Tensor, Vh: Tensor, inner: Any, gu: Any, gvh: Any, of_u: Any, of_v: Any) -> Tensor:
    """The cotangent of A from that of its core, and from what lies outside of the spaces that U and V span."""
    m, n, k = U.ndarray.shape[-2], Vh.ndarray.shape[-1], S.ndarray.shape[-1]
    if m > k and gu is not None:
        out = (U @ inner + (gu - U @ of_u) / row(S)) @ Vh
    else:
        out = U @ (inner @ Vh)
    if n > k and gvh is not None:
        out = out + (U / row(S)) @ (gvh - mH(of_v) @ Vh)
    return out


def _require_invariance(*parts: Any) -> None:
    """RuntimeError where a loss of complex vectors depends on their phases."""
    total = sum(diagonal(part).imag.detach() for part in parts if part is not None)
    if total.ndarray.size and not np.abs(numbers(total)).max() <= 1e-2:
        raise RuntimeError(
            "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. "
            "The specified loss function depends on this quantity, so it is ill-defined."
        )


SVD = NumpyFunction(
    "linalg.svd", "A", "U S Vh", _decomposed, _svd_gradient, "LinalgSvdBackward0", lies="columns rows columns"
)


def _values(a: np.ndarray) -> np.ndarray:
    _require_finite("linalg.svd", a)
    shape = (*a.shape[:-2], min(a.shape[-2:]))
    return np.linalg.svd(a, compute_uv=False) if a.size else np.zeros(shape, a.real.dtype)


VALUES = NumpyFunction("linalg.svdvals", "A", "S", _values, None)


def _require_svd(A: Tensor, driver: Any) -> None:
    require_matrices("linalg.svd", A)
    if A.ndarray.dtype.kind in "biu":
        require_floating("linalg.svd", A)
    require_kernel("linalg_svd_cpu", A)
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> return_types.linalg_svd:
    """(U, S, Vh) with ``A = U @ diag(S) @ Vh``: orthogonal (unitary) matrices, and singular values in falling order.

    Shapes: ``A [..., m, n]``, ``S [..., k]`` with k = min(m, n), ``U [..., m, m]`` and ``Vh [..., n, n]``, or
    ``[..., m, k]`` and ``[..., k, n]`` without `full_matrices`. LinAlgError for numbers that are not finite.

    >>> import tracegrad as tg
    >>> tg.linalg.svd(tg.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    _require_svd(A, driver)
    return return_types.linalg_svd(*SVD(A, full_matrices=bool(full_matrices)))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of ``A [..., m, n]`` in falling order, ``[..., min(m, n)]``.

    >>> import tracegrad as tg
    >>> tg.linalg.svdvals(tg.tensor([[3., 0.], [0., 4.]]))
    tensor([4., 3.])
    """
    _require_svd(A, driver)
    if is_differentiated(A):
        return SVD(A, full_matrices=False)[1]
    return VALUES(A)


def torch_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> return_types.svd:
    """(U, S, V), where ``A = U @ diag(S) @ V.mH``: `linalg.svd` under its older name, which gives V itself.

    All of U and V without `some`; zeros for them without `compute_uv`.

    >>> import tracegrad as tg
    >>> tg.svd(tg.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    if input.ndarray.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {input.ndarray.ndim} dimensions instead"
        )
    if not compute_uv:
        *lead, m, n = input.ndarray.shape
        u, v = input.detach().new_zeros((*lead, m, m)), input.detach().new_zeros((*lead, n, n))
        return return_types.svd(u, svdvals(input), mT(v))  # zeros, which lie as PyTorch's do
    U, S, Vh = svd(input, not some)
    return return_types.svd(U, S, mH(Vh))


# ------------------------------------------------------------------------------------- eigenvalues, symmetric matrices


def _symmetric(a: np.ndarray, lower: bool) -> tuple[np.ndarray, np.ndarray]:
    if not np.isfinite(a).all():
        return np.full(a.shape[:-1], np.nan, a.real.dtype), np.full(a.shape, np.nan, a.dtype)
    values, vectors = np.linalg.eigh(a, "L" if lower else "U")
    return values, vectors


def _symmetric_gradient(g: Any, values: Any, vectors: Any) -> Any:
    of_values, of_vectors = g
    if of_values is None and of_vectors is None:
        return None
    if of_vectors is None:
        return (vectors * row(of_values)) @ mH(vectors)
    inner = mH(vectors) @ of_vectors
    if is_complex(vectors):
        _require_phase("linalg_eigh_backward", diagonal(inner).imag)
    inner = _skew(inner) / (2 * _differences(values))
    inner = inner - diagonals(diagonal(inner))
    if of_values is not None:
        inner = inner + diagonals(of_values)
    return vectors @ inner @ mH(vectors)


def _require_phase(name: str, parts: Any) -> None:
    if parts.ndarray.size and not np.abs(numbers(parts)).max() <= 1e-2:
        raise RuntimeError(
            f"{name}: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. The "
            "specified loss function depends on this quantity, so it is ill-defined."
        )


SYMMETRIC = NumpyFunction(
    "linalg.eigh", "A", "values vectors", _symmetric, _symmetric_gradient, "LinalgEighBackward0", lies="rows columns"
)


def _is_lower(uplo: Any) -> bool:
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    return uplo.upper() == "L"


def eigh(A: Tensor, UPLO: str = "L") -> return_types.linalg_eigh:
    """(eigenvalues, eigenvectors) of symmetric (Hermitian) matrices, of which the triangle `UPLO` is read.

    Shapes: ``A [..., n, n]``, real eigenvalues in rising order ``[..., n]``, eigenvectors in columns ``[..., n, n]``.

    >>> import tracegrad as tg
    >>> tg.linalg.eigh(tg.tensor([[2., 1.], [1., 2.]])).eigenvalues
    tensor([1., 3.])
    """
    require_square("linalg.eigh", A)
    require_kernel("linalg_eigh_cpu", A)
    return return_types.linalg_eigh(*SYMMETRIC(A, lower=_is_lower(UPLO)))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of `eigh` in rising order.

    >>> import tracegrad as tg
    >>> tg.linalg.eigvalsh(tg.tensor([[2., 1.], [1., 2.]]))
    tensor([1., 3.])
    """
    return eigh(A, UPLO).eigenvalues


# ------------------------------------------------------------------------------------------ eigenvalues, any matrices


def _general(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not np.isfinite(a).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    of = np.result_type(a.dtype, np.complex64)
    values, vectors = np.linalg.eig(a)
    return values.astype(of), vectors.astype(of)


def _general_gradient(g: Any, values: Any, vectors: Any) -> Any:
    of_values, of_vectors = g
    if of_values is None and of_vectors is None:
        return None
    inner: Any = diagonals(of_values) if of_values is not None else None
    if of_vectors is not None:
        product = mH(vectors) @ of_vectors
        _require_phase("linalg_eig_backward", diagonal(product).imag)
        product = product - (mH(vectors) @ vectors) * row(real(diagonal(product)))
        product = product / conj(_differences(values))
        inner = plus(inner, product - diagonals(diagonal(product)))
    return solve(mH(vectors), inner @ mH(vectors))


EIGEN = NumpyFunction(
    "linalg.eig", "A", "values vectors", _general, _general_gradient, "LinalgEigBackward0", lies="rows columns"
)


def eig(A: Tensor) -> return_types.linalg_eig:
    """(eigenvalues, eigenvectors) of square matrices, both complex, the eigenvalues in no particular order.

    Shapes: ``A [..., n, n]``, eigenvalues ``[..., n]``, eigenvectors in columns ``[..., n, n]``, of length 1.
    RuntimeError for numbers that are not finite.

    >>> import tracegrad as tg
    >>> tg.linalg.eig(tg.tensor([[0., 1.], [-1., 0.]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    _require_eig("linalg.eig", A)
    return return_types.linalg_eig(*EIGEN(A))


def eigvals(A: Tensor) -> Tensor:
    """The complex eigenvalues of `eig`, in no particular order.

    >>> import tracegrad as tg
    >>> tg.linalg.eigvals(tg.tensor([[2., 1.], [0., 3.]]))
    tensor([2.+0.j, 3.+0.j])
    """
    _require_eig("linalg.eigvals", A)
    return EIGEN(A)[0]


def _require_eig(name: str, A: Tensor) -> None:
    require_square(name, A)
    if A.ndarray.dtype.kind in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {type_name(A)}")
    require_kernel("linalg_eig_out_cpu", A)
