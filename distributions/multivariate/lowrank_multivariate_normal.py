"""``LowRankMultivariateNormal``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.linear_algebra import matmul
from ...functional.matrices.triangular import cholesky, solve_triangular
from ...functional.shaping.diagonals import diag_embed
from ...ops.elementary import log, rsqrt, sqrt
from ...ops.types import broadcast_shapes
from ...tensors import random as draws
from ...tensors.creation import eye
from .. import constraints
from ..distribution import Distribution
from ..utils import lazy_property
from .matrices import half_log_det, log_normal_density, squared_distance, times_vector, transposed

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with covariance ``W @ W.T + diag(d)``.

    W is `cov_factor` ``[..., n, m]``, d is `cov_diag` ``[..., n]``, `loc` is ``[..., n]``.

    Systems of m equations take the place of those of n: Woodbury's identity, and the lemma on its determinant.

    Example:
        >>> import tracegrad as tg
        >>> low_rank = tg.distributions.LowRankMultivariateNormal(tg.zeros(2), tg.ones(2, 1), tg.ones(2))
        >>> low_rank.covariance_matrix
        tensor([[2., 1.],
                [1., 2.]])
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    loc: Any
    cov_factor: Any
    cov_diag: Any
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        _require_fitting(loc, cov_factor, cov_diag)
        try:
            batch_shape = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from None
        self.loc = loc.expand((*batch_shape, *loc.shape[-1:]))
        self.cov_diag = cov_diag.expand((*batch_shape, *cov_diag.shape[-1:]))
        self.cov_factor = cov_factor.expand((*batch_shape, *cov_factor.shape[-2:]))
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch_shape, loc.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    def _whole(self, matrix: Any) -> Any:
        n = self._event_shape[0]
        return matrix.expand((*self._batch_shape, n, n))

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance matrix."""
        squares = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return squares.expand((*self._batch_shape, *self._event_shape))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangle L with ``covariance_matrix = L @ L.T``."""
        roots = sqrt(self._unbroadcasted_cov_diag)
        n, scaled = self._event_shape[0], self._unbroadcasted_cov_factor / roots.unsqueeze(-1)
        inner = matmul(scaled, transposed(scaled)) + eye(n, dtype=scaled.dtype)
        return self._whole(roots.unsqueeze(-1) * cholesky(inner))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        return self._whole(matmul(factor, transposed(factor)) + diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        along = self._along_factor()
        inverse_diag = diag_embed(self._unbroadcasted_cov_diag.reciprocal())
        return self._whole(inverse_diag - matmul(transposed(along), along))

    def _along_factor(self) -> Any:
        """A ``[..., m, n]`` with the precision matrix ``diag(1 / d) - A.T @ A``."""
        rows = transposed(self._unbroadcasted_cov_factor) / self._unbroadcasted_cov_diag.unsqueeze(-2)
        return solve_triangular(self._capacitance_tril, rows, upper=False)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape, factor = self._extended_shape(sample_shape), self._unbroadcasted_cov_factor
        of_factor = draws.randn((*shape[:-1], factor.shape[-1]), self.loc.dtype)
        of_diag = draws.randn(shape, self.loc.dtype)
        return self.loc + times_vector(factor, of_factor) + sqrt(self._unbroadcasted_cov_diag) * of_diag

    def _half_log_det(self) -> Any:
        return half_log_det(self._capacitance_tril) + 0.5 * log(self._unbroadcasted_cov_diag).sum(-1)

    def _squared_distance(self, difference: Any) -> Any:
        """``x.T precision x`` of vectors x."""
        diag = self._unbroadcasted_cov_diag
        along = times_vector(transposed(self._unbroadcasted_cov_factor / diag.unsqueeze(-1)), difference)
        return (difference * rsqrt(diag)).pow(2).sum(-1) - squared_distance(self._capacitance_tril, along)

    def _log_density(self, value: Tensor) -> Tensor:
        distance = self._squared_distance(value - self.loc)
        return log_normal_density(distance, self._half_log_det(), self._event_shape[0])

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(self._batch_shape)


def _capacitance_tril(factor: Any, diag: Any) -> Any:
    """Cholesky's factor of ``I + W.T diag(d)^-1 W``."""
    m = factor.shape[-1]
    inner = matmul(transposed(factor) / diag.unsqueeze(-2), factor)
    return cholesky(inner + eye(m, dtype=factor.dtype))


def _require_fitting(loc: Any, factor: Any, diag: Any) -> None:
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    n = loc.shape[-1]
    if factor.dim() < 2:
        raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
    if factor.shape[-2] != n:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
    if diag.shape[-1:] != (n,):
        raise ValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")
