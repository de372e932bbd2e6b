"""Functions of matrices under the names that they have in ``torch`` and as methods of tensors."""

# ruff: noqa: F401 (what is imported is offered under these names)

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from ...ops.complex_numbers.parts import conj_view
from ...tensors.autocasting import full_precision
from ...tracing.user_warning import deprecated_for, warn_once
from ..reductions import in_dtype
from ..reductions import norm as elements_norm
from .determinants import det, logdet
from .determinants import torch_slogdet as slogdet
from .forms import transposed
from .lu import lu_factor_ex, lu_solve, lu_unpack
from .norms import frobenius_norm, nuclear_norm
from .orthogonal import geqrf, householder_product, ormqr
from .orthogonal import torch_qr as qr
from .powers import chain_matmul, matrix_exp, matrix_power
from .removed import eig, lstsq, matrix_rank, solve, symeig
from .solving import inverse, pinverse
from .spectral import torch_svd as svd
from .triangular import cholesky_inverse, cholesky_solve, triangular_solve
from .triangular import torch_cholesky as cholesky
from .vectors import vander as rising_powers

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import Axes
    from ...tensors.tensor import Tensor


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers N - 1 to 0 of the elements ``x [n]`` as rows, ``[n, N]``, or 0 to N - 1; N is n unless given.

    >>> import tracegrad as tg
    >>> tg.vander(tg.tensor([2, 3]), N=3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    if x.ndarray.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.ndarray.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    powers = rising_powers(x, N=max(count, 2))[:, :count]
    return powers if increasing else powers.flip(-1)


def adjoint(input: Tensor) -> Tensor:
    """The matrices ``[..., m, n]`` transposed and conjugated, ``[..., n, m]``: ``x.mH``. RuntimeError for vectors.

    >>> import tracegrad as tg
    >>> tg.adjoint(tg.tensor([[1 + 2j, 3 + 0j]]))
    tensor([[1.-2.j],
            [3.-0.j]])
    """
    return _adjoint(input, "adjoint()")


def _adjoint(input: Tensor, name: str) -> Tensor:
    if input.ndarray.ndim == 0:
        warn_once("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().")
        return conj_view(input)
    if input.ndarray.ndim < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {input.ndarray.ndim}-D tensor."
        )
    return conj_view(transposed(input))


def conjugate_transpose(input: Tensor) -> Tensor:
    """The matrices ``[..., m, n]`` transposed and conjugated, ``[..., n, m]``. RuntimeError for vectors.

    >>> import tracegrad as tg
    >>> tg.ones(5, 2, 3).mH.shape
    tracegrad.Size([5, 3, 2])
    """
    return _adjoint(input, "mH")


def conjugate_transpose_of_matrix(input: Tensor) -> Tensor:
    """The matrix transposed and conjugated; a number conjugated. RuntimeError for other numbers of axes, see ``x.mH``.

    >>> import tracegrad as tg
    >>> tg.tensor([[1.0, 2.0]]).H
    tensor([[1.],
            [2.]])
    """
    if input.ndarray.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndarray.ndim}-D tensor. Use x.mH."
        )
    if input.ndarray.ndim:
        return conj_view(transposed(input))
    warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
    return conj_view(input)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """(LU, pivots): `linalg.lu_factor` under its older name; with `get_infos` also the first pivot that is 0 (else 0).

    >>> import tracegrad as tg
    >>> tg.lu(tg.tensor([[1., 2.], [4., 4.]]))[1]
    tensor([2, 2], dtype=tracegrad.int32)
    """
    warn_once(deprecated_for("torch.lu", "torch.linalg.lu_factor / torch.linalg.lu_factor_ex"))
    out = lu_factor_ex(A, pivot=pivot)
    return out if get_infos else tuple(out)[:2]


def norm(
    input: Tensor,
    p: float | str = "fro",
    dim: Axes | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Tensor:
    """The `p`-norm of the elements over `dim`; with "nuc" the sum of singular values, of a matrix or over two axes.

    `dtype` is what is computed in. RuntimeError for integers. Where the norm is 0, its gradient is 0.

    >>> import tracegrad as tg
    >>> tg.norm(tg.tensor([[3., 0.], [0., 4.]])), tg.norm(tg.tensor([[3., 0.], [0., 4.]]), "nuc")
    (tensor(5.), tensor(7.))
    """
    if p == "nuc":
        return nuclear_norm(in_dtype(input, dtype), dim, keepdim)
    return elements_norm(input, p, dim, keepdim, dtype)


def torch_lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution X of ``AX = input``, given ``lu_factor(A)``: `linalg.lu_solve` with its arguments in another order.

    >>> import tracegrad as tg
    >>> factors = tg.linalg.lu_factor(tg.tensor([[2.0, 0.0], [1.0, 4.0]]))
    >>> tg.lu_solve(tg.tensor([[2.0], [9.0]]), *factors)
    tensor([[1.],
            [2.]])
    """
    warn_once(deprecated_for("torch.lu_solve", "torch.linalg.lu_solve"))
    return lu_solve(LU_data, LU_pivots, input)


def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """Q of the reflections that `geqrf` gives: `linalg.householder_product` under LAPACK's name.

    >>> import tracegrad as tg
    >>> tg.orgqr(*tg.geqrf(tg.tensor([[3.0, 1.0], [4.0, 2.0]]))).abs()
    tensor([[0.6000, 0.8000],
            [0.8000, 0.6000]])
    """
    return householder_product(input, input2)


#: What computes in float32 under autocast.
_FULL_PRECISION = frozenset(
    "cholesky cholesky_inverse cholesky_solve geqrf inverse lu orgqr ormqr pinverse qr svd torch_lu_solve "
    "triangular_solve".split()
)

globals().update(
    {
        name: full_precision(function)
        for name, function in list(globals().items())
        if name in _FULL_PRECISION and isinstance(function, FunctionType)
    }
)
