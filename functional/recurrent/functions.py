"""PyTorch's functions of recurrent layers and of single steps: ``torch.lstm``, ``torch.lstm_cell`` and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ops.movement import reshape, transpose
from .layers import KINDS, Batches, Weights, batched, constants_of, contributed, recurrent, weights_of


def _check(input: Any, states: Sequence[Any], weights: Weights, gates: int) -> None:
    """RuntimeError in PyTorch's words for sizes that do not fit."""
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


def _step(mode: str, gates: int, input: Any, states: Sequence[Any], weights: Weights) -> list[Any]:
    _check(input, states, weights, gates)
    kind = KINDS[mode]
    states, _ = kind.step(list(states), [contributed(kind, input, weights)], constants_of(kind, weights))
    return list(states)


def lstm_cell(input: Any, hx: Sequence[Any], w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """One step of an LSTM: (h, c) of `input` [batch, features] and ``hx = (h, c)`` [batch, hidden].

    RuntimeError for sizes that do not fit, here and below.
    """
    return tuple(_step("LSTM", 4, input, hx, Weights(w_ih, w_hh, b_ih, b_hh)))


def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """One step of a GRU: h [batch, hidden] of `input` [batch, features] and `hx`."""
    return _step("GRU", 3, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """``tanh(w_ih x + b_ih + w_hh h + b_hh)``."""
    return _step("RNN_TANH", 1, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """``relu(w_ih x + b_ih + w_hh h + b_hh)``."""
    return _step("RNN_RELU", 1, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


# ------------------------------------------------------------------------------------------------- whole layers


def _over_time(mode: str, input: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Outputs and last states; packed where the second argument is a tensor of batch sizes and the third are states."""
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
        out = transpose(out, (1, 0, 2)) if turned else out
    return (out, *last)


def lstm(input: Any, *args: Any) -> tuple[Any, ...]:
    """``lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: (out, h, c).

    For packed rows ``lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)``. As
    ``nn.LSTM``, whose parameters are `params`, layer by layer.
    """
    return _over_time("LSTM", input, args)


def gru(input: Any, *args: Any) -> tuple[Any, ...]:
    """As `lstm`, with one state: (out, h)."""
    return _over_time("GRU", input, args)


def rnn_tanh(input: Any, *args: Any) -> tuple[Any, ...]:
    """As `lstm`, with one state: (out, h)."""
    return _over_time("RNN_TANH", input, args)


def rnn_relu(input: Any, *args: Any) -> tuple[Any, ...]:
    """As `lstm`, with one state: (out, h)."""
    return _over_time("RNN_RELU", input, args)
