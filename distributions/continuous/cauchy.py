"""``Cauchy`` and ``HalfCauchy``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.selecting import where
from ...ops.elementary import log, log1p
from ...ops.trigonometry import atan, tan
from ...tensors.creation import empty, full_like, zeros_like
from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..distribution import Distribution
from ..transforms import AbsTransform

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class Cauchy(Distribution):
    """Numbers with density ``1 / (pi scale (1 + ((x - loc) / scale)**2))``; mean and variance do not exist.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Cauchy(0.0, 1.0).cdf(tg.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7500])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    loc: Any
    scale: Any
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return full_like(self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_()
        return self.loc + eps * self.scale

    def _log_density(self, value: Tensor) -> Tensor:
        return -math.log(math.pi) - log(self.scale) - log1p(((value - self.loc) / self.scale) ** 2)

    def _cumulative(self, value: Tensor) -> Tensor:
        return atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + log(self.scale)


class HalfCauchy(TransformedDistribution):
    """``|x|`` of Cauchy numbers x around 0.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.HalfCauchy(1.0).cdf(tg.tensor(1.0))
        tensor(0.5000)
    """

    arg_constraints: Any = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of x."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return full_like(self.scale, math.inf)

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def _log_density(self, value: Tensor) -> Tensor:
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
