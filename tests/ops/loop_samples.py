"""Loops with carried values: bodies of every make, forwards and backwards, of one turn and several."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cases import FLOATS, Case, Operand

from tracegrad.functional.recurrent import cells
from tracegrad.ops import movement, reductions, scans
from tracegrad.ops.comparison import where
from tracegrad.ops.elementary import sigmoid
from tracegrad.ops.products import dot, transposed
from tracegrad.ops.scan.loop import Stream
from tracegrad.ops.scan.primitive import traced
from tracegrad.ops.trigonometry import sin, tanh
from tracegrad.ops.types import DType, Type, bool_

Values = list[Any]


def decay(carried: Values, x: Values, constants: Values) -> tuple[Values, Values]:
    """Elementwise, with a stacked result beside the carried value."""
    h = tanh(carried[0] * 0.5 + x[0])
    return [h], [h * x[0] - carried[0]]


def affine(carried: Values, x: Values, constants: Values) -> tuple[Values, Values]:
    """A product with a constant, and a constant that is broadcast."""
    weight, bias = constants
    return [sigmoid(x[0] + dot(carried[0], weight) + bias)], []


def tied(carried: Values, x: Values, constants: Values) -> tuple[Values, Values]:
    """A constant used twice, once transposed and scaled (which is the same in each turn); the other carried value is
    never changed."""
    (weight,) = constants
    h = tanh(dot(dot(carried[0], weight), transposed(weight) * 2.0)) + x[0]
    return [h, carried[1]], [carried[1] * h, h]


def folded(carried: Values, x: Values, constants: Values) -> tuple[Values, Values]:
    """Folds, movement and running sums inside; a constant that is reshaped, one that is added as it is, and slices that
    overlap."""
    row, table = constants
    first, rest = movement.slice(x[0], (0, 0), (2, 3), (1, 1)), movement.slice(x[0], (0, 1), (2, 4), (1, 1))
    h = sin(carried[0]) + first * movement.reshape(row, (1, 3)) + table
    largest = movement.reshape(reductions.amax(h * rest, (1,)), (2, 1))
    return [scans.cumsum(h, 1) * 0.5 + largest], [reductions.sum(h, (0,))]


def gated(carried: Values, x: Values, constants: Values) -> tuple[Values, Values]:
    """A stream of truth values, and a constant scale."""
    value, gate = x
    return [where(gate, carried[0] * constants[0] + value, carried[0])], []


def loop(
    body: Any, initial: Any, slices: Any, constants: Any, length: int, dtype: DType, saved: bool, backwards: bool
) -> Case:
    def types(shapes: Any) -> list[Type]:
        return [of if isinstance(of, Type) else Type(dtype, of) for of in shapes]

    made, _ = traced(body, length, types(initial), types(slices), types(constants), saved, backwards)
    stacked = [Type(of.dtype, (length, *of.shape)) for of in types(slices)]
    operands = [Operand(of.shape, -1, 1, dtype=of.dtype) for of in [*types(initial), *stacked, *types(constants)]]
    # A loop reads its streams in order, whatever they lie like.
    operands[len(initial)] = replace(operands[len(initial)], layout="transposed")
    return Case(tuple(operands), {"loop": made.text}, (dtype,))


BODIES = [
    (decay, [(3,)], [(3,)], []),
    (affine, [(2, 3)], [(2, 3)], [(3, 3), (3,)]),
    (tied, [(2, 3), (2, 3)], [(2, 3)], [(3, 5)]),
    (folded, [(2, 3)], [(2, 4)], [(3,), (2, 3)]),
    (gated, [(2, 3)], [(2, 3), Type(bool_, (2, 3))], [()]),
    (cells.lstm_step, [(2, 3), (2, 3)], [(2, 12)], [(3, 12)]),
    (cells.lstm_projected_step, [(2, 2), (2, 3)], [(2, 12)], [(2, 12), (3, 2)]),
    (cells.gru_step, [(1, 3)], [(1, 9)], [(3, 9), (9,)]),
    (cells.relu_step, [(2, 3)], [(2, 3)], [(3, 3)]),
]


def of_one_operand() -> Case:
    """Two streams out of one operand, from different places on."""
    made, _ = traced(cells.relu_step, 2, *[[Type(FLOATS[0], (2, 2))]] * 3, False, False)
    shared = replace(made, streams=(Stream(1, 4),))
    return Case((Operand((2, 2)), Operand((5, 4)), Operand((2, 2), -1, 1)), {"loop": shared.text}, FLOATS[:1])


LOOPS = [
    loop(*body, length, dtype, saved, backwards)
    for body in BODIES
    for dtype in FLOATS
    for length, saved, backwards in [(3, False, False), (2, True, True), (1, True, False)]
] + [of_one_operand()]
