"""``Normal``, ``HalfNormal`` and ``LogNormal``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.selecting import where
from ...ops.elementary import erf, exp, expm1, log
from ...ops.elementwise.special import erfinv
from ...tape.grad_mode import no_grad
from ...tensors import random as draws
from ...tensors.creation import zeros_like
from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..exponential_family import ExponentialFamily
from ..transforms import AbsTransform, ExpTransform

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

_LOG_SQRT_2PI = math.log(math.sqrt(2 * math.pi))


class Normal(ExponentialFamily):
    """Normal numbers with mean `loc` and standard deviation `scale` (numbers or tensors, broadcast).

    ``log p(x) = -((x - loc) / scale)**2 / 2 - log scale - log sqrt(2 pi)``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Normal(tg.zeros(2), 1.0).log_prob(tg.tensor([0.0, 1.0]))
        tensor([-0.9189, -1.4189])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    loc: Any
    scale: Any
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            loc, scale = (self._for_samples(each, sample_shape) for each in (self.loc, self.scale))
            return draws.normal_around(loc, scale)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = draws.randn(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + eps * self.scale

    def _log_density(self, value: Tensor) -> Tensor:
        squares = (value - self.loc) ** 2
        return -squares / (2 * self.scale**2) - log(self.scale) - _LOG_SQRT_2PI

    def _cumulative(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + log(self.scale)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x.pow(2) / y + 0.5 * log(-math.pi / y)


class HalfNormal(TransformedDistribution):
    """``|x|`` of normal numbers x with mean 0 and standard deviation `scale`.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.HalfNormal(1.0).mean
        tensor(0.7979)
    """

    arg_constraints: Any = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The standard deviation of x."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

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


class LogNormal(TransformedDistribution):
    """``exp(x)`` of normal numbers x with mean `loc` and standard deviation `scale`.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of x."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of x."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return exp(self.loc + self.scale.pow(2) / 2)

    @property
    def mode(self) -> Tensor:
        return exp(self.loc - self.scale.square())

    @property
    def variance(self) -> Tensor:
        squares = self.scale.pow(2)
        return expm1(squares) * exp(2 * self.loc + squares)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
