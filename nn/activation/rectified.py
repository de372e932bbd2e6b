"""Activations that are linear on one side: rectifiers, and those that saturate below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tensors.creation import full
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user
from .. import functional as F
from ..parameter import Parameter
from .base import InPlace, _Activation, _Alpha

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike


class ReLU(InPlace):
    """``max(0, x)`` for each element; the gradient is 0 where x is 0 or below, and NaN stays NaN.

    Input and output have one shape, whatever it is, and one type: all but bool and complex (RuntimeError,
    NotImplementedError). `inplace` (default False) overwrites the input.

    >>> import tracegrad as tg
    >>> tg.nn.ReLU()(tg.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class ReLU6(InPlace):
    """``min(max(0, x), 6)`` for each element: a rectifier that saturates at 6.

    Input and output have one shape, whatever it is, and one type: all but bool and complex (RuntimeError). `inplace`
    (default False) overwrites the input. `min_val` and `max_val` are 0 and 6.

    >>> import tracegrad as tg
    >>> tg.nn.ReLU6()(tg.tensor([-1.0, 3.0, 8.0]))
    tensor([0., 3., 6.])
    """

    min_val = property(lambda self: 0.0, doc="The least result.")
    max_val = property(lambda self: 6.0, doc="The largest result.")
    _derived = ("min_val", "max_val")

    def forward(self, input: Tensor) -> Tensor:
        return F.relu6(input, self.inplace)


class LeakyReLU(InPlace):
    """x where it is positive, else ``negative_slope * x``, for each element (Maas et al. 2013).

    `negative_slope` is 0.01 unless given; `inplace` (default False) overwrites the input. Input and output have one
    shape, whatever it is, and one floating type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.LeakyReLU(0.1)(tg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.1000,  0.0000,  2.0000])
    """

    options = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class PReLU(_Activation):
    """x where it is positive, else ``weight * x``, with a slope that is learned (He et al. 2015).

    `weight` [num_parameters] starts as `init` (default 0.25). With one parameter (the default) the input has any shape
    and all elements share the slope; otherwise `num_parameters` is the length of axis 1, the channels, and each has its
    own. Input, weight and output have one floating type. RuntimeError for another number of channels or another type.

    >>> import tracegrad as tg
    >>> layer = tg.nn.PReLU(2)
    >>> layer(tg.tensor([[-1.0, 2.0], [3.0, -4.0]])).tolist()
    [[-0.25, 2.0], [3.0, -1.0]]
    >>> layer.weight.tolist()
    [0.25, 0.25]
    """

    options = ("num_parameters",)
    weight: Tensor

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: DeviceLike | None = None, dtype: DType | None = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class ELU(_Alpha):
    """x where it is positive, else ``alpha * (exp(x) - 1)``, for each element (Clevert et al. 2015).

    `alpha` (default 1.0) is what it saturates at, negated; `inplace` (default False) overwrites the input. Input and
    output have one shape, whatever it is, and one floating type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.ELU()(tg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Alpha):
    """``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``: an ELU whose slope at 0 is 1 for each `alpha` (Barron
    2017).

    `alpha` is 1.0 unless given, and not 0 (RuntimeError); `inplace` (default False) overwrites the input. Input and
    output have one shape, whatever it is, and one floating type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.CELU(2.0)(tg.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.7869,  0.0000,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(InPlace):
    """``scale * (x if x > 0 else alpha * (exp(x) - 1))`` with the two numbers that keep mean 0 and variance 1 from
    layer to layer: scale = 1.0507..., alpha = 1.6732... (Klambauer et al. 2017).

    Weights start right for it with ``kaiming_normal_(weight, nonlinearity="linear")``, and dropout is `AlphaDropout`.
    `inplace` (default False) overwrites the input. Input and output have one shape, whatever it is, and one floating
    type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.SELU()(tg.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.1113,  0.0000,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Hardtanh(InPlace):
    """x within `min_val` and `max_val` (default -1 and 1), else the nearer of them; the gradient outside is 0.

    `inplace` (default False) overwrites the input; `min_value` and `max_value` are PyTorch's old names for the bounds
    (FutureWarning). Input and output have one shape, whatever it is, and one type: all but bool and complex
    (RuntimeError). AssertionError unless `min_val` is below `max_val`.

    >>> import tracegrad as tg
    >>> tg.nn.Hardtanh(-2.0, 2.0)(tg.tensor([-3.0, 0.5, 3.0]))
    tensor([-2.0000,  0.5000,  2.0000])
    """

    options = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for name, given in (("min", min_value), ("max", max_value)):
            if given is not None:
                warn_user(
                    f"keyword argument `{name}_value` is deprecated and renamed to `{name}_val`",
                    FutureWarning,
                )
        min_val = min_val if min_value is None else min_value
        max_val = max_val if max_value is None else max_value
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)
