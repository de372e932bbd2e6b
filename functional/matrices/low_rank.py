"""Singular values and principal components of large matrices from a few random projections.

N. Halko, P. Martinsson, J. Tropp, Finding structure with randomness (2009), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.complex_numbers.parts import view_as_complex
from ...ops.types import DType, get_default_dtype, real_of
from ...tensors.random import normal, randn
from ..sparse.sparse_tensor import SparseTensor
from .forms import mH
from .orthogonal import qr
from .spectral import svd

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

SPARSE = "{}() takes dense tensors here; call .to_dense() on a sparse one"


def _drawn(shape: tuple[int, int], of: DType) -> Any:
    if of.is_complex:
        return view_as_complex(normal((*shape, 2), real_of(of), 0.0, 2**-0.5))
    return randn(shape, of)


def _basis(A: Any, q: int, niter: int, M: Any) -> Any:
    """Orthonormal columns that nearly span those of ``A - M``, after `niter` turns of the power method."""
    of = A.dtype if A.dtype.is_floating_point or A.dtype.is_complex else get_default_dtype()

    def times(columns: Any, adjoint: bool = False) -> Any:
        left, right = (mH(A), M if M is None else mH(M)) if adjoint else (A, M)
        product = left @ columns
        return qr(product if right is None else product - right @ columns).Q

    found = times(_drawn((A.ndarray.shape[-1], q), of))
    for _ in range(niter):
        found = times(times(found, adjoint=True))
    return found


def _decomposed(A: Any, q: int, niter: int, M: Any) -> tuple[Any, Any, Any]:
    """(U, S, V) of ``A - M``, whose smaller axis is the second."""
    basis = _basis(A, q, niter, M)
    small = mH(basis) @ A
    U, S, Vh = svd(small if M is None else small - mH(basis) @ M, full_matrices=False)
    return basis @ U, S, mH(Vh)


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) with ``A - M`` nearly ``U @ diag(S) @ V.mH``: its `q` largest singular values, by random projections.

    Shapes: ``A [..., m, n]`` (and `M`, which is broadcast to it; None: zeros), ``U [..., m, q]``, ``S [..., q]``,
    ``V [..., n, q]``. `q` None is 6, `niter` None is 2. The normal numbers are PyTorch's.
    Difference: sparse tensors are refused (TypeError).

    >>> import tracegrad as tg
    >>> A = tg.tensor([[3., 0.], [0., 2.], [0., 0.]])
    >>> tg.svd_lowrank(A, q=2)[1].round(decimals=4)
    tensor([3., 2.])
    """
    if isinstance(A, SparseTensor) or isinstance(M, SparseTensor):
        raise TypeError(SPARSE.format("svd_lowrank"))
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    M = None if M is None else M.broadcast_to(A.size())
    if A.ndarray.shape[-2] >= A.ndarray.shape[-1]:
        return _decomposed(A, q, niter, M)
    U, S, V = _decomposed(mH(A), q, niter, None if M is None else mH(M))
    return V, S, U


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) of the rows of ``A [..., m, n]``, without their mean if `center`: V has the `q` principal directions.

    `q` None is the least of 6, m and n. ValueError for a `q` above m or n, and for a negative `niter`. See
    `svd_lowrank`.

    >>> import tracegrad as tg
    >>> tg.pca_lowrank(tg.tensor([[1., 0.], [-1., 0.], [3., 0.]]), q=1)[2].abs()
    tensor([[1.],
            [0.]])
    """
    if isinstance(A, SparseTensor):
        raise TypeError(SPARSE.format("pca_lowrank"))
    m, n = A.ndarray.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean((-2,), True) if center else A, q, niter)
