"""``Poisson``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.arithmetic import xlogy
from ...ops.elementary import exp, log
from ...ops.elementwise.special import lgamma
from ...tape.grad_mode import no_grad
from .. import constraints
from ..draws import poisson
from ..exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class Poisson(ExponentialFamily):
    """Counts with ``P(k) = rate**k exp(-rate) / k!``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Poisson(2.0).log_prob(tg.tensor(0.0))
        tensor(-2.)
    """

    arg_constraints: Any = {"rate": constraints.nonnegative}
    rate: Any
    support = constraints.nonnegative_integer

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return poisson(self._for_samples(self.rate, sample_shape))

    def _log_density(self, value: Tensor) -> Tensor:
        return xlogy(value, self.rate) - self.rate - lgamma(value + 1)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return exp(x)
