"""Continuous relaxations of ``Bernoulli`` and ``OneHotCategorical``, which gradients pass.

Maddison, Mnih and Teh, "The concrete distribution", 2017; Jang, Gu and Poole, "Categorical reparameterization with
Gumbel-softmax", 2017.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.reductions import logsumexp
from ...ops.elementary import exp, log, log1p
from ...tensors import random as draws
from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..discrete.categorical import _OfClasses
from ..discrete.odds import BinaryOdds
from ..transforms import ExpTransform, SigmoidTransform
from ..utils import broadcast_all, clamp_probs

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class LogitRelaxedBernoulli(BinaryOdds):
    """The logits of `RelaxedBernoulli`'s values.

    Example:
        >>> import tracegrad as tg
        >>> LogitRelaxedBernoulli = tg.distributions.relaxed_bernoulli.LogitRelaxedBernoulli
        >>> LogitRelaxedBernoulli(tg.tensor(1.0), probs=0.5).log_prob(tg.tensor(0.0))
        tensor(-1.3863)
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._set_odds(validate_args, probs, logits)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(draws.rand(shape, probs.dtype))
        return (log(u) - log1p(-u) + log(probs) - log1p(-probs)) / self.temperature

    def _log_density(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self.temperature
        return _log(self.temperature) + difference - 2 * log1p(exp(difference))


def _log(temperature: Any) -> Any:
    return log(*broadcast_all(temperature))


class _Relaxed(TransformedDistribution):
    """A relaxation by a transform of a distribution that has its parameters."""

    @property
    def temperature(self) -> Tensor:
        """How smooth it is."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The logits of the probabilities; of several classes, the logarithms."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """Numbers in (0, 1), the nearer to 0 and 1 the lower the `temperature`.

    Example:
        >>> import tracegrad as tg
        >>> probs = tg.tensor([0.2, 0.8], requires_grad=True)
        >>> tg.distributions.RelaxedBernoulli(tg.tensor(0.5), probs).rsample().requires_grad
        True
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(_OfClasses):
    """The logarithms of `RelaxedOneHotCategorical`'s values.

    Example:
        >>> import tracegrad as tg
        >>> ExpRelaxedCategorical = tg.distributions.relaxed_categorical.ExpRelaxedCategorical
        >>> ExpRelaxedCategorical(tg.tensor(1.0), tg.ones(3)).event_shape
        tracegrad.Size([3])
    """

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._set_classes(validate_args, probs, logits)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = clamp_probs(draws.rand(self._extended_shape(sample_shape), self.logits.dtype))
        gumbels = -log(-log(u))
        scores = (self.logits + gumbels) / self.temperature
        return scores - logsumexp(scores, dim=-1, keepdim=True)

    def _log_density(self, value: Tensor) -> Tensor:
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        score = logits - value * self.temperature
        score = (score - logsumexp(score, dim=-1, keepdim=True)).sum(-1)
        return score + (math.lgamma(k) + (k - 1) * _log(self.temperature))


class RelaxedOneHotCategorical(_Relaxed):
    """Vectors on the simplex, the nearer to its corners the lower the `temperature`.

    Example:
        >>> import tracegrad as tg
        >>> logits = tg.zeros(3, requires_grad=True)
        >>> tg.distributions.RelaxedOneHotCategorical(tg.tensor(0.5), logits=logits).rsample().requires_grad
        True
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
