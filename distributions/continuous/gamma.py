"""``Gamma`` and what is made of gamma numbers: ``Chi2``, ``InverseGamma``, ``FisherSnedecor``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.arithmetic import xlogy
from ...functional.selecting import where
from ...ops.elementary import log, log1p
from ...ops.elementwise.special import digamma, igamma, lgamma
from ...tensors.creation import ones
from ...tensors.limits import finfo
from ...tensors.tensor import Size
from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..distribution import Distribution
from ..draws import standard_gamma
from ..exponential_family import ExponentialFamily
from ..transforms import PowerTransform

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class Gamma(ExponentialFamily):
    """Numbers with density ``rate**c x**(c - 1) exp(-rate x) / Gamma(c)``, c the `concentration`.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Gamma(2.0, 4.0).mean
        tensor(0.5000)
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    concentration: Any
    rate: Any
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        tiny = finfo(value.dtype).tiny
        return value + (value.detach().clamp(min=tiny) - value.detach())  # gradients as if nothing was clamped

    def _log_density(self, value: Tensor) -> Tensor:
        c = self.concentration
        return xlogy(c, self.rate) + xlogy(c - 1, value) - self.rate * value - lgamma(c)

    def _cumulative(self, value: Tensor) -> Tensor:
        return igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c - log(self.rate) + lgamma(c) + (1.0 - c) * digamma(c)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return lgamma(x + 1) + (x + 1) * log(-y.reciprocal())


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers: ``Gamma(df / 2, 1 / 2)``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Chi2(3.0).mean
        tensor(3.)
    """

    arg_constraints: Any = {"df": constraints.positive}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        new.concentration, new.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)


class InverseGamma(TransformedDistribution):
    """``1 / x`` of gamma numbers x.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.InverseGamma(2.0, 3.0).mean
        tensor(3.)
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        inverse = PowerTransform(-ones((), dtype=base.rate.dtype))
        super().__init__(base, inverse, validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """x's concentration."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """x's rate."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        return where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        return where(c > 2, self.rate.square() / ((c - 1).square() * (c - 2)), math.inf)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c + log(self.rate) + lgamma(c) - (1 + c) * digamma(c)


class FisherSnedecor(Distribution):
    """``(x1 / df1) / (x2 / df2)`` of chi-squared numbers with `df1` and `df2` degrees of freedom.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.FisherSnedecor(2.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints: Any = {"df1": constraints.positive, "df2": constraints.positive}
    df1: Any
    df2: Any
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Tensor:
        return where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        return where(self.df1 > 2, (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2), math.nan)

    @property
    def variance(self) -> Tensor:
        df1, df2 = self.df1, self.df2
        variance = 2 * df2.pow(2) * (df1 + df2 - 2) / (df1 * (df2 - 2).pow(2) * (df2 - 4))
        return where(df2 > 4, variance, math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        first, second = (Gamma(df * 0.5, df, validate_args=False).rsample(sample_shape) for df in (self.df1, self.df2))
        tiny = finfo(second.dtype).tiny
        return (first / second.clamp(min=tiny)).clamp(min=tiny)

    def _log_density(self, value: Tensor) -> Tensor:
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = lgamma(half1 + half2) - lgamma(half1) - lgamma(half2)
        return constant + half1 * log(ratio) + (half1 - 1) * log(value) - (half1 + half2) * log1p(ratio * value)
