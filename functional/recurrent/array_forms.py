"""Loops over time as numpy code, forward and backward: what plain eager mode does instead of a traced loop.

A forward form gets the rows that the inputs contribute ``[time, batch, gates]``, the first states, the recurrent weight
``[hidden, gates]`` and its bias or None; it gives the outputs of all turns, the last states behind the first, and what
its backward form needs. That gets the gradients of the outputs and of the last states (None where there is none) and
gives those of the rows, of what came before a turn and of each state. Formulas are those of `cells`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ops.elementary import sigmoid
from . import cells

Array = np.ndarray
Arrays = list[Any]

_sigmoid = sigmoid.primitive.evaluate_wide  # type: ignore[attr-defined]


class Forms(NamedTuple):
    """A kind of loop: its two forms, and what PyTorch calls the operation that one turn ends with."""

    forward: Callable[..., tuple[Array, Arrays, Any]]
    backward: Callable[..., tuple[Array, Arrays, Array]]
    title: str


def _recurrent(h: Array, weight: Array, bias: Array | None) -> Array:
    out = np.matmul(h, weight)
    if bias is not None:
        out += bias
    return out


def _through_sigmoid(g: Array, out: Array) -> Array:
    slope = 1 - out
    slope *= g
    slope *= out
    return slope


def _through_tanh(g: Array, out: Array) -> Array:
    slope = out * out
    np.subtract(1, slope, out=slope)
    slope *= g
    return slope


def _arrived(g: Array | None, t: int, later: Array | None, like: Array) -> Array:
    """The gradient of a turn's output: what comes from outside and what comes from the turn behind."""
    if g is None:
        return np.zeros_like(like) if later is None else later
    outside: Array = g[t]
    return outside if later is None else outside + later


# ------------------------------------------------------------------------------------------------------- simple loops


def _simple(activate: Callable[[Array], Array]) -> Callable[..., tuple[Array, Arrays, Any]]:
    def forward(turns: Sequence[int], x: Array, states: Arrays, weight: Array, bias: Any) -> tuple[Array, Arrays, Any]:
        (h,) = states
        out = np.empty((*x.shape[:2], h.shape[1]), x.dtype)
        before = np.empty_like(out)
        for t in turns:
            before[t] = h
            h = activate(x[t] + _recurrent(h, weight, bias))
            out[t] = h
        return out, [h], (before, out)

    return forward


def _simple_gradient(through: Callable[[Array, Array], Array]) -> Callable[..., tuple[Array, Arrays, Array]]:
    def backward(turns: Sequence[int], g: Any, last: Arrays, kept: Any, weight: Array) -> tuple[Array, Arrays, Array]:
        before, out = kept
        rows, (later,) = np.empty_like(out), last
        for t in turns:
            rows[t] = through(_arrived(g, t, later, before[t]), out[t])
            later = np.matmul(rows[t], weight.T)
        return rows, [later], rows

    return backward


def _relu(x: Array) -> Array:
    return np.where(x <= 0, x.dtype.type(0), x)


def _through_relu(g: Array, out: Array) -> Array:
    return np.where(out <= 0, out.dtype.type(0), g)


# ---------------------------------------------------------------------------------------------------------------- GRU


def _gru(turns: Sequence[int], x: Array, states: Arrays, weight: Array, bias: Any) -> tuple[Array, Arrays, Any]:
    (h,), size = states, x.shape[2] // 3
    out = np.empty((*x.shape[:2], size), x.dtype)
    gates, inner, before = np.empty_like(x), np.empty_like(out), np.empty_like(out)
    for t in turns:
        before[t] = h
        made = _recurrent(h, weight, bias)
        gates[t, :, : 2 * size] = _sigmoid(x[t, :, : 2 * size] + made[:, : 2 * size])
        reset, update = gates[t, :, :size], gates[t, :, size : 2 * size]
        inner[t] = made[:, 2 * size :]
        new = gates[t, :, 2 * size :] = np.tanh(x[t, :, 2 * size :] + reset * inner[t])
        h = (h - new) * update + new
        out[t] = h
    return out, [h], (before, gates, inner)


def _gru_gradient(turns: Sequence[int], g: Any, last: Arrays, kept: Any, weight: Array) -> tuple[Array, Arrays, Array]:
    before, gates, inner = kept
    size = before.shape[2]
    rows, products, (later,) = np.empty_like(gates), np.empty_like(gates), last
    for t in turns:
        reset, update, new = gates[t, :, :size], gates[t, :, size : 2 * size], gates[t, :, 2 * size :]
        arrived = _arrived(g, t, later, before[t])
        to_h = arrived * update
        to_new = _through_tanh(arrived - to_h, new)
        rows[t, :, :size] = _through_sigmoid(to_new * inner[t], reset)
        rows[t, :, size : 2 * size] = _through_sigmoid(arrived * (before[t] - new), update)
        rows[t, :, 2 * size :] = to_new
        products[t, :, : 2 * size] = rows[t, :, : 2 * size]
        products[t, :, 2 * size :] = to_new * reset
        later = to_h + np.matmul(products[t], weight.T)
    return rows, [later], products


# --------------------------------------------------------------------------------------------------------------- LSTM


def _lstm(turns: Sequence[int], x: Array, states: Arrays, weight: Array, bias: Any) -> tuple[Array, Arrays, Any]:
    (h, c), size = states, x.shape[2] // 4
    out = np.empty((*x.shape[:2], size), x.dtype)
    gates, before, cells, bent = np.empty_like(x), np.empty_like(out), np.empty_like(out), np.empty_like(out)
    for t in turns:
        before[t], cells[t] = h, c
        made = x[t] + _recurrent(h, weight, bias)
        own = gates[t]
        own[:, : 2 * size] = _sigmoid(made[:, : 2 * size])
        np.tanh(made[:, 2 * size : 3 * size], out=own[:, 2 * size : 3 * size])
        own[:, 3 * size :] = _sigmoid(made[:, 3 * size :])
        c = own[:, size : 2 * size] * c + own[:, :size] * own[:, 2 * size : 3 * size]
        np.tanh(c, out=bent[t])
        h = own[:, 3 * size :] * bent[t]
        out[t] = h
    return out, [h, c], (before, gates, cells, bent)


def _lstm_gradient(turns: Sequence[int], g: Any, last: Arrays, kept: Any, weight: Array) -> tuple[Array, Arrays, Array]:
    before, gates, cells, bent = kept
    size = before.shape[2]
    rows, (later, of_cell) = np.empty_like(gates), last
    for t in turns:
        i, f, new, o = (gates[t, :, n * size : (n + 1) * size] for n in range(4))
        arrived = _arrived(g, t, later, before[t])
        to_cell = _through_tanh(arrived * o, bent[t])
        if of_cell is not None:
            to_cell += of_cell
        rows[t, :, :size] = _through_sigmoid(to_cell * new, i)
        rows[t, :, size : 2 * size] = _through_sigmoid(to_cell * cells[t], f)
        rows[t, :, 2 * size : 3 * size] = _through_tanh(to_cell * i, new)
        rows[t, :, 3 * size :] = _through_sigmoid(arrived * bent[t], o)
        of_cell = to_cell * f
        later = np.matmul(rows[t], weight.T)
    return rows, [later, of_cell], rows


FORMS: dict[Any, Forms] = {
    cells.tanh_step: Forms(_simple(np.tanh), _simple_gradient(_through_tanh), "TanhBackward0"),
    cells.relu_step: Forms(_simple(_relu), _simple_gradient(_through_relu), "ReluBackward0"),
    cells.gru_step: Forms(_gru, _gru_gradient, "AddBackward0"),
    cells.lstm_step: Forms(_lstm, _lstm_gradient, "MulBackward0"),
}
