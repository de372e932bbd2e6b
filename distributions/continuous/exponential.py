"""``Exponential``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops.elementary import exp, log, log1p
from ...tensors import random as draws
from ...tensors.creation import zeros_like
from .. import constraints
from ..exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class Exponential(ExponentialFamily):
    """Numbers with density ``rate exp(-rate x)`` from 0 on.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Exponential(2.0).mean
        tensor(0.5000)
    """

    arg_constraints: Any = {"rate": constraints.positive}
    rate: Any
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return draws.exponential(self._extended_shape(sample_shape), self.rate.dtype) / self.rate

    def _log_density(self, value: Tensor) -> Tensor:
        return log(self.rate) - self.rate * value

    def _cumulative(self, value: Tensor) -> Tensor:
        return 1 - exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - log(self.rate)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -log(-x)
