"""The body of a loop: a straight line of primitives, made by calling ops on stand-ins.

A body is data. It is evaluated with numpy, run by whatever interpreter is current, differentiated (`reverse.py`) and
lowered by the compiler; its text is the parameter that a loop's primitive has.
"""

from __future__ import annotations

import math
from ast import literal_eval
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import REGISTRY, Number, Params, Primitive, bind
from ..lazy import lazy
from ..operators import Operators
from ..sources import full_primitive
from ..types import DType, Type, dtype_named

Items = tuple[tuple[str, Any], ...]


class Value(Operators):
    """A value of a body while it is made: an input, or a primitive of other values."""

    __slots__ = ("args", "op", "params", "type")

    def __init__(
        self, type: Type, op: Primitive | None = None, args: tuple[Value, ...] = (), params: Items = ()
    ) -> None:
        self.type = type
        self.op = op
        self.args = args
        self.params = params

    def param(self, name: str) -> Any:
        """The parameter called `name`."""
        return dict(self.params)[name]

    def is_(self, name: str) -> bool:
        """True for a value of the primitive called `name`."""
        return self.op is not None and self.op.name == name


class Tracer:
    """The interpreter that makes values of a body. Equal operations are one value."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Value] = {}

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Value:
        of = primitive.type_rule(*(o.type for o in operands), **params)
        items = tuple(params.items())
        # Values compare by identity; parameters by their text, which tells 0.0 from -0.0.
        key = (primitive, tuple(operands), repr(items))
        return self._known.setdefault(key, Value(of, primitive, tuple(operands), items))

    def type_of(self, operand: Value) -> Type:
        return operand.type

    def is_number(self, operand: Value) -> bool:
        return operand.op is full_primitive and operand.type.shape == ()

    def constant(self, number: Number | np.generic, dtype: DType) -> Value:
        value = dtype.numpy.type(number).item()
        return self.apply(full_primitive, (), {"shape": (), "value": value, "dtype": dtype})


@dataclass(frozen=True)
class Step:
    """One operation: the primitive, its operands by number, its parameters."""

    primitive: Primitive
    args: tuple[int, ...]
    params: Items


@dataclass(frozen=True)
class Body:
    """Inputs have the first numbers, then comes each step's value; `results` are numbers of values."""

    inputs: tuple[Type, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]

    @lazy
    def types(self) -> tuple[Type, ...]:
        """The type of each value."""
        types = list(self.inputs)
        for step in self.steps:
            types.append(step.primitive.type_rule(*(types[a] for a in step.args), **dict(step.params)))
        return tuple(types)

    @lazy
    def text(self) -> tuple[Any, ...]:
        """Numbers, strings and tuples that `read` makes a body of again."""
        steps = tuple((s.primitive.name, s.args, _written(s.params)) for s in self.steps)
        return _written(self.inputs), steps, self.results

    @lazy
    def _plan(self) -> tuple[tuple[Any, tuple[int, ...], dict[str, Any]], ...]:
        return tuple((s.primitive.evaluate, s.args, dict(s.params)) for s in self.steps)

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results, with numpy."""
        values: list[Any] = list(inputs)
        for compute, args, params in self._plan:
            values.append(compute(*[values[a] for a in args], **params))
        return [values[n] for n in self.results]

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The results by the current interpreter, op by op."""
        values = list(inputs)
        for step in self.steps:
            values.append(bind(step.primitive, *(values[a] for a in step.args), **dict(step.params)))
        return [values[n] for n in self.results]


def finished(inputs: Sequence[Value], results: Sequence[Value]) -> Body:
    """The body that computes `results` from `inputs` (any values: what is below them is not part of it)."""
    numbers = {value: number for number, value in enumerate(inputs)}
    order = needed(results, numbers)
    for value in order:
        numbers[value] = len(numbers)
    steps = tuple(Step(v.op, tuple(numbers[a] for a in v.args), v.params) for v in order if v.op is not None)
    if len(steps) != len(order):
        raise ValueError("a body reads a value that is not among its inputs")
    return Body(tuple(v.type for v in inputs), steps, tuple(numbers[v] for v in results))


def needed(results: Iterable[Value], known: Iterable[Value] = ()) -> list[Value]:
    """The values that `results` are computed from, themselves included, operands first; nothing at or below `known`."""
    stop = set(known)
    order: dict[Value, None] = {}
    for root in results:
        stack = [root] if root not in stop else []
        while stack:
            value = stack[-1]
            waiting = [] if value in order else [a for a in value.args if a not in order and a not in stop]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                order[stack.pop()] = None
    return list(order)


def read(text: tuple[Any, ...]) -> Body:
    """The body whose `text` this is."""
    inputs, steps, results = text
    made = tuple(Step(REGISTRY[name], args, _read(params)) for name, args, params in steps)
    return Body(_read(inputs), made, results)


def parsed(text: str) -> Any:
    """The tuples that a string of them stands for."""
    return literal_eval(text)


def _written(tree: Any) -> Any:
    if isinstance(tree, tuple):
        return ("", *map(_written, tree))
    if isinstance(tree, DType):
        return ("dtype", tree.name)
    if isinstance(tree, Type):
        return ("type", tree.dtype.name, tree.shape)
    if isinstance(tree, float) and not math.isfinite(tree):
        return ("float", str(tree))
    return tree


def _read(tree: Any) -> Any:
    if not isinstance(tree, tuple):
        return tree
    kind, *rest = tree
    if kind == "dtype":
        return dtype_named(rest[0])
    if kind == "type":
        return Type(dtype_named(rest[0]), rest[1])
    return float(rest[0]) if kind == "float" else tuple(map(_read, rest))
