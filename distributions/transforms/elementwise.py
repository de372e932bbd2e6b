"""Transforms of single numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.activations import softplus
from ...ops.arithmetic import abs as absolute
from ...ops.elementary import exp, expm1, log, log1p, sigmoid
from ...ops.trigonometry import atanh, tanh
from ...ops.types import broadcast_shapes
from ...tensors.creation import full_like
from ...tensors.limits import finfo
from ...tensors.tensor import Size, Tensor
from .. import constraints
from ..utils import broadcast_all, sum_rightmost
from .base import SameForAll, Transform

if TYPE_CHECKING:
    from ..constraint_base import Constraint


class _Increasing(SameForAll):
    """Base of increasing bijections of the real line onto a set."""

    domain = constraints.real
    bijective = True

    @property
    def sign(self) -> Any:
        return 1


class ExpTransform(_Increasing):
    """``y = exp(x)``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.ExpTransform()(tg.zeros(2))
        tensor([1., 1.])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def clipped_sigmoid(x: Any) -> Any:
    """The logistic function, kept off 0 and 1."""
    limits = finfo(x.dtype)
    return sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)


class SigmoidTransform(_Increasing):
    """``y = 1 / (1 + exp(-x))``, kept off 0 and 1.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.SigmoidTransform()(tg.zeros(2))
        tensor([0.5000, 0.5000])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return log(y) - log1p(-y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Increasing):
    """``y = log(1 + exp(x))``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.SoftplusTransform()(tg.zeros(2))
        tensor([0.6931, 0.6931])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(-expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Increasing):
    """``y = tanh(x)``; where values come near 1, give it ``cache_size=1``.

    ``log(1 - tanh(x)**2)`` is computed as ``2 (log 2 - x - softplus(-2 x))``, which does not cancel.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.TanhTransform(cache_size=1)(tg.zeros(2))
        tensor([0., 0.])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(SameForAll):
    """``y = |x|``, which has no inverse; ``inv`` gives the positive one.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.AbsTransform()(-tg.ones(2))
        tensor([1., 1.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return absolute(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """``y = x ** exponent`` of positive numbers; `exponent` is a number or a tensor.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.PowerTransform(2.0)(tg.tensor([3.0]))
        tensor([9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return log(absolute(self.exponent * y / x))

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return Size(broadcast_shapes(tuple(shape), self.exponent.shape))

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.forward_shape(shape)


class AffineTransform(Transform):
    """``y = loc + scale * x``; `loc` and `scale` are numbers or tensors, `event_dim` axes make one value.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.AffineTransform(1.0, -2.0)(tg.ones(2))
        tensor([-1., -1.])
    """

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Constraint:
        return self.domain

    @property
    def sign(self) -> Any:
        return self.scale.sign() if isinstance(self.scale, Tensor) else (self.scale > 0) - (self.scale < 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _are_equal(self.loc, other.loc) and _are_equal(self.scale, other.scale)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            of_each = log(absolute(self.scale)).expand(broadcast_shapes(self.scale.shape, x.shape))
        else:
            of_each = full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(of_each, self.event_dim)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        parameters = [p.shape for p in (self.loc, self.scale) if isinstance(p, Tensor)]
        return Size(broadcast_shapes(tuple(shape), *parameters))

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.forward_shape(shape)


def _are_equal(mine: Any, others: Any) -> bool:
    same = mine == others
    return bool(same.all()) if isinstance(same, Tensor) else bool(same)


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution of numbers, onto [0, 1]; the inverse is its ``icdf``.

    Example:
        >>> import tracegrad as tg
        >>> D = tg.distributions
        >>> D.CumulativeDistributionTransform(D.Uniform(0.0, 4.0))(tg.ones(2))
        tensor([0.2500, 0.2500])
    """

    bijective = True
    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:
        return self.distribution.support

    @property
    def sign(self) -> Any:
        return 1

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
