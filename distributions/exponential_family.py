"""``ExponentialFamily``: distributions whose entropy and divergences follow from their log normaliser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..autograd import grad
from ..tape.grad_mode import enable_grad
from .distribution import Distribution
from .utils import sum_rightmost

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class ExponentialFamily(Distribution):
    """Base of distributions with a density ``exp(<t(x), theta> - F(theta) + k(x))``.

    A subclass gives theta as ``_natural_params``, F as ``_log_normalizer(*theta)`` and the mean of k as
    ``_mean_carrier_measure``; `entropy` then is ``F(theta) - <theta, F'(theta)> - E k(x)``, by a derivative of F
    (Nielsen and Nock, "Entropies and cross-entropies of exponential families", 2010).

    >>> import tracegrad as tg
    >>> issubclass(tg.distributions.Gamma, tg.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape ``batch_shape``."""
        own, slopes, at_own = normalizer_slopes(self)
        total = -self._mean_carrier_measure + at_own
        for theta, slope in zip(own, slopes, strict=True):
            total = total - sum_rightmost(theta * slope, theta.dim() - len(self.batch_shape))
        return total


def normalizer_slopes(p: ExponentialFamily) -> tuple[list[Any], Any, Any]:
    """The natural parameters (leaves of a graph of their own); the log normaliser's derivatives and value there."""
    with enable_grad():
        own = [theta.detach().requires_grad_() for theta in p._natural_params]
        value = p._log_normalizer(*own)
        return own, grad(value.sum(), own, create_graph=True), value
