"""Recurrent layers over time: directions, layers, packed sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ...ops.movement import concatenate, reshape, slice
from ...ops.products import transposed
from ...tensors import autocasting
from ..layers import dropout
from ..linear_algebra import addmm
from . import cells
from .array_forms import FORMS
from .at_once import fits, run
from .cells import affine, is_short
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


def _has_inner_bias(kind: Kind, weights: Weights) -> bool:
    """Whether the recurrent bias is added in each step: it is rounded there if the type is short."""
    return kind.inner_bias or is_short(weights.hh)


def contributed(kind: Kind, x: Any, weights: Weights) -> Any:
    """What the inputs ``[rows, features]`` contribute to the gates, biases included but for an inner one."""
    weight = transposed(weights.ih)
    if weights.b_ih is None:
        return affine(x, weight, [])
    bias = weights.b_ih if _has_inner_bias(kind, weights) else weights.b_ih + weights.b_hh
    if fits([x, weight, weights.b_ih, weights.b_hh]):
        return addmm(bias, x, weight)
    return affine(x, weight, [bias])


def constants_of(kind: Kind, weights: Weights) -> Tensors:
    """The constants of the step."""
    bias = [weights.b_hh] if _has_inner_bias(kind, weights) and weights.b_hh is not None else []
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


def turns(
    step: Callable[..., Any], length: int, states: Tensors, rows: Any, constants: Tensors, backwards: bool
) -> Tensors:
    """The outputs ``[time, batch, hidden]`` of `length` turns, then the last states."""

    def looped(rows: Any, *others: Any) -> Tensors:
        first, fixed = list(others[: len(states)]), list(others[len(states) :])
        result = scan(step, length, first, [rows], fixed, backwards)
        return [result.carried[0], *result.last]

    forms = FORMS.get(step)
    if forms is None or autocasting.state.lower is not None or not fits([rows, *states, *constants]):
        return looped(rows, *states, *constants)
    order = range(length - 1, -1, -1) if backwards else range(length)
    return run(forms, looped, order, rows, states, constants)


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
        carried, *states = turns(step, length, states, rows, constants, backwards)
        outputs.append(reshape(carried, (length * size, carried.shape[2])))
    ended.append(states)
    last = [_joined(list(reversed(parts))) for parts in zip(*ended, strict=True)]
    return _joined(list(reversed(outputs)) if backwards else outputs), last


def recurrent(
    mode: str, x: Any, states: Tensors, weights: Sequence[Weights], batches: Batches, bidirectional: bool, drop: float
) -> tuple[Any, Tensors]:
    """All layers over packed rows ``[rows, features]``; `states` are stacked by layer and direction.

    `drop` is the probability with which elements between layers are dropped. Under autocast all is computed in its
    type; a GRU's results are in that of its states, as PyTorch's are.
    """
    lower = autocasting.state.lower
    if lower is None:
        return _recurrent(mode, x, states, weights, batches, bidirectional, drop)
    given = states[0].dtype
    cast = [Weights(*autocasting.converted([w.ih, w.hh, w.b_ih, w.b_hh, w.hr], lower)) for w in weights]
    states = autocasting.converted(states, lower)
    out, last = _recurrent(mode, autocasting.converted(x, lower), states, cast, batches, bidirectional, drop)
    if mode == "GRU":
        out, last = autocasting.converted(out, given), autocasting.converted(last, given)
    return out, last


def _recurrent(
    mode: str, x: Any, states: Tensors, weights: Sequence[Weights], batches: Batches, bidirectional: bool, drop: float
) -> tuple[Any, Tensors]:
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
