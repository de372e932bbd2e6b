"""``Wishart``."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

from ...functional.elementwise.gamma import mvlgamma
from ...functional.linear_algebra import matmul
from ...functional.matrices.determinants import slogdet
from ...functional.matrices.triangular import solve_triangular
from ...functional.selecting import where
from ...functional.shaping.diagonals import diag_embed
from ...ops.array import eager
from ...ops.elementary import sqrt
from ...ops.elementwise.special import digamma
from ...ops.types import broadcast_shapes
from ...tensors import random as draws
from ...tensors.creation import arange, full
from ...tracing.user_warning import warn_user
from .. import constraints
from ..continuous.gamma import Chi2
from ..exponential_family import ExponentialFamily
from ..utils import vec_to_tril_matrix
from ..validation import require_valid
from .covariance import WithCovariance, only_one
from .matrices import half_log_det, transposed

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

_LOG_2 = math.log(2.0)


def _mvdigamma(x: Any, n: int) -> Any:
    """The derivative of ``mvlgamma(x, n)``."""
    return digamma(x.unsqueeze(-1) - arange(n, dtype=x.dtype) / 2).sum(-1)


class Wishart(WithCovariance, ExponentialFamily):
    """Matrices ``sum(x @ x.T)`` of `df` normal vectors x with mean 0 and a covariance ``[..., n, n]``, in three forms.

    ValueError unless ``df > n - 1``; below n, samples are often singular, and a warning says so.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Wishart(tg.tensor(3.0), tg.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        try:
            name, matrix = only_one(
                covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril
            )
        except ValueError as error:
            raise AssertionError(str(error)) from None
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        n = matrix.shape[-1]
        given: Any = df
        df = full((), given, dtype=matrix.dtype) if isinstance(df, numbers.Number) else df
        batch_shape = broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch_shape)
        require_valid(df > n - 1, self, lambda: f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.", df)
        vars(self)[name] = matrix.expand((*batch_shape, n, n))
        if (eager().peek(df) < n).any():
            warn_user(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
            )
        super().__init__(batch_shape, (n, n), validate_args=validate_args)
        self._factorise(name, matrix)

    @property
    def arg_constraints(self) -> Any:
        n = len(self.event_shape) and self.event_shape[-1]
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(n - 1),
        }

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """NaN unless ``df > n + 1``."""
        factor = self.df - self.event_shape[-1] - 1
        return where(factor <= 0, math.nan, factor)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """By Bartlett's decomposition; singular matrices are drawn again, `max_try_correction` times (10).

        PyTorch takes all first draws for singular ones: it warns of them, and its numbers are the second ones, which
        these are as well.
        """
        self._drawn(sample_shape)
        sample = self._drawn(sample_shape)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            is_singular = self.support.check(sample.detach()).logical_not()
            if not is_singular.any():
                break
            warn_user("Singular sample detected.")
            sample = where(is_singular[..., None, None], self._drawn(sample_shape), sample)
        return sample

    def _drawn(self, sample_shape: Any) -> Any:
        n = self.event_shape[-1]
        degrees = self.df.unsqueeze(-1) - arange(n, dtype=self.df.dtype)
        diagonal = sqrt(Chi2(degrees, validate_args=False).rsample(sample_shape))
        below = draws.randn((*sample_shape, *self._batch_shape, n * (n - 1) // 2), self.df.dtype)
        noise = diag_embed(diagonal) + vec_to_tril_matrix(below, diag=-1) if n > 1 else diag_embed(diagonal)
        factor = matmul(self._unbroadcasted_scale_tril, noise)
        return matmul(factor, transposed(factor))

    def _log_density(self, value: Tensor) -> Tensor:
        df, n, triangle = self.df, self.event_shape[-1], self._unbroadcasted_scale_tril
        constant = df * (n * _LOG_2 / 2 + half_log_det(triangle)) + mvlgamma(df / 2, n)
        solved = solve_triangular(triangle, value, upper=False)
        trace = solve_triangular(transposed(triangle), solved, upper=True).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (df - n - 1) / 2 * slogdet(value).logabsdet - trace / 2 - constant

    def entropy(self) -> Tensor:
        df, n = self.df, self.event_shape[-1]
        of_scale = (n + 1) * (n * _LOG_2 / 2 + half_log_det(self._unbroadcasted_scale_tril))
        slope = (df - n - 1) / 2 * _mvdigamma(df / 2, n)
        return of_scale + mvlgamma(df / 2, n) - slope + df * n / 2

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self.event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        n = self.event_shape[-1]
        half_df = y + (n + 1) / 2
        return half_df * (n * _LOG_2 - slogdet(-2 * x).logabsdet) + mvlgamma(half_df, n)
