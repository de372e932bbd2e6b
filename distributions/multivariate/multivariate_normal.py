"""``MultivariateNormal``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops.types import broadcast_shapes
from ...tensors import random as draws
from .. import constraints
from .covariance import WithCovariance, only_one
from .matrices import half_log_det, log_normal_density, squared_distance, times_vector

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class MultivariateNormal(WithCovariance):
    """Normal vectors with mean `loc` ``[..., n]`` and a covariance ``[..., n, n]``, given in one of three forms.

    `covariance_matrix` and `precision_matrix` are symmetric and positive-definite, `scale_tril` is lower triangular
    with a positive diagonal and the cheapest. Compiled functions are re-recorded around its triangular systems.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.MultivariateNormal(tg.zeros(2), scale_tril=tg.eye(2)).log_prob(tg.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    loc: Any
    covariance_matrix: Any
    precision_matrix: Any
    scale_tril: Any
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = only_one(
            covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril
        )
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand((*batch_shape, loc.shape[-1]))
        vars(self)[name] = matrix.expand((*batch_shape, *matrix.shape[-2:]))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._factorise(name, matrix)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = draws.randn(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + times_vector(self._unbroadcasted_scale_tril, eps)

    def _squared_distance(self, difference: Any) -> Any:
        """``x.T precision x`` of vectors x."""
        return squared_distance(self._unbroadcasted_scale_tril, difference)

    def _log_density(self, value: Tensor) -> Tensor:
        triangle = self._unbroadcasted_scale_tril
        distance = self._squared_distance(value - self.loc)
        return log_normal_density(distance, half_log_det(triangle), self._event_shape[0])

    def entropy(self) -> Tensor:
        n = self._event_shape[0]
        entropy = 0.5 * n * (1.0 + math.log(2 * math.pi)) + half_log_det(self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape)
