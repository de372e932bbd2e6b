"""Recurrent layers over time: directions, layers, packed sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ...ops.movement import concatenate, reshape, slice
from ...ops.products import dot, transposed
from ..layers import dropout
from . import cells
from .scan import scan

Tensors = list[Any]


@dataclass(frozen=True)
class Kind:
    """A kind of layer: its step, with a projection and without."""

    step: Callable[..., Any]
    inner_bias: bool = False  # the recurrent bias belongs into the step
    projected: Callable[..., Any] | None = None


KINDS = {
    "RNN_TANH": Kind(cells.tanh_step),
    "RNN_RELU": Kind(cells.relu_step),
    "GRU": Kind(cells.gru_step, inner_bias=True),
    "LSTM": Kind(cells.lstm_step, projected=cells.lstm_projected_step),
}


@dataclass(frozen=True)
class Weights:
    """The parameters of one layer in one direction."""

    ih: Any
    hh: Any
    b_ih: Any = None
    b_hh: Any = None
    hr: Any = None


def weights_of(flat: Sequence[Any], has_biases: bool, is_projected: bool) -> list[Weights]:
    """A flat list of parameters by layer and direction."""
    size = 2 + 2 * has_biases + is_projected
    found = []
    for start in range(0, len(flat), size):
        ih, hh, *rest = flat[start : start + size]
        b_ih, b_hh = rest[:2] if has_biases else (None, None)
        found.append(Weights(ih, hh, b_ih, b_hh, rest[-1] if is_projected else None))
    return found


def contributed(kind: Kind, x: Any, weights: Weights) -> Any:
    """What the inputs ``[rows, features]`` contribute to the gates, biases included but for an inner one."""
    out = dot(x, transposed(weights.ih))
    if weights.b_ih is None:
        return out
    return out + (weights.b_ih if kind.inner_bias else weights.b_ih + weights.b_hh)


def constants_of(kind: Kind, weights: Weights) -> Tensors:
    """The constants of the step."""
    bias = [weights.b_hh] if kind.inner_bias and weights.b_hh is not None else []
    return [transposed(weights.hh), *bias, *([] if weights.hr is None else [transposed(weights.hr)])]


def _rows(x: Any, start: int, stop: int) -> Any:
    if (start, stop) == (0, x.shape[0]):
        return x
    rest = x.shape[1:]
    return slice(x, (start, *[0] * len(rest)), (stop, *rest), (1,) * x.ndim)


def _joined(parts: Tensors, axis: int = 0) -> Any:
    return parts[0] if len(parts) == 1 else concatenate(parts, axis)


# --------------------------------------------------------------------------------------------- one direction


@dataclass(frozen=True)
class Batches:
    """How many sequences go on at each time step: a list that never grows."""

    sizes: tuple[int, ...]

    def stretches(self) -> list[tuple[int, int, int]]:
        """First row, time steps and batch size of each stretch of time steps with one batch size."""
        found, row = [], 0
        for size, group in groupby(self.sizes):
            count = len(list(group))
            found.append((row, count, size))
            row += count * size
        return found


def directed(
    kind: Kind, x: Any, states: Tensors, weights: Weights, batches: Batches, backwards: bool
) -> tuple[Any, Tensors]:
    """One layer in one direction over packed rows: the outputs, packed, and the last states."""
    projected = contributed(kind, x, weights)
    constants = constants_of(kind, weights)
    step = kind.step if weights.hr is None or kind.projected is None else kind.projected
    stretches = batches.stretches()
    initial, ended, outputs = states, [], []
    count = 0
    for row, length, size in reversed(stretches) if backwards else stretches:
        if size < count:
            ended.append([_rows(s, size, count) for s in states])
            states = [_rows(s, 0, size) for s in states]
        elif size > count:
            begun = [_rows(s, count, size) for s in initial]
            states = [_joined([*([s] if count else []), b]) for s, b in zip(states, begun, strict=True)]
        count = size
        rows = _rows(projected, row, row + length * size)
        result = scan(step, length, states, [rows], constants, backwards)
        states = result.last
        outputs.append(reshape(result.carried[0], (length * size, result.carried[0].shape[2])))
    ended.append(states)
    last = [_joined(list(reversed(parts))) for parts in zip(*ended, strict=True)]
    return _joined(list(reversed(outputs)) if backwards else outputs), last


def recurrent(
    mode: str, x: Any, states: Tensors, weights: Sequence[Weights], batches: Batches, bidirectional: bool, drop: float
) -> tuple[Any, Tensors]:
    """All layers over packed rows ``[rows, features]``; `states` are stacked by layer and direction.

    `drop` is the probability with which elements between layers are dropped.
    """
    kind, directions = KINDS[mode], 2 if bidirectional else 1
    ended: list[Tensors] = []
    for number in range(0, len(weights), directions):
        outputs = []
        for direction in range(directions):
            place = number + direction
            own = [reshape(_rows(s, place, place + 1), s.shape[1:]) for s in states]
            out, last = directed(kind, x, own, weights[place], batches, direction == 1)
            outputs.append(out)
            ended.append(last)
        x = _joined(outputs, 1)
        if drop and number + directions < len(weights):
            x = dropout(x, drop)
    return x, [concatenate([reshape(s, (1, *s.shape)) for s in same], 0) for same in zip(*ended, strict=True)]


def batched(x: Any) -> tuple[Any, Batches]:
    """``[time, batch, features]`` as packed rows."""
    length, size, features = x.shape
    return reshape(x, (length * size, features)), Batches((size,) * length)
