"""``StudentT``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.selecting import where
from ...ops.elementary import log, log1p, rsqrt
from ...ops.elementwise.special import digamma, lgamma
from ...tensors import random as draws
from .. import constraints
from ..distribution import Distribution
from .gamma import Chi2

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class StudentT(Distribution):
    """``loc + scale x / sqrt(z / df)`` of standard normal x and chi-squared z with `df` degrees of freedom.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.StudentT(3.0).variance
        tensor(3.)
    """

    arg_constraints: Any = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    df: Any
    loc: Any
    scale: Any
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Tensor | float, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._setup(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        above_2 = where(self.df > 2, self.scale.pow(2) * self.df / (self.df - 2), math.inf)
        return where(self.df <= 1, math.nan, above_2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        x = draws.randn(self._extended_shape(sample_shape), self.df.dtype)
        z = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * (x * rsqrt(z / self.df))

    def _log_density(self, value: Tensor) -> Tensor:
        y, half = (value - self.loc) / self.scale, 0.5 * self.df
        normalizer = log(self.scale) + 0.5 * log(self.df) + 0.5 * math.log(math.pi) + lgamma(half) - lgamma(half + 0.5)
        return -(half + 0.5) * log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        log_beta = math.lgamma(0.5) + lgamma(half) - lgamma(half + 0.5)
        slope = (half + 0.5) * (digamma(half + 0.5) - digamma(half))
        return log(self.scale) + slope + 0.5 * log(self.df) + log_beta
