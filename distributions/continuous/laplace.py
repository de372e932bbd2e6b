"""``Laplace``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops.arithmetic import abs as absolute
from ...ops.arithmetic import sign
from ...ops.elementary import expm1, log, log1p
from ...tensors import random as draws
from ...tensors.limits import finfo
from .. import constraints
from ..distribution import Distribution

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class Laplace(Distribution):
    """Numbers with density ``exp(-|x - loc| / scale) / (2 scale)``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Laplace(0.0, 1.0).log_prob(tg.tensor([0.0, 1.0]))
        tensor([-0.6931, -1.6931])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    loc: Any
    scale: Any
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self._setup(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        dtype = self.loc.dtype
        u = draws.uniform(self._extended_shape(sample_shape), dtype, finfo(dtype).eps - 1, 1)
        return self.loc - self.scale * sign(u) * log1p(-absolute(u))

    def _log_density(self, value: Tensor) -> Tensor:
        return -log(2 * self.scale) - absolute(value - self.loc) / self.scale

    def _cumulative(self, value: Tensor) -> Tensor:
        distance = value - self.loc
        return 0.5 - 0.5 * sign(distance) * expm1(-absolute(distance) / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        from_middle = value - 0.5
        return self.loc - self.scale * sign(from_middle) * log1p(-2 * absolute(from_middle))

    def entropy(self) -> Tensor:
        return 1 + log(2 * self.scale)
