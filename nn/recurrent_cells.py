"""Single steps of recurrent layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..functional.recurrent.functions import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from ..functional.shapes import squeeze, unsqueeze
from ..tensors.creation import empty, zeros
from ..tensors.tensor import Tensor
from . import init
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike


class RNNCellBase(Module):
    """What the cells have in common: the parameters of a step with `num_chunks` gates.

    ``weight_ih`` [gates * hidden_size, input_size], ``weight_hh`` [gates * hidden_size, hidden_size], ``bias_ih`` and
    ``bias_hh`` [gates * hidden_size] (None with ``bias=False``) start uniform in ±1 / sqrt(hidden_size), in this order.

    >>> import tracegrad as tg
    >>> tg.nn.RNNCellBase(3, 4, bias=True, num_chunks=2).weight_ih.shape
    tracegrad.Size([8, 3])
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters, in order."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        shown = {"bias": True, "nonlinearity": "tanh"}
        options = [f"{k}={v}" for k, usual in shown.items() if (v := self.__dict__.get(k, usual)) != usual]
        return ", ".join([str(self.input_size), str(self.hidden_size), *options])

    def _applied(
        self, function: Callable[..., Any], input: Tensor, states: Sequence[Tensor] | None, count: int
    ) -> list[Tensor]:
        """The new states of a step with `count` states, with a batch or without."""
        self._check(input, states, count)
        is_batched = input.ndim == 2
        rows = input if is_batched else unsqueeze(input, 0)
        if states is None:
            states = [zeros(rows.shape[0], self.hidden_size, dtype=input.dtype)] * count
        elif not is_batched:
            states = [unsqueeze(state, 0) for state in states]
        hx = tuple(states) if count > 1 else states[0]
        out = function(rows, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        found = list(out) if count > 1 else [out]
        return found if is_batched else [squeeze(state, 0) for state in found]

    def _check(self, input: Tensor, states: Sequence[Tensor] | None, count: int) -> None:
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        for number, state in enumerate(states or ()):
            if state.ndim not in (1, 2):
                what = f"hx[{number}]" if count > 1 else "hidden"
                raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {state.ndim}D instead")


class RNNCell(RNNCellBase):
    """One step: ``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu with ``nonlinearity="relu"``.

    Input [batch, input_size] and state [batch, hidden_size] (zeros unless given), or both without batch; output as the
    state. Parameters are those of `RNNCellBase`. ValueError for other axes, RuntimeError for other sizes or an unknown
    nonlinearity, when it is called.

    >>> import tracegrad as tg
    >>> tuple(tg.nn.RNNCell(3, 4)(tg.zeros(2, 3)).shape)
    (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        functions = {"tanh": rnn_tanh_cell, "relu": rnn_relu_cell}
        states = None if hx is None else [hx]
        if self.nonlinearity not in functions:
            self._check(input, states, 1)
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._applied(functions[self.nonlinearity], input, states, 1)[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: ``(h, c)`` from `input` [batch, input_size] and ``hx = (h, c)``, both [batch, hidden_size]
    (zeros unless given), or all without batch.

    The formulas and the order of the gates are those of `LSTM`, parameters those of `RNNCellBase`. ValueError for other
    axes, RuntimeError for other sizes.

    >>> import tracegrad as tg
    >>> h, c = tg.nn.LSTMCell(3, 4)(tg.zeros(2, 3))
    >>> tuple(h.shape), tuple(c.shape)
    ((2, 4), (2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._applied(lstm_cell, input, hx, 2)
        return h, c


class GRUCell(RNNCellBase):
    """One step of a GRU: h' from `input` [batch, input_size] and `hx` [batch, hidden_size] (zeros unless given), or
    both without batch.

    The formulas and the order of the gates are those of `GRU`, parameters those of `RNNCellBase`. ValueError for other
    axes, RuntimeError for other sizes.

    >>> import tracegrad as tg
    >>> tuple(tg.nn.GRUCell(3, 4)(tg.zeros(2, 3)).shape)
    (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._applied(gru_cell, input, None if hx is None else [hx], 1)[0]
