"""``Dirichlet``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.arithmetic import xlogy
from ...functional.layers import one_hot
from ...functional.selecting import where
from ...ops.elementwise.special import digamma, lgamma
from .. import constraints
from ..draws import dirichlet
from ..exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class Dirichlet(ExponentialFamily):
    """Vectors of K positive numbers with the sum 1, of density proportional to ``prod(x**(concentration - 1))``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Dirichlet(tg.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints: Any = {"concentration": constraints.independent(constraints.positive, 1)}
    concentration: Any
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """A corner where all concentrations are below 1."""
        above_1 = (self.concentration - 1).clamp(min=0.0)
        is_corner = (self.concentration < 1).all(-1, True)
        corner = one_hot(self.concentration.argmax(-1) * 0, above_1.shape[-1]).to(above_1.dtype)
        return where(is_corner, corner, above_1 / above_1.sum(-1, True))

    @property
    def variance(self) -> Tensor:
        c, total = self.concentration, self.concentration.sum(-1, True)
        return c * (total - c) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return dirichlet(self._for_samples(self.concentration, sample_shape))

    def _log_density(self, value: Tensor) -> Tensor:
        c = self.concentration
        return xlogy(c - 1.0, value).sum(-1) + lgamma(c.sum(-1)) - lgamma(c).sum(-1)

    def entropy(self) -> Tensor:
        c, k, total = self.concentration, self.concentration.size(-1), self.concentration.sum(-1)
        of_constant = lgamma(c).sum(-1) - lgamma(total)
        return of_constant - (k - total) * digamma(total) - ((c - 1.0) * digamma(c)).sum(-1)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return lgamma(x).sum(-1) - lgamma(x.sum(-1))
