"""``TransformedDistribution``: what becomes of a distribution when its values go through transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...tape.grad_mode import no_grad
from ...tensors.tensor import Size
from .. import constraints
from ..distribution import Distribution
from ..transforms import ComposeTransform, Transform
from ..utils import sum_rightmost
from .independent import Independent

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor
    from ..constraint_base import Constraint


class TransformedDistribution(Distribution):
    """The distribution of ``transforms[-1](...(transforms[0](x)))`` for x from `base_distribution`.

    ``log p(y) = log p(x) - log |dy/dx|``. ValueError for what is no transform.

    Example:
        >>> import tracegrad as tg
        >>> D = tg.distributions
        >>> squashed = D.TransformedDistribution(D.Normal(tg.zeros(2), 1.0), [D.TanhTransform(cache_size=1)])
        >>> squashed.log_prob(tg.zeros(2))
        tensor([-0.9189, -0.9189])
    """

    arg_constraints: Any = {}
    base_dist: Any

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = _listed(transforms)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        event_dim = len(base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {shape}."
            )
        forward = Size(whole.forward_shape(shape))
        needed = Size(whole.inverse_shape(forward))
        if shape != needed:
            base_distribution = base_distribution.expand(needed[: len(needed) - event_dim])
        extra = whole.domain.event_dim - event_dim
        self.base_dist = Independent(base_distribution, extra) if extra > 0 else base_distribution
        of_value = max(whole.codomain.event_dim, event_dim + whole.codomain.event_dim - whole.domain.event_dim)
        cut = len(forward) - of_value
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        super()._expand_into(new, batch_shape)
        shape = batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        missing = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, missing) if missing > 0 else codomain

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def _log_density(self, value: Tensor) -> Tensor:
        event_dim = len(self.event_shape)
        total: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            of_each = transform.log_abs_det_jacobian(before, value)
            total = total - sum_rightmost(of_each, event_dim - transform.domain.event_dim)
            value = before
        of_base = self.base_dist.log_prob(value)
        return total + sum_rightmost(of_base, event_dim - len(self.base_dist.event_shape))

    def _upright(self, probability: Any) -> Any:
        """A probability of the base's as one of this distribution's: the other side of it if a transform decreases."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._upright(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._upright(value)))


def _listed(transforms: Any) -> list[Transform]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
