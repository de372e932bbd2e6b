"""Activations over an axis: softmax and what is made of it, and gates."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from .. import functional as F
from .base import _AlongAxis


class Softmax(_AlongAxis):
    """``exp(x)`` divided by its sum over the axis `dim`: positive, with sum 1; no overflow for any finite x.

    `dim` None chooses axis 0 for 0, 1 or 3 axes and 1 otherwise, with PyTorch's warning: give it. Input and output have
    one shape and one floating type (NotImplementedError for others). IndexError for an axis that is not there. For a
    loss give the scores themselves to `CrossEntropyLoss`.

    >>> import tracegrad as tg
    >>> tg.nn.Softmax(dim=1)(tg.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1000.0]]))
    tensor([[0.2500, 0.2500, 0.2500, 0.2500],
            [0.0000, 0.0000, 0.0000, 1.0000]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class Softmin(_AlongAxis):
    """``softmax(-x)`` over the axis `dim`: the smallest element gets the largest part of 1.

    `dim` None chooses an axis as `Softmax` does, with a warning. Input and output have one shape and one floating type
    (NotImplementedError for others).

    >>> import tracegrad as tg
    >>> tg.nn.Softmin(dim=0)(tg.tensor([0.0, 0.0, 1000.0]))
    tensor([0.5000, 0.5000, 0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongAxis):
    """``x - log(sum(exp(x)))`` over the axis `dim`: the logarithm of softmax, also where softmax underflows.

    `dim` None chooses an axis as `Softmax` does, with a warning. Input and output have one shape and one floating type
    (NotImplementedError for others). It is what `NLLLoss` takes.

    >>> import tracegrad as tg
    >>> tg.nn.LogSoftmax(dim=0)(tg.tensor([0.0, 0.0, 1000.0]))
    tensor([-1000., -1000.,     0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class GLU(_AlongAxis):
    """``a * sigmoid(b)``, where a and b are the first and the second half of the axis `dim` (Dauphin et al. 2016).

    `dim` is the last axis unless given. Input [..., 2 * n, ...], output [..., n, ...], of one floating type.
    RuntimeError for an axis of odd length.

    >>> import tracegrad as tg
    >>> tg.nn.GLU()(tg.tensor([[3.0, 4.0, 0.0, 100.0]]))
    tensor([[1.5000, 4.0000]])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)
