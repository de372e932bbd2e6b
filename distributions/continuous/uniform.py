"""``Uniform``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops.elementary import log
from ...tensors import random as draws
from .. import constraints
from ..distribution import Distribution

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor
    from ..constraint_base import Constraint


class Uniform(Distribution):
    """Numbers in [low, high), all of them alike.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Uniform(0.0, 4.0).cdf(tg.tensor(1.0))
        tensor(0.2500)
    """

    has_rsample = True
    low: Any
    high: Any

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, low=low, high=high)

    @property
    def arg_constraints(self) -> Any:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = draws.rand(self._extended_shape(sample_shape), self.low.dtype)
        return self.low + u * (self.high - self.low)

    def _log_density(self, value: Tensor) -> Tensor:
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return log(inside) - log(self.high - self.low)

    def _cumulative(self, value: Tensor) -> Tensor:
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return log(self.high - self.low)
