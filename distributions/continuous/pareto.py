"""``Pareto`` and ``GeneralizedPareto``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.selecting import where
from ...ops.arithmetic import abs as absolute
from ...ops.elementary import exp, expm1, log, log1p
from ...tensors import random as draws
from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..distribution import Distribution
from ..transforms import AffineTransform, ExpTransform
from ..utils import broadcast_all
from .exponential import Exponential

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor
    from ..constraint_base import Constraint


class Pareto(TransformedDistribution):
    """Numbers from `scale` on with density ``alpha scale**alpha / x**(alpha + 1)``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Pareto(1.0, 2.0).mean
        tensor(2.)
    """

    arg_constraints: Any = {"alpha": constraints.positive, "scale": constraints.positive}
    alpha: Any
    scale: Any

    def __init__(self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        steps = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)  # infinite up to 1
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)  # infinite up to 2
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        return log(self.scale / self.alpha) + (1 + self.alpha.reciprocal())


class GeneralizedPareto(Distribution):
    """Numbers above `loc` with survival ``(1 + concentration z)**(-1 / concentration)``, ``z = (x - loc) / scale``.

    With concentration 0 (up to 1e-8) that is ``exp(-z)``; with a negative one there is an upper bound.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.GeneralizedPareto(0.0, 1.0, 0.0).log_prob(tg.tensor(2.0))
        tensor(-2.)
    """

    arg_constraints: Any = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    loc: Any
    scale: Any
    concentration: Any
    has_rsample = True

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self._setup(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        bounded = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, where(self.concentration < 0, bounded, math.inf))

    def _is_exponential(self) -> Any:
        return absolute(self.concentration) <= 1e-8

    def _shape(self) -> Any:
        """The concentration, 1 where it counts as 0."""
        return where(self._is_exponential(), 1.0, self.concentration)

    @property
    def mean(self) -> Tensor:
        mean = self.loc + self.scale / (1 - self.concentration)
        return where(self.concentration < 1, mean, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        variance = self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c))
        return where(c < 0.5, variance, math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(draws.rand(self._extended_shape(sample_shape), self.loc.dtype))

    def _log_density(self, value: Tensor) -> Tensor:
        z, c = (value - self.loc) / self.scale, self._shape()
        log_shape = where(self._is_exponential(), z, (1 / c + 1) * log1p(c * z))
        return -log(self.scale) - log_shape

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of ``1 - cdf(value)``. ValueError where `value` is outside the support."""
        if self._validate_args:
            self._validate_sample(value)
        z, c = (value - self.loc) / self.scale, self._shape()
        return where(self._is_exponential(), -z, -log1p(c * z) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of ``cdf(value)``. ValueError where `value` is outside the support."""
        return log1p(-exp(self.log_survival_function(value)))

    def _cumulative(self, value: Tensor) -> Tensor:
        return exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        c, log_survival = self._shape(), log1p(-value)
        return self.loc + self.scale * where(self._is_exponential(), -log_survival, expm1(-c * log_survival) / c)

    def entropy(self) -> Tensor:
        return log(self.scale) + self.concentration + 1
