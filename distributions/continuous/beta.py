"""``Beta`` and ``Kumaraswamy``: numbers between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.joining import stack
from ...ops.elementary import exp, log
from ...ops.elementwise.special import digamma, lgamma
from ...tensors.creation import full_like
from ...tensors.tensor import Size
from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..exponential_family import ExponentialFamily
from ..multivariate.dirichlet import Dirichlet
from ..transforms import AffineTransform, PowerTransform
from ..utils import broadcast_all
from .extreme_values import EULER
from .uniform import Uniform

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class Beta(ExponentialFamily):
    """Numbers with density proportional to ``x**(concentration1 - 1) (1 - x)**(concentration0 - 1)``.

    The first of two numbers of a Dirichlet distribution.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Beta(1.0, 3.0).mean
        tensor(0.2500)
    """

    arg_constraints: Any = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        both = stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        new._dirichlet = self._dirichlet.expand(batch_shape)

    @property
    def concentration1(self) -> Any:
        """The weight of 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The weight of 0."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def _log_density(self, value: Tensor) -> Tensor:
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return lgamma(x) + lgamma(y) - lgamma(x + y)


class Kumaraswamy(TransformedDistribution):
    """Numbers with cumulative distribution ``1 - (1 - x**concentration1)**concentration0``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Kumaraswamy(1.0, 1.0).mean
        tensor(0.5000)
    """

    arg_constraints: Any = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    concentration1: Any
    concentration0: Any
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        low, high = full_like(self.concentration0, 0), full_like(self.concentration0, 1)
        steps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), steps, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        """The mean of ``x**n``: b B(1 + n / a, b)."""
        arg1 = 1 + n / self.concentration1
        log_value = lgamma(arg1) + lgamma(self.concentration0) - lgamma(arg1 + self.concentration0)
        return self.concentration0 * exp(log_value)

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """``((a - 1) / (a b - 1))**(1 / a)``, NaN unless both are 1 or more (PyTorch's mode is NaN everywhere)."""
        a, b = self.concentration1, self.concentration0
        inside = a.reciprocal() * (log((a - 1).clamp(min=0)) - log((a * b - 1).clamp(min=0)))
        return exp(inside).masked_fill((a < 1) | (b < 1), float("nan"))

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = digamma(b + 1) + EULER
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - log(a) - log(b)
