"""Smooth activations, and the piecewise linear forms of them."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from .. import functional as F
from .base import InPlace, _Activation


class Sigmoid(_Activation):
    """``1 / (1 + exp(-x))`` for each element, between 0 and 1; no overflow for any x.

    Input and output have one shape, whatever it is. Floating and complex types stay, integers and bool give the default
    type (float32).

    >>> import tracegrad as tg
    >>> tg.nn.Sigmoid()(tg.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class LogSigmoid(_Activation):
    """``log(1 / (1 + exp(-x)))`` for each element, also where the sigmoid itself underflows.

    Input and output have one shape, whatever it is, and one floating type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.LogSigmoid()(tg.tensor([-1000.0, 0.0, 1000.0]))
    tensor([-1.0000e+03, -6.9315e-01,  0.0000e+00])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class _Hard(InPlace):
    """What PyTorch prints without its option."""

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_Hard):
    """``min(max(0, x + 3), 6) / 6`` for each element: a sigmoid of three straight pieces (Howard et al. 2019).

    `inplace` (default False) overwrites the input. Input and output have one shape, whatever it is, and one floating
    type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.Hardsigmoid()(tg.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Tanh(_Activation):
    """The hyperbolic tangent of each element, between -1 and 1.

    Input and output have one shape, whatever it is. Floating and complex types stay, integers and bool give the default
    type (float32).

    >>> import tracegrad as tg
    >>> tg.nn.Tanh()(tg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Tanhshrink(_Activation):
    """``x - tanh(x)`` for each element: small values shrink towards 0.

    Input and output have one shape, whatever it is. Floating and complex types stay, integers give the default type
    (float32); RuntimeError for bool.

    >>> import tracegrad as tg
    >>> tg.nn.Tanhshrink()(tg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2384,  0.0000,  0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softsign(_Activation):
    """``x / (1 + |x|)`` for each element, between -1 and 1; it saturates slower than tanh.

    Input and output have one shape, whatever it is. Floating and complex types stay, integers give the default type
    (float32); NotImplementedError for bool.

    >>> import tracegrad as tg
    >>> tg.nn.Softsign()(tg.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Softplus(_Activation):
    """``log(1 + exp(beta * x)) / beta`` for each element: a smooth form of ReLU, always positive.

    `beta` (default 1.0) is how sharp it bends at 0. Where ``beta * x`` is above `threshold` (default 20.0) the result
    is x itself. Input and output have one shape, whatever it is, and one floating type (NotImplementedError for
    others).

    >>> import tracegrad as tg
    >>> tg.nn.Softplus()(tg.tensor([-1.0, 0.0, 30.0]))
    tensor([ 0.3133,  0.6931, 30.0000])
    """

    options = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class GELU(_Activation):
    """``x * Φ(x)``, where Φ is the distribution function of the standard normal distribution (Hendrycks & Gimpel 2016).

    ``approximate="tanh"`` computes ``0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``; the default, "none",
    is exact; RuntimeError for another word, when it is called. Input and output have one shape, whatever it is, and one
    floating type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.GELU()(tg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """

    options = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


class SiLU(InPlace):
    """``x * sigmoid(x)`` for each element, also called swish (Elfwing et al. 2017).

    `inplace` (default False) overwrites the input. Input and output have one shape, whatever it is, and one floating or
    complex type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.SiLU()(tg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(InPlace):
    """``x * tanh(log(1 + exp(x)))`` for each element (Misra 2019).

    `inplace` (default False) overwrites the input. Input and output have one shape, whatever it is, and one floating
    type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.Mish()(tg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_Hard):
    """``x * min(max(0, x + 3), 6) / 6`` for each element: a SiLU of three pieces (Howard et al. 2019).

    `inplace` (default False) overwrites the input. Input and output have one shape, whatever it is, and one floating
    type (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.Hardswish()(tg.tensor([-4.0, 0.0, 1.5]))
    tensor([-0.0000, 0.0000, 1.1250])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)
