"""Activations that shrink, cut and draw, as layers."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from .. import functional as F
from ..activation import InPlace
from ..module import Module


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """x where it is below ``-lambd`` or above `lambd` (default 0.5), else 0, for each element.

    Input and output have one shape, whatever it is, and one floating type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.Hardshrink()(tg.tensor([-1.0, 0.25, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by `lambd` (default 0.5), and 0 where it is nearer than that, for each element.

    Input and output have one shape, whatever it is, and one floating type (NotImplementedError for others).
    RuntimeError for a negative `lambd`, when it is called.

    >>> import tracegrad as tg
    >>> tg.nn.Softshrink()(tg.tensor([-1.0, 0.25, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class Threshold(InPlace):
    """x where it is above `threshold`, else `value`, for each element; the gradient there is 0.

    `inplace` (default False) overwrites the input. Input and output have one shape, whatever it is, and one type.

    >>> import tracegrad as tg
    >>> tg.nn.Threshold(0.5, -1.0)(tg.tensor([0.0, 0.5, 2.0]))
    tensor([-1., -1.,  2.])
    """

    options = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold, self.value = threshold, value

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(InPlace):
    """x where it is positive, else ``slope * x`` with a slope for each element (Xu et al. 2015).

    In training slopes are drawn uniformly from [lower, upper), default 1/8 and 1/3; in evaluation all are ``(lower +
    upper) / 2``. `inplace` (default False) overwrites the input. Input and output have one shape, whatever it is, and
    one floating type (NotImplementedError for others). RuntimeError for `lower` above `upper`, when it is called.

    >>> import tracegrad as tg
    >>> tg.nn.RReLU(0.25, 0.75).eval()(tg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.5000,  0.0000,  2.0000])
    """

    options = ("lower", "upper")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower, self.upper = lower, upper

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)
