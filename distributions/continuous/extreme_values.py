"""``Gumbel`` and ``Weibull``: what the largest and the smallest of many numbers are like."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...ops.elementary import exp, log
from ...ops.elementwise.special import lgamma
from ...tensors.creation import full_like, ones_like
from ...tensors.limits import finfo
from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..transforms import AffineTransform, ExpTransform, PowerTransform
from ..utils import broadcast_all
from .exponential import Exponential
from .uniform import Uniform

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

EULER = 0.5772156649015329


class Gumbel(TransformedDistribution):
    """Numbers with cumulative distribution ``exp(-exp(-(x - loc) / scale))``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    loc: Any
    scale: Any
    support = constraints.real

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        low, high = full_like(self.loc, limits.tiny), full_like(self.loc, 1 - limits.eps)
        base = Uniform(low, high, validate_args=validate_args)
        steps = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def _log_density(self, value: Tensor) -> Tensor:
        y = (self.loc - value) / self.scale
        return (y - exp(y)) - log(self.scale)

    def entropy(self) -> Tensor:
        return log(self.scale) + (1 + EULER)


class Weibull(TransformedDistribution):
    """Numbers with cumulative distribution ``1 - exp(-(x / scale)**concentration)``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Weibull(1.0, 1.0).mean
        tensor(1.)
    """

    arg_constraints: Any = {"scale": constraints.positive, "concentration": constraints.positive}
    scale: Any
    concentration: Any
    support = constraints.positive

    def __init__(self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        steps = [
            PowerTransform(exponent=self.concentration.reciprocal()),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    @property
    def concentration_reciprocal(self) -> Tensor:
        """``1 / concentration``."""
        return self.concentration.reciprocal()

    def _moment(self, power: int) -> Any:
        """The mean of ``(x / scale)**power``: Gamma(1 + power / concentration)."""
        return exp(lgamma(1 + power * self.concentration_reciprocal))

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** self.concentration_reciprocal

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Tensor:
        inverse = self.concentration_reciprocal
        return EULER * (1 - inverse) + log(self.scale * inverse) + 1
