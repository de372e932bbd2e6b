"""``MixtureSameFamily``: a mixture of distributions of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.normalizing.softmax import log_softmax
from ...functional.reductions import logsumexp
from ...functional.selecting import gather
from ...tape.grad_mode import no_grad
from ...tensors.tensor import Size
from .. import constraints
from ..discrete.categorical import Categorical
from ..distribution import Distribution

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor
    from ..constraint_base import Constraint


class MixtureSameFamily(Distribution):
    """A value of one of the components, which are the last axis of `component_distribution`'s batch.

    `mixture_distribution` is a Categorical over the components, with a batch that broadcasts with the components'.

    Example:
        >>> import tracegrad as tg
        >>> D = tg.distributions
        >>> two_peaks = D.MixtureSameFamily(D.Categorical(tg.ones(2)), D.Normal(tg.tensor([-1.0, 1.0]), 0.5))
        >>> two_peaks.mean
        tensor(0.)
    """

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        _require_fitting(mixture_distribution, component_distribution)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = component_distribution.batch_shape[-1]
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(component_distribution.batch_shape[:-1], event_shape, validate_args=validate_args)

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)

    @constraints.dependent_property
    def support(self) -> Constraint:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """How likely each component is."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    def _shares(self) -> Any:
        """The components' probabilities, beside whole values of the components."""
        probs = self.mixture_distribution.probs
        return probs.reshape(*probs.shape, *(1,) * self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return (self._shares() * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances and the variance of the means."""
        shares, means, axis = self._shares(), self.component_distribution.mean, -1 - self._event_ndims
        within = (shares * self.component_distribution.variance).sum(axis)
        return within + (shares * (means - self.mean.unsqueeze(axis)).pow(2.0)).sum(axis)

    def _for_components(self, value: Any) -> Any:
        return value.unsqueeze(-1 - self._event_ndims)

    def _log_density(self, value: Tensor) -> Tensor:
        of_components = self.component_distribution.log_prob(self._for_components(value))
        return logsumexp(of_components + log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        return super().log_prob(x)

    def cdf(self, x: Tensor) -> Tensor:
        of_components = self.component_distribution.cdf(self._for_components(x))
        return (of_components * self.mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            mixture = self.mixture_distribution
            if mixture.batch_shape != self.batch_shape:
                mixture = mixture.expand(self.batch_shape)
            chosen = mixture.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            axis, event = chosen.dim(), self.event_shape
            places = chosen.reshape(*chosen.shape, *(1,) * (1 + len(event)))
            return gather(values, axis, places.expand(*values.shape[:axis], 1, *event)).squeeze(axis)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


def _require_fitting(mixture: Any, components: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
    if not isinstance(components, Distribution):
        raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
    for of_mixture, of_components in zip(mixture.batch_shape[::-1], components.batch_shape[:-1][::-1], strict=False):
        if of_mixture != 1 and of_components != 1 and of_mixture != of_components:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({mixture.batch_shape}) is not compatible with "
                f"`component_distribution.batch_shape`({components.batch_shape[:-1]})"
            )
    counted, km = mixture.logits.shape[-1], components.batch_shape[-1]
    if counted != km:
        raise ValueError(
            f"`mixture_distribution component` ({counted}) does not equal `component_distribution.batch_shape[-1]` "
            f"({km})"
        )
