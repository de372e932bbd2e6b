"""QR decompositions, and products of Householder reflections.

The derivatives: M. Seeger et al., Auto-differentiating linear algebra, arXiv:1710.08717; wide matrices: their leading
square, whose Q the other columns follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction, underivable
from ...tensors.composite import composite
from ...tracing.user_warning import deprecated_for, warn_once
from .. import joining, return_types
from ..shaping.diagonals import triu
from .checks import require_floating, require_kernel, require_matrices, type_name
from .forms import by_columns, column, diagonal, diagonals, identity_like, lower, mH, plus, real, zeros
from .triangular import solve_triangular

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


# --------------------------------------------------------------------------------------------------------------- QR


def _decomposed(a: np.ndarray, mode: Any) -> tuple[np.ndarray, np.ndarray]:
    m, n = a.shape[-2:]
    if a.size:
        found: Any = np.linalg.qr(a, mode)
        return (np.zeros(0, a.dtype), found) if mode == "r" else tuple(found)
    k = m if mode == "complete" else min(m, n)
    q = np.zeros((*a.shape[:-2], m, k), a.dtype) + np.eye(m, k, dtype=a.dtype)
    return (q if mode != "r" else q[..., :0, :0].reshape(-1)[:0]), np.zeros((*a.shape[:-2], k, n), a.dtype)


def _halved(x: Tensor) -> Tensor:
    """The Hermitian matrix of which `x` is one triangle."""
    below = lower(x, -1)
    return below + mH(below) + diagonals(real(diagonal(x)).to(x.dtype))


def _qr_gradient(g: Any, Q: Any, R: Any, mode: str) -> Any:
    gq, gr = g
    if gq is None and gr is None:
        return None
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to require gradients."
        )
    m, n = Q.ndarray.shape[-2], R.ndarray.shape[-1]
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols. Use mode='reduced'."
        )
    if m >= n:
        return _tall_gradient(gq, gr, Q, R)
    square, wide = joining.narrow(R, -1, 0, m), joining.narrow(R, -1, m, n - m)
    of_square = of_wide = None
    if gr is not None:
        of_square, of_wide = joining.narrow(gr, -1, 0, m), joining.narrow(gr, -1, m, n - m)
        gq = plus(gq, Q @ wide @ mH(of_wide))
    first = _tall_gradient(gq, of_square, Q, square)
    last = zeros(first, *first.ndarray.shape[:-1], n - m) if of_wide is None else Q @ of_wide
    return joining.cat([first, last], -1)


def _tall_gradient(gq: Any, gr: Any, Q: Any, R: Any) -> Any:
    inner = None if gr is None else R @ mH(triu(gr))
    inner = plus(inner, None if gq is None else -(mH(gq) @ Q))
    return solve_triangular(mH(R), plus(Q @ _halved(inner), gq), upper=False, left=False)


QR = NumpyFunction("linalg.qr", "A", "Q R", _decomposed, _qr_gradient, "LinalgQrBackward0", lies="columns columns")


def qr(A: Tensor, mode: str = "reduced") -> return_types.linalg_qr:
    """(Q, R) with ``A = Q @ R``: orthonormal columns and an upper triangle.

    Shapes: ``A [..., m, n]``; with k = min(m, n) ``Q [..., m, k]`` and ``R [..., k, n]``; ``[..., m, m]`` and
    ``[..., m, n]`` in the mode "complete"; in the mode "r" Q is empty. No derivative in the mode "r", nor in "complete"
    for m > n; the derivative needs linearly independent leading columns.

    >>> import tracegrad as tg
    >>> tg.linalg.qr(tg.tensor([[3., 1.], [4., 2.]])).R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    require_matrices("linalg.qr", A)
    if A.ndarray.dtype.kind in "biu":
        require_floating("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    require_kernel("geqrf_cpu", A)
    return return_types.linalg_qr(*QR(A, mode=mode))


def torch_qr(input: Tensor, some: bool = True) -> return_types.qr:
    """(Q, R) with ``input = Q @ R``: `linalg.qr` under its older name, "complete" unless `some`.

    >>> import tracegrad as tg
    >>> tg.qr(tg.tensor([[3.0, 1.0], [4.0, 2.0]])).R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    warn_once(deprecated_for("torch.qr", "torch.linalg.qr"))
    return return_types.qr(*qr(input, "reduced" if some else "complete"))


# ------------------------------------------------------------------------------------------- Householder reflections


def _reflectors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    k = min(a.shape[-2:])
    if not a.size:
        return np.array(a), np.zeros((*a.shape[:-2], k), a.dtype)
    h, tau = np.linalg.qr(a, "raw")
    return np.swapaxes(h, -2, -1), tau


REFLECTORS = NumpyFunction(
    "geqrf", "A", "a tau", _reflectors, underivable("geqrf"), "NotImplemented", lies="columns rows"
)


def geqrf(input: Tensor) -> return_types.geqrf:
    """(a, tau): R in the upper triangle of `a`, and below it the vectors of the reflections whose product is Q.

    Shapes: ``input [..., m, n]``, ``a`` the same, ``tau [..., min(m, n)]``. Not differentiable; `linalg.qr` is.
    RuntimeError for fewer than two axes.

    >>> import tracegrad as tg
    >>> a, tau = tg.geqrf(tg.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> tg.triu(a).abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    if input.ndarray.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    require_kernel("geqrf_cpu", input)
    return return_types.geqrf(*REFLECTORS(input))


def _require_reflections(name: str, a: Any, tau: Tensor) -> None:
    require = [
        (a.ndarray.ndim >= 2, "input must have at least 2 dimensions."),
        (a.ndarray.ndim < 2 or a.ndarray.shape[-2] >= a.ndarray.shape[-1],
         "input.shape[-2] must be greater than or equal to input.shape[-1]"),
        (not tau.ndarray.ndim or a.ndarray.shape[-1] >= tau.ndarray.shape[-1],
         "input.shape[-1] must be greater than or equal to tau.shape[-1]"),
        (a.ndarray.ndim - tau.ndarray.ndim == 1, "Expected tau to have one dimension less than input, but got tau.ndim "
         f"equal to {tau.ndarray.ndim} and input.ndim is equal to {a.ndarray.ndim}"),
        (a.ndarray.shape[:-2] == tau.ndarray.shape[:-1],
         f"Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}"),
        (a.dtype is tau.dtype, f"tau dtype {type_name(tau)} does not match input dtype {type_name(a)}"),
    ]  # fmt: skip
    for holds, message in require:
        if not holds:
            raise RuntimeError(f"{name}: {message}")


def _reflected(a: Any, tau: Tensor, x: Tensor, order: Any, adjoint: bool) -> Tensor:
    """The reflections ``I - tau v v^H`` (their adjoints) in this order applied to `x` from the left."""
    k = tau.ndarray.shape[-1]
    below = lower(joining.narrow(a, -1, 0, k), -1) + identity_like(a)[:, :k]
    for i in order:
        v, scale = joining.narrow(below, -1, i, 1), column(joining.narrow(tau, -1, i, 1))
        scale = mH(scale) if adjoint else scale
        x = x - scale * (v @ (mH(v) @ x))
    return x


#: The product of no reflections: as in PyTorch, a result that has a history, and gradients that are None.
EMPTY = NumpyFunction(
    "linalg.householder_product",
    "input tau",
    "Q",
    lambda input, tau: np.broadcast_to(np.eye(*input.shape[-2:], dtype=input.dtype), input.shape),
    lambda g: (None, None),
    "LinalgHouseholderProductBackward0",
    lies="columns",
)


@composite("LinalgHouseholderProductBackward0", dict.fromkeys(("input", "tau", "out"), ("input", "tau")))
def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of the product of the reflections ``I - tau[i] v[i] v[i]^H``.

    Shapes: ``input [..., m, n]`` with v in its columns below the diagonal (ones on it, zeros above), ``tau [..., k]``
    with k <= n <= m, the result ``[..., m, n]``: Q of what `geqrf` gives.

    >>> import tracegrad as tg
    >>> A = tg.tensor([[3., 1.], [4., 2.]])
    >>> (tg.linalg.householder_product(*tg.geqrf(A)).abs() - tg.linalg.qr(A).Q.abs()).abs().max() < 1e-6
    tensor(True)
    """
    require_kernel("orgqr_cpu", input)
    _require_reflections("torch.linalg.householder_product", input, tau)
    if not tau.ndarray.shape[-1] or not input.ndarray.size:
        return EMPTY(input, tau)
    start = identity_like(input)[:, : input.ndarray.shape[-1]].expand(*input.shape)
    return by_columns(_reflected(input, tau, start, reversed(range(tau.ndarray.shape[-1])), False))


@composite("OrmqrBackward0", dict.fromkeys(("input", "tau", "other", "out"), ("input", "tau", "other")))
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """`other` times the product Q of reflections (see `householder_product`): ``Q @ other``, ``other @ Q`` if not
    `left`, with Q's adjoint if `transpose`.

    >>> import tracegrad as tg
    >>> A = tg.tensor([[3., 1.], [4., 2.]])
    >>> tg.ormqr(*tg.geqrf(A), A, transpose=True).abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    if input.ndarray.ndim < 2 or other.ndarray.ndim < 2:
        which = "input" if input.ndarray.ndim < 2 else "other"
        raise RuntimeError(f"torch.ormqr: {which} must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.ndarray.shape[side] < tau.ndarray.shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if tau.ndarray.shape[-1] != min(other.ndarray.shape[side], input.ndarray.shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    if other.ndarray.shape[side] != input.ndarray.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.dtype is not input.dtype:
        raise RuntimeError(
            f"torch.ormqr: Expected input and tau to have the same dtype, but input has dtype{type_name(input)} and "
            f"tau has dtype {type_name(tau)}"
        )
    require_kernel("ormqr_cpu", input)
    count = range(tau.ndarray.shape[-1])
    if left:
        return by_columns(_reflected(input, tau, other, count if transpose else reversed(count), transpose))
    return mH(_reflected(input, tau, mH(other), reversed(count) if transpose else count, not transpose))
