"""Recurrent layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

from ..functional.recurrent.layers import Batches, batched, recurrent, weights_of
from ..functional.selecting import index_select
from ..functional.shapes import reshape, squeeze, transpose, unsqueeze
from ..tensors.calling.own_results import own
from ..tensors.creation import empty, zeros
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike

#: Hidden states, with an LSTM's cell states.
States = Tensor | tuple[Tensor, Tensor]

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _reset(module: Module, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size)
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common; see there. `mode` is "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".

    The parameters of layer k are ``weight_ih_l{k}`` [gates * hidden_size, inputs], ``weight_hh_l{k}`` [gates *
    hidden_size, hidden_size], ``bias_ih_l{k}`` and ``bias_hh_l{k}`` [gates * hidden_size] (unless ``bias=False``) and,
    with `proj_size`, ``weight_hr_l{k}`` [proj_size, hidden_size]; those of the other direction end in ``_reverse``.
    LSTM has 4 gates, GRU 3, RNN 1; layers from the second on take the outputs of the one before, of both directions.
    All start uniform in ±1 / sqrt(hidden_size), in this order. ValueError or TypeError for options that do not fit.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LSTM(3, 4)
    >>> isinstance(layer, tg.nn.RNNBase), layer.mode
    (True, 'LSTM')
    >>> [(name, tuple(weight.shape)) for name, weight in layer.named_parameters()]
    [('weight_ih_l0', (16, 3)), ('weight_hh_l0', (16, 4)), ('bias_ih_l0', (16,)), ('bias_hh_l0', (16,))]
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        _check_options(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = [
            self._add_weights(layer, suffix, device, dtype)
            for layer in range(num_layers)
            for suffix in (("", "_reverse") if bidirectional else ("",))
        ]
        self.reset_parameters()

    def _add_weights(self, layer: int, suffix: str, device: DeviceLike | None, dtype: DType | None) -> list[str]:
        """The names of the parameters of one layer in one direction, which are made."""
        rows, outputs = GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        inputs = outputs * (1 + self.bidirectional) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, inputs), "weight_hh": (rows, outputs)}
        shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if self.bias else {}
        shapes |= {"weight_hr": (self.proj_size, self.hidden_size)} if self.proj_size else {}
        names = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
        for name, shape in names.items():
            setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        return list(names)

    def reset_parameters(self) -> None:
        """Draw all parameters, in order."""
        _reset(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Nothing; on a GPU PyTorch moves the parameters into one piece of memory."""

    _derived = ("_flat_weights_names", "_flat_weights")

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters by layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    # ----------------------------------------------------------------------------------------------------- checking

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """ValueError or RuntimeError unless `input` has the parameters' type and the layer's size."""
        dtype = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype is not dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: "
                f"input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.ndim != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the first hidden states."""
        return self._state_shape(input, batch_sizes, self.proj_size or self.hidden_size)

    def _state_shape(self, input: Tensor, batch_sizes: Tensor | None, size: int) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.shape[0 if self.batch_first else 1]
        return self.num_layers * (1 + self.bidirectional), batch, size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """RuntimeError unless the states have this shape."""
        if hx.shape != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """All checks of a call."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states of the sequences in another order."""
        return hx if permutation is None else index_select(hx, 1, permutation)

    def extra_repr(self) -> str:
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        shown = {**usual, "bidirectional": False}
        options = [f"{name}={getattr(self, name)}" for name, value in shown.items() if getattr(self, name) != value]
        return ", ".join([str(self.input_size), str(self.hidden_size), *options])

    # ------------------------------------------------------------------------------------------------------ calling

    def _states(self, hx: Any) -> list[Tensor]:
        return [hx]

    def _hidden(self, states: Sequence[Tensor]) -> Any:
        return states[0]

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype)

    def _check_dimensions(self, hx: Any, batched: bool) -> None:
        wanted, kind = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
        if hx.ndim != wanted:
            raise RuntimeError(f"For {kind} input, hx should also be {wanted}-D but got {hx.ndim}-D tensor")

    def forward(
        self, input: Tensor | PackedSequence, hx: States | None = None
    ) -> tuple[Tensor | PackedSequence, States]:
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.ndim not in (2, 3):
            end = "D tensor instead" if self.mode.startswith("RNN") else "D instead"
            raise ValueError(f"{self.mode[:4].rstrip('_')}: Expected input to be 2D or 3D, got {input.ndim}{end}")
        is_batched = input.ndim == 3
        if hx is not None:
            self._check_dimensions(hx, is_batched)
        if is_batched:
            return self._padded(input, hx)
        batch_axis = 0 if self.batch_first else 1
        if hx is not None:
            hx = self._hidden([unsqueeze(state, 1) for state in self._states(hx)])
        output, hidden = self._padded(unsqueeze(input, batch_axis), hx)
        return squeeze(output, batch_axis), self._hidden([squeeze(state, 1) for state in self._states(hidden)])

    def _padded(self, input: Tensor, hx: Any) -> tuple[Tensor, Any]:
        if hx is None:
            hx = self._first_states(input, None)
        self.check_forward_args(input, hx, None)
        steps = transpose(input, 0, 1) if self.batch_first else input
        length, size, _ = steps.shape
        if not length:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        rows, batches = batched(steps)
        output, hidden = self._over_time(rows, hx, batches)
        output = reshape(output, (length, size, output.shape[1]))
        return own(transpose(output, 0, 1) if self.batch_first else output, ()), hidden

    def _packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        data, batch_sizes, order, back = input
        hx = self._first_states(data, batch_sizes) if hx is None else self.permute_hidden(hx, order)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self._over_time(data, hx, Batches(tuple(batch_sizes.tolist())))
        return PackedSequence(output, batch_sizes, order, back), self.permute_hidden(hidden, back)

    def _over_time(self, rows: Tensor, hx: Any, batches: Batches) -> tuple[Tensor, Any]:
        weights = weights_of(self._flat_weights, self.bias, bool(self.proj_size))
        drop = self.dropout if self.training else 0.0
        states = self._states(hx)
        output, last = recurrent(self.mode, rows, states, weights, batches, self.bidirectional, drop)
        return output, self._hidden(last)


def _check_options(
    mode: str, input_size: Any, hidden_size: Any, layers: int, bias: Any, batch_first: Any, dropout: Any, proj: int
) -> None:
    if not isinstance(dropout, Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:  # type: ignore[operator]
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and layers == 1:  # type: ignore[operator]
        warn_user(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={layers}",
        )
    kinds = (("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int))
    for name, value, kind in (*kinds, ("hidden_size", hidden_size, int)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        if kind is int and value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if mode not in GATES:
        raise ValueError("Unrecognized RNN mode: " + mode)


def _without_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`` over time, or relu in place of tanh (Elman 1990).

    ``RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, device=None, dtype=None)``. Input [time, batch, input_size] ([batch, time, input_size] if
    `batch_first`, without batch [time, input_size]) or a PackedSequence; first states [num_layers * directions, batch,
    hidden_size], zeros unless given. Returns the outputs of the last layer, [time, batch, directions * hidden_size],
    and the last states. `dropout` is the probability with which elements between layers are dropped in training.
    Parameters are those of `RNNBase`. RuntimeError or ValueError for inputs and states of another shape or type.

    >>> import tracegrad as tg
    >>> output, hidden = tg.nn.RNN(3, 4, num_layers=2)(tg.zeros(5, 1, 3))
    >>> tuple(output.shape), tuple(hidden.shape)
    ((5, 1, 4), (2, 1, 4))
    """

    if TYPE_CHECKING:  # what the arguments are; what does not belong is refused by name below

        def __init__(
            self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
            batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
            device: DeviceLike | None = None, dtype: DType | None = None,
        ) -> None: ...  # fmt: skip

    else:

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            _without_projection(kwargs)
            if len(args) > 3:
                nonlinearity, args = args[3], args[:3] + args[4:]
            else:
                nonlinearity = kwargs.pop("nonlinearity", "tanh")
            if nonlinearity not in ("tanh", "relu"):
                raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
            super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
            self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: gates i, f, o by sigmoid, g by tanh; ``c' = f * c + i * g, h' = o * tanh(c')``
    (Hochreiter & Schmidhuber 1997).

    ``LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    proj_size=0, device=None, dtype=None)``. Called as RNN, with states ``(h, c)``, both [num_layers * directions,
    batch, hidden_size], and returns ``output, (h, c)``. With `proj_size`, below `hidden_size`, h is projected to that
    size, c is not. The rows of weights are those of i, f, g, o, in this order; parameters are those of `RNNBase`.

    >>> import tracegrad as tg
    >>> output, (h, c) = tg.nn.LSTM(3, 4, bidirectional=True, proj_size=2)(tg.zeros(5, 1, 3))
    >>> tuple(output.shape), tuple(h.shape), tuple(c.shape)
    ((5, 1, 4), (2, 1, 2), (2, 1, 4))
    """

    if TYPE_CHECKING:  # what the arguments are; what does not belong is refused by name below

        def __init__(
            self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
            batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
            device: DeviceLike | None = None, dtype: DType | None = None,
        ) -> None: ...  # fmt: skip

    else:

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the first cell states."""
        return self._state_shape(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        self.check_input(input, batch_sizes)
        shapes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        for number, shape in enumerate(shapes):
            self.check_hidden_size(hidden[number], shape, f"Expected hidden[{number}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        return hx if permutation is None else tuple(index_select(state, 1, permutation) for state in hx)

    def _states(self, hx: Any) -> list[Tensor]:
        return [hx[0], hx[1]]

    def _hidden(self, states: Sequence[Tensor]) -> Any:
        return tuple(states)

    def _first_states(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shapes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        return tuple(zeros(shape, dtype=input.dtype) for shape in shapes)

    def _check_dimensions(self, hx: Any, batched: bool) -> None:
        wanted, kind = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
        if hx[0].ndim != wanted or hx[1].ndim != wanted:
            got = f"({hx[0].ndim}-D, {hx[1].ndim}-D) tensors"
            raise RuntimeError(f"For {kind} input, hx and cx should also be {wanted}-D but got {got}")


class GRU(RNNBase):
    """Gated recurrent unit: gates r, z by sigmoid, ``n = tanh(W_in x + b_in + r * (W_hn h + b_hn))``; ``h' = (1 - z) *
    n + z * h`` (Cho et al. 2014).

    ``GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    device=None, dtype=None)``. Called as RNN, with a state [num_layers * directions, batch, hidden_size], and returns
    ``output, h``. The rows of weights are those of r, z, n, in this order; parameters are those of `RNNBase`.

    >>> import tracegrad as tg
    >>> output, hidden = tg.nn.GRU(3, 4, batch_first=True)(tg.zeros(2, 5, 3))
    >>> tuple(output.shape), tuple(hidden.shape)
    ((2, 5, 4), (1, 2, 4))
    """

    if TYPE_CHECKING:  # what the arguments are; what does not belong is refused by name below

        def __init__(
            self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
            batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
            device: DeviceLike | None = None, dtype: DType | None = None,
        ) -> None: ...  # fmt: skip

    else:

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            _without_projection(kwargs)
            super().__init__("GRU", *args, **kwargs)
