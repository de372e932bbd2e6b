"""Determinants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...ops.comparison import where
from .. import joining, return_types
from .checks import is_complex, numbers, require_floating, require_kernel, require_square
from .forms import column, conj, diagonals, identity_like, mH, real, row
from .solving import SOLVE
from .spectral import svd

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _others(values: Any) -> Any:
    """For each of the values the product of the others, without a division."""
    n = values.ndarray.shape[-1]
    rest = where(identity_like(column(values)) == 1, 1.0, row(values).expand(*values.shape, n))
    return rest.prod(-1)


def _determinant_gradient(g: Any, A: Any, determinant: Any) -> Any:
    """The adjugate's adjoint: by a system of equations, or where it is singular by the singular values
    (N. Higham, What is the adjugate of a matrix)."""
    if not A.ndarray.size:
        return A * 0
    if A.ndarray.shape[-1] == 1:
        return column(column(g))
    sizes = np.abs(numbers(determinant))
    singular = ~(sizes >= 100 * np.finfo(A.ndarray.dtype).eps)
    scale = column(column(g * conj(determinant)))
    if not singular.any():
        return SOLVE(mH(A), identity_like(A) * scale)[0]
    if not singular.all():
        return _mixed(g, A, singular)
    U, S, Vh = svd(A)
    return (U * row(_others(S) * column(conj(det(U) * det(Vh)) * g))) @ Vh


def _mixed(g: Any, A: Tensor, singular: np.ndarray) -> Tensor:
    """A batch in which some matrices are singular, each by itself."""
    n = A.ndarray.shape[-1]
    flat, cotangents = A.reshape(-1, n, n), g.reshape(-1)
    parts = []
    for matrix, cotangent in zip(flat.unbind(0), cotangents.unbind(0), strict=True):
        parts.append(_determinant_gradient(cotangent, matrix, det(matrix)))
    return joining.stack(parts, 0).reshape(A.shape)


DETERMINANT = NumpyFunction(
    "linalg.det", "A", "determinant", np.linalg.det, _determinant_gradient, "LinalgDetBackward0"
)


def det(A: Tensor) -> Tensor:
    """The determinants of the square matrices ``A [..., n, n]``, ``[...]``.

    The gradient of a singular matrix is right; the second derivative there needs distinct singular values.

    >>> import tracegrad as tg
    >>> tg.linalg.det(tg.tensor([[2., 1.], [0., 4.]]))
    tensor(8.)
    """
    require_square("linalg.det", A)
    if A.ndarray.dtype.kind in "biu":
        require_floating("linalg.det", A)
    require_kernel("lu_cpu", A)
    return DETERMINANT(A)


def _sign_and_log(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sign, size = np.linalg.slogdet(a)
    return np.where(np.isnan(sign), 0, sign).astype(a.dtype), size


def _log_gradient(g: Any, A: Any, sign: Any) -> Any:
    of_sign, of_size = g
    if of_sign is None and of_size is None:
        return None
    scale = of_size
    if is_complex(A) and of_sign is not None:
        turned = conj(of_sign) * sign
        scale = -(turned - real(turned)) if scale is None else scale - (turned - real(turned))
    if scale is None:
        return A * 0
    return SOLVE(mH(A), diagonals(column(scale).expand(*A.shape[:-1])).to(A.dtype))[0]


SIGN_AND_LOG = NumpyFunction("linalg.slogdet", "A", "sign size", _sign_and_log, _log_gradient, "LinalgSlogdetBackward0")


def _slogdet(name: str, A: Any) -> Any:
    require_square(name, A)
    require_floating(name, A)
    return SIGN_AND_LOG(A)


def slogdet(A: Tensor) -> return_types.linalg_slogdet:
    """(sign, logabsdet): the determinants' signs (complex numbers of size 1) and the logarithms of their sizes.

    Those of singular matrices are 0 and minus infinity.

    >>> import tracegrad as tg
    >>> tg.linalg.slogdet(tg.tensor([[-2., 1.], [0., 0.5]]))
    tracegrad.return_types.linalg_slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(0.))
    """
    return return_types.linalg_slogdet(*_slogdet("linalg.slogdet", A))


def torch_slogdet(input: Tensor) -> return_types.slogdet:
    """(sign, logabsdet) of the square matrices ``[..., n, n]``: `linalg.slogdet` under its older name.

    >>> import tracegrad as tg
    >>> tg.slogdet(tg.tensor([[-2.0, 1.0], [0.0, 0.5]])).sign
    tensor(-1.)
    """
    return return_types.slogdet(*_slogdet("linalg.slogdet", input))


def logdet(input: Tensor) -> Tensor:
    """The logarithms of the determinants: minus infinity for 0, NaN where one is negative.

    >>> import tracegrad as tg
    >>> tg.logdet(tg.tensor([[1., 0.], [0., 1.]]))
    tensor(0.)
    """
    sign, size = _slogdet("logdet", input)
    if is_complex(input):
        return sign.log() + size
    return where(sign == -1, float("nan"), size)
