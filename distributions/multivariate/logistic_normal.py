"""``LogisticNormal``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import constraints
from ..compound.transformed import TransformedDistribution
from ..continuous.normal import Normal
from ..transforms import StickBreakingTransform

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class LogisticNormal(TransformedDistribution):
    """K normal numbers through `StickBreakingTransform`: K + 1 positive numbers with the sum 1.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.LogisticNormal(tg.zeros(2), tg.ones(2)).event_shape
        tracegrad.Size([3])
    """

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Tensor, scale: Tensor, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
