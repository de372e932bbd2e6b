"""``ContinuousBernoulli``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.criteria.two_classes import binary_cross_entropy_with_logits
from ...functional.selecting import where
from ...ops.arithmetic import abs as absolute
from ...ops.elementary import exp, log, log1p, sqrt
from ...tensors import random as draws
from .. import constraints
from ..discrete.odds import BinaryOdds
from ..exponential_family import ExponentialFamily
from ..utils import broadcast_all, clamp_probs
from ..validation import require_valid

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class ContinuousBernoulli(BinaryOdds, ExponentialFamily):
    """Numbers in [0, 1] with density proportional to ``probs**x (1 - probs)**(1 - x)``.

    Loaiza-Ganem and Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational autoencoders", 2019.
    Where `probs` is between `lims`, series around 1/2 take the place of formulas that divide 0 by 0.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.ContinuousBernoulli(0.5).mean
        tensor(0.5000)
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        if probs is not None:
            (given,) = broadcast_all(probs)
            if validate_args:
                holds = constraints.unit_interval.check(given)
                require_valid(holds, self, lambda: "The parameter probs has invalid values")
            probs = clamp_probs(given)
        self._set_odds(validate_args, probs, logits)

    def _is_stable(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _stable_probs(self) -> Any:
        return where(self._is_stable(), self.probs, self._lims[0])

    def _log_constant(self) -> Any:
        """The logarithm of the factor that makes the density's integral 1."""
        p = self._stable_probs()
        low, high = where(p <= 0.5, p, 0.0), where(p >= 0.5, p, 1.0)
        width = where(p <= 0.5, log1p(-2.0 * low), log(2.0 * high - 1.0))
        x = (self.probs - 0.5) ** 2
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return where(self._is_stable(), log(absolute(log1p(-p) - log(p))) - width, series)

    @property
    def mean(self) -> Tensor:
        p, x = self._stable_probs(), self.probs - 0.5
        exact = p / (2.0 * p - 1.0) + 1.0 / (log1p(-p) - log(p))
        return where(self._is_stable(), exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    @property
    def stddev(self) -> Tensor:
        return sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        p, x = self._stable_probs(), (self.probs - 0.5) ** 2
        exact = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (log1p(-p) - log(p)) ** 2
        return where(self._is_stable(), exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(draws.rand(self._extended_shape(sample_shape), self.probs.dtype))

    def _log_density(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_constant()

    def _cumulative(self, value: Tensor) -> Tensor:
        p = self._stable_probs()
        exact = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = where(self._is_stable(), exact, value)
        return where(value <= 0.0, 0.0, where(value >= 1.0, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._stable_probs()
        exact = (log1p(-p + value * (2.0 * p - 1.0)) - log1p(-p)) / (log(p) - log1p(-p))
        return where(self._is_stable(), exact, value)

    def entropy(self) -> Tensor:
        log0, log1 = log1p(-self.probs), log(self.probs)
        return self.mean * (log0 - log1) - self._log_constant() - log0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        stable = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = where(stable, x, self._lims[0] - 0.5)
        series = 0.5 * x + x**2 / 24.0 - x**4 / 2880.0
        return where(stable, log(absolute(exp(cut) - 1)) - log(absolute(cut)), series)
