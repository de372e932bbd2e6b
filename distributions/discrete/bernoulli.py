"""``Bernoulli``, ``Geometric``, ``Binomial`` and ``NegativeBinomial``: trials that succeed with one probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.activations import logsigmoid
from ...functional.criteria.two_classes import binary_cross_entropy_with_logits
from ...functional.selecting import where
from ...ops.arithmetic import abs as absolute
from ...ops.elementary import exp, log, log1p, sigmoid
from ...ops.elementwise.special import lgamma
from ...tape.grad_mode import no_grad
from ...tensors import random as draws
from ...tensors.creation import arange, zeros_like
from ...tensors.limits import finfo
from .. import constraints
from ..continuous.gamma import Gamma
from ..draws import binomial, poisson
from ..exponential_family import ExponentialFamily
from ..utils import broadcast_all
from ..validation import require_valid
from .odds import BinaryOdds

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor
    from ..constraint_base import Constraint


class Bernoulli(BinaryOdds, ExponentialFamily):
    """1 with probability `probs` (or ``sigmoid(logits)``), else 0.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Bernoulli(tg.tensor([0.25])).log_prob(tg.tensor([1.0]))
        tensor([-1.3863])
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_odds(validate_args, probs, logits)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        """1 or 0, whichever is likelier; NaN where both are."""
        likelier = (self.probs >= 0.5).to(self.probs.dtype)
        return where(self.probs == 0.5, math.nan, likelier)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return draws.bernoulli(self._for_samples(self.probs, sample_shape))

    def _log_density(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._along_batch(arange(2, dtype=self._param.dtype), expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (log(self.probs / (1 - self.probs)),)

    def _log_normalizer(self, x: Any) -> Any:
        return log1p(exp(x))


class Geometric(BinaryOdds):
    """How many trials fail before the first success; ``P(k) = (1 - probs)**k probs``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_odds(validate_args, probs, logits)
        if self._validate_args and probs is not None:
            self._require_positive()

    def _require_positive(self) -> None:
        value = self.probs

        def text() -> str:
            return (
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to be positive but found invalid values:\n{value[value <= 0].detach()}"
            )

        require_valid(value > 0, self, text, value)

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape, dtype = self._extended_shape(sample_shape), self.probs.dtype
        with no_grad():
            u = draws.uniform(shape, dtype, finfo(dtype).tiny, 1)
            return (log(u) / log1p(-self.probs)).floor()

    def _log_density(self, value: Tensor) -> Tensor:
        value, probs = broadcast_all(value, self.probs)
        failing = where((probs == 1) & (value == 0), 0.0, probs)
        return value * log1p(-failing) + log(self.probs)

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Binomial(BinaryOdds):
    """How many of `total_count` trials succeed.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Binomial(4, tg.tensor(0.5)).log_prob(tg.tensor(2.0))
        tensor(-0.9808)
    """

    arg_constraints: Any = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    total_count: Any
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_odds(validate_args, probs, logits, total_count=total_count)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def _log_density(self, value: Tensor) -> Tensor:
        """``log n! - log k! - log (n - k)! + k logits - n log(1 + exp(logits))``, the last one without overflow."""
        n, logits = self.total_count, self.logits
        above_0 = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2  # with slope 1/2 at 0, as the sum has
        of_trials = n * above_0 + n * log1p(exp(-absolute(logits))) - lgamma(n + 1)
        return value * logits - lgamma(value + 1) - lgamma(n - value + 1) - of_trials

    def _common_count(self, purpose: str) -> int:
        """The number of trials. NotImplementedError where it is not the same for the whole batch."""
        most = int(self.total_count.max())
        if most != self.total_count.min():
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{purpose}`.")
        return most

    def entropy(self) -> Tensor:
        self._common_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._common_count("enumerate_support")
        return self._along_batch(arange(1 + count, dtype=self._param.dtype), expand)


class NegativeBinomial(BinaryOdds):
    """How many trials succeed before `total_count` have failed.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.NegativeBinomial(2.0, tg.tensor(0.5)).mean
        tensor(2.)
    """

    arg_constraints: Any = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    total_count: Any
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_odds(validate_args, probs, logits, total_count=total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * exp(self.logits)).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / sigmoid(-self.logits)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Poisson numbers whose rates are gamma numbers."""
        with no_grad():
            rates = Gamma(self.total_count, exp(-self.logits), validate_args=False)
            return poisson(rates.sample(sample_shape))

    def _log_density(self, value: Tensor) -> Tensor:
        n = self.total_count
        of_trials = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        orders = -lgamma(n + value) + lgamma(1.0 + value) + lgamma(n)
        return of_trials - orders.masked_fill(n + value == 0.0, 0.0)
