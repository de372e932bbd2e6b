"""PyTorch's functions of recurrent layers and of single steps: ``torch.lstm``, ``torch.lstm_cell`` and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops.movement import reshape, transpose
from ...tensors import autocasting
from ...tensors.autocasting import lower_precision
from ...tensors.calling.own_results import own
from ..activations import relu
from .at_once import fits
from .cells import affine
from .layers import KINDS, Batches, Weights, batched, constants_of, contributed, recurrent, turns, weights_of

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _check(input: Tensor, states: Sequence[Tensor], weights: Weights, gates: int) -> None:
    """RuntimeError in PyTorch's words for sizes and types that do not fit."""
    if input.dtype is not weights.ih.dtype and not autocasting.is_enabled("cpu"):
        found, wanted = input.dtype.title, weights.ih.dtype.title
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {found} and {wanted}")
    if input.shape[1] != weights.ih.shape[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {weights.ih.shape[1]}")
    size = weights.ih.shape[0] // gates
    for number, state in enumerate(states):
        if state.shape[0] != input.shape[0]:
            raise RuntimeError(
                f"Input batch size {input.shape[0]} doesn't match hidden{number} batch size {state.shape[0]}"
            )
        if state.shape[1] != size:
            raise RuntimeError(f"hidden{number} has inconsistent hidden_size: got {state.shape[1]}, expected {size}")


def _step(mode: str, gates: int, input: Tensor, states: Sequence[Tensor], weights: Weights) -> list[Tensor]:
    _check(input, states, weights, gates)
    kind = KINDS[mode]
    rows, constants = contributed(kind, input, weights), constants_of(kind, weights)
    if fits([rows, *states, *constants]) and autocasting.state.lower is None:
        return turns(kind.step, 1, list(states), rows, constants, False)[1:]
    if mode == "RNN_RELU":  # by the function, whose zeros in recorded derivatives have a history
        weight, *bias = constants
        return [relu(rows + affine(states[0], weight, bias))]
    states, _ = kind.step(list(states), [rows], constants)
    return list(states)


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: (h, c) of `input` [batch, features] and ``hx = (h, c)``, each [batch, hidden].

    With ``i, f, g, o`` the four parts of ``w_ih x + b_ih + w_hh h + b_hh``: ``c' = sigmoid(f) c + sigmoid(i) tanh(g)``
    and ``h' = sigmoid(o) tanh(c')``. ``w_ih [4 * hidden, features]``, ``w_hh [4 * hidden, hidden]``, biases
    ``[4 * hidden]``, all of one type. RuntimeError for sizes or types that do not fit.

    >>> import tracegrad as tg
    >>> h, c = tg.lstm_cell(tg.ones(1, 1), (tg.zeros(1, 1), tg.ones(1, 1)), tg.zeros(4, 1), tg.zeros(4, 1))
    >>> c
    tensor([[0.5000]])
    """
    h, c = _step("LSTM", 4, input, hx, Weights(w_ih, w_hh, b_ih, b_hh))
    return h, c


def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a GRU: h [batch, hidden] of `input` [batch, features] and `hx` [batch, hidden].

    With r, z, n the three parts of ``w_ih x + b_ih`` and r', z', n' those of ``w_hh h + b_hh``:
    ``s = sigmoid(z + z')`` and ``out = (1 - s) tanh(n + sigmoid(r + r') n') + s h``. ``w_ih [3 * hidden, features]``,
    ``w_hh [3 * hidden, hidden]``, biases ``[3 * hidden]``. RuntimeError for sizes or types that do not fit.

    >>> import tracegrad as tg
    >>> tg.gru_cell(tg.ones(1, 1), tg.ones(1, 1), tg.zeros(3, 1), tg.zeros(3, 1))
    tensor([[0.5000]])
    """
    return _step("GRU", 3, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


@lower_precision
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a simple recurrent layer, ``tanh(w_ih x + b_ih + w_hh h + b_hh)``: [batch, hidden].

    ``input [batch, features]``, ``hx [batch, hidden]``, ``w_ih [hidden, features]``, ``w_hh [hidden, hidden]``, biases
    ``[hidden]``. RuntimeError for sizes or types that do not fit.

    >>> import tracegrad as tg
    >>> tg.rnn_tanh_cell(tg.ones(1, 1), tg.zeros(1, 1), tg.ones(1, 1), tg.ones(1, 1))
    tensor([[0.7616]])
    """
    return _step("RNN_TANH", 1, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


@lower_precision
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """One step of a simple recurrent layer, ``relu(w_ih x + b_ih + w_hh h + b_hh)``: [batch, hidden].

    ``input [batch, features]``, ``hx [batch, hidden]``, ``w_ih [hidden, features]``, ``w_hh [hidden, hidden]``, biases
    ``[hidden]``. RuntimeError for sizes or types that do not fit.

    >>> import tracegrad as tg
    >>> tg.rnn_relu_cell(tg.ones(1, 1), tg.ones(1, 1), tg.ones(1, 1), tg.ones(1, 1))
    tensor([[2.]])
    """
    return _step("RNN_RELU", 1, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


# ------------------------------------------------------------------------------------------------- whole layers


_WHOLE = "hx params has_biases num_layers dropout train bidirectional batch_first".split()
_PACKED = "batch_sizes hx params has_biases num_layers dropout train bidirectional".split()


def _in_order(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments behind the input, by their places; TypeError if they are neither those of rows nor of packed."""
    for names in (_WHOLE, _PACKED):
        rest = names[len(args) :]
        if sorted(rest) == sorted(named) and len(args) <= len(names):
            return (*args, *(named[name] for name in rest))
    raise TypeError(
        f"received an invalid combination of arguments: behind the input, {', '.join(_WHOLE)} or {', '.join(_PACKED)}; "
        f"got {len(args)} by their places and {', '.join(named) or 'none'} by name"
    )


def _over_time(mode: str, input: Tensor, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Tensor, ...]:
    """Outputs and last states; packed where the second argument is a tensor of batch sizes and the third are states."""
    args = _in_order(args, named)
    if not isinstance(args[2], bool):
        sizes, hx, params, has_biases, _, dropout, train, bidirectional = args
        rows, batches, turned = input, Batches(tuple(sizes.tolist())), False
    else:
        hx, params, has_biases, _, dropout, train, bidirectional, turned = args
        rows, batches = batched(transpose(input, (1, 0, 2)) if turned else input)
    states = list(hx) if mode == "LSTM" else [hx]
    is_projected = mode == "LSTM" and states[0].shape[2] != states[1].shape[2]
    weights = weights_of(params, has_biases, is_projected)
    out, last = recurrent(mode, rows, states, weights, batches, bidirectional, dropout if train else 0.0)
    if rows is not input:
        length, size = len(batches.sizes), batches.sizes[0]
        out = reshape(out, (length, size, out.shape[1]))
        out = own(transpose(out, (1, 0, 2)) if turned else out, ())
    return (out, *last)


def lstm(
    input: Tensor, *args: Tensor | Sequence[Tensor] | bool | float, **named: Tensor | Sequence[Tensor] | bool | float
) -> tuple[Tensor, ...]:
    """``lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: (out, h, c).

    What ``nn.LSTM`` computes: `input` [time, batch, features] ([batch, time, features] with `batch_first`), ``hx`` the
    states (h, c) [layers * directions, batch, hidden], `params` its parameters, layer by layer. For packed rows
    ``lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)``. RuntimeError for
    sizes or types that do not fit.

    >>> import tracegrad as tg
    >>> params, state = list(tg.nn.LSTM(2, 3).parameters()), tg.zeros(1, 1, 3)
    >>> out, h, c = tg.lstm(tg.ones(4, 1, 2), (state, state), params, True, 1, 0.0, True, False, False)
    >>> out.shape, h.shape
    (tracegrad.Size([4, 1, 3]), tracegrad.Size([1, 1, 3]))
    """
    return _over_time("LSTM", input, args, named)


def gru(
    input: Tensor, *args: Tensor | Sequence[Tensor] | bool | float, **named: Tensor | Sequence[Tensor] | bool | float
) -> tuple[Tensor, ...]:
    """What ``nn.GRU`` computes: (out, h). Arguments, shapes and errors are those of `lstm`, with one state for `hx`.

    >>> import tracegrad as tg
    >>> params = list(tg.nn.GRU(2, 3).parameters())
    >>> out, h = tg.gru(tg.ones(4, 1, 2), tg.zeros(1, 1, 3), params, True, 1, 0.0, True, False, False)
    >>> out.shape
    tracegrad.Size([4, 1, 3])
    """
    return _over_time("GRU", input, args, named)


def rnn_tanh(
    input: Tensor, *args: Tensor | Sequence[Tensor] | bool | float, **named: Tensor | Sequence[Tensor] | bool | float
) -> tuple[Tensor, ...]:
    """What ``nn.RNN`` computes: (out, h). Arguments, shapes and errors are those of `lstm`, with one state for `hx`.

    >>> import tracegrad as tg
    >>> params = list(tg.nn.RNN(2, 3).parameters())
    >>> out, h = tg.rnn_tanh(tg.ones(4, 1, 2), tg.zeros(1, 1, 3), params, True, 1, 0.0, True, False, False)
    >>> out.shape
    tracegrad.Size([4, 1, 3])
    """
    return _over_time("RNN_TANH", input, args, named)


def rnn_relu(
    input: Tensor, *args: Tensor | Sequence[Tensor] | bool | float, **named: Tensor | Sequence[Tensor] | bool | float
) -> tuple[Tensor, ...]:
    """What ``nn.RNN(nonlinearity="relu")`` computes: (out, h). Arguments, shapes and errors are those of `lstm`, with
    one state for `hx`.

    >>> import tracegrad as tg
    >>> params = [tg.ones(1, 1), tg.ones(1, 1)]
    >>> out, h = tg.rnn_relu(tg.ones(3, 1, 1), tg.zeros(1, 1, 1), params, False, 1, 0.0, True, False, False)
    >>> out.flatten()
    tensor([1., 2., 3.])
    """
    return _over_time("RNN_RELU", input, args, named)
