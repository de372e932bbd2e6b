"""Reverse mode in its smallest form, over eager Arrays: what the derivative rules are tried with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracegrad.ops.array import Array, Evaluator, by_columns
from tracegrad.ops.core import NotImplementedRule, Params, Primitive, interpreting
from tracegrad.ops.vjp import pull_back_all


class Recorder(Evaluator):
    """Evaluates, and keeps what was evaluated in order."""

    def __init__(self) -> None:
        self.steps: list[tuple[Primitive, Sequence[Any], Params, Array]] = []

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Array:
        out = super().apply(primitive, operands, params)
        self.steps.append((primitive, operands, params, out))
        return out


def names(primitive: Primitive, operands: Sequence[Any], out: Array) -> dict[str, Any]:
    """What a rule may ask for, by name. The operands of variadic primitives have one name together."""
    of = Evaluator().type_of
    known: dict[str, Any] = {"out": out, "out_type": of(out)}
    if primitive.variadic:
        known[primitive.inputs[0][1:]] = operands
    else:
        for name, operand in zip(primitive.inputs, operands, strict=True):
            known |= {name: operand, f"{name}_type": of(operand)}
            known[f"{name}_by_columns"] = isinstance(operand, Array) and by_columns(operand.ndarray)
    return known


def is_floating(value: Any) -> bool:
    return Evaluator().type_of(value).dtype.is_floating_point


def has_rule(primitive: Primitive, position: int) -> bool:
    """True if an operand has a derivative, which is not an error either."""
    derivative = primitive.derivative(position)
    return derivative is not None and not isinstance(derivative.rule, NotImplementedRule)


def pulled_back(recorder: Recorder, out: Array, g: Array, wanted: Sequence[Array]) -> list[Array]:
    """The cotangents of `wanted` after `out` was computed under `recorder`; zeros where it does not depend on them."""
    cotangents: dict[int, Any] = {id(out): g}
    for primitive, operands, params, value in reversed(list(recorder.steps)):
        cotangent = cotangents.get(id(value))
        if cotangent is None:
            continue
        known = names(primitive, operands, value)
        on = [
            position
            for position, operand in enumerate(operands)
            if isinstance(operand, Array) and has_rule(primitive, position) and is_floating(operand)
        ]
        parts = pull_back_all(primitive, on, cotangent, known, params, [operands[i].ndarray.shape for i in on])
        for operand, part in zip((operands[i] for i in on), parts, strict=True):
            before = cotangents.get(id(operand))
            cotangents[id(operand)] = part if before is None else before + part
    return [cotangents.get(id(x), Array(np.zeros_like(x.ndarray))) for x in wanted]


Function = Callable[[Sequence[Array]], Sequence[Array]]


def vector_jacobian(function: Function, xs: Sequence[np.ndarray], cotangents: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The cotangents of `xs` for a function of several results."""
    recorder = Recorder()
    with interpreting(recorder):
        inputs = [Array(x) for x in xs]
        outs = function(inputs)
        sums = [np.zeros_like(x) for x in xs]
        for out, g in zip(outs, cotangents, strict=True):
            sums = [s + p.ndarray for s, p in zip(sums, pulled_back(recorder, out, Array(g), inputs), strict=True)]
    return sums


def directional(function: Function, xs: Sequence[np.ndarray], along: Sequence[np.ndarray], step: float) -> list[Any]:
    """The derivative of each result along a direction, by central differences."""
    with interpreting(Evaluator()):
        ahead = function([Array(x + step * v) for x, v in zip(xs, along, strict=True)])
        behind = function([Array(x - step * v) for x, v in zip(xs, along, strict=True)])
    return [(a.ndarray - b.ndarray) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
