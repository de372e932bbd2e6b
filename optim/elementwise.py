"""Optimizers whose step is one formula for each element, written once: for tensors, and for numpy's arrays.

A recorded step computes the formula with tensors, so that it becomes part of the program. Plain eager mode computes
the same with arrays, block by block: what is read stays in the cache, and no memory of a parameter's size is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..ops import arithmetic, comparison, elementary
from ..ops.array import eager, quietly, require_writable
from ..ops.memory import blocks
from ..ops.types import DType
from ..tensors.operands import PLAIN_TENSORS
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries, as_number
from .in_numpy import count_writes, in_numpy, updatable
from .numbers import as_float, require_real
from .optimizer import Optimizer
from .options import Options
from .state import counted, is_needed, state_tensor, store

#: Arrays or tensors by name: "p" and the parameter's state.
Values = dict[str, Any]


class Functions(NamedTuple):
    """What formulas are made of besides operators."""

    sqrt: Callable[[Any], Any]
    absolute: Callable[[Any], Any]
    maximum: Callable[[Any, Any], Any]
    minimum: Callable[[Any, Any], Any]
    sign: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]
    choose: Callable[[Any, Any, Any], Any]  # between two values, by one fact


def _chosen(fact: bool, yes: Any, no: Any) -> Any:
    return yes if fact else no


def _chosen_tensor(fact: Any, yes: Any, no: Any) -> Any:
    return comparison.where(fact, yes, no) if isinstance(fact, Tensor) else _chosen(fact, yes, no)


_SIGN: Any = arithmetic.sign.primitive.evaluate  # type: ignore[attr-defined]

OF_ARRAYS = Functions(np.sqrt, np.abs, np.maximum, np.minimum, _SIGN, np.where, _chosen)
OF_TENSORS = Functions(
    elementary.sqrt,
    arithmetic.abs,
    arithmetic.maximum,
    arithmetic.minimum,
    arithmetic.sign,
    comparison.where,
    _chosen_tensor,
)


class Reading:
    """The numbers of one parameter's step: options, and the state's scalars. Facts of these are True and False in eager
    mode and tensors in a recording."""

    def __init__(self, p: Tensor, state: Entries, options: Options) -> None:
        self.p, self.state, self.options = p, state, options
        self.number, self.choice, self.is_zero = options.number, options.choice, options.is_zero

    def count(self) -> Any:
        """The number of this step, which is counted."""
        return counted(state_tensor(self.state, "step", self.p))

    def scalar(self, key: str) -> Any:
        """A scalar of the state as a number."""
        return as_number(state_tensor(self.state, key, self.p))

    def dtype(self, key: str) -> DType:
        """The type of a scalar of the state."""
        return state_tensor(self.state, key, self.p).dtype

    def store(self, key: str, value: Any) -> None:
        """Set a scalar of the state."""
        target = state_tensor(self.state, key, self.p)
        if isinstance(value, Tensor):
            store(target, value)
        else:
            eager().write(target, target.ndarray.dtype.type(value))

    def scale(self, key: str, factor: Any) -> Any:
        """Multiply a scalar of the state, in its type; returns the product as a number."""
        target = state_tensor(self.state, key, self.p)
        store(target, target * factor)
        return as_number(target)


class PlainReading(Reading):
    """The same in plain eager mode, where all are Python's numbers and nobody listens."""

    def __init__(self, state: Entries, group: Any) -> None:
        self.state, self.group = state, group

    def number(self, key: str, item: int | None = None) -> float:
        value = dict.__getitem__(self.group, key)
        return as_float(key, value if item is None else value[item])

    def choice(self, key: str) -> Any:
        return dict.get(self.group, key)

    def is_zero(self, key: str) -> bool:
        return bool(dict.get(self.group, key) == 0)

    def _tensor(self, key: str) -> Any:
        return dict.__getitem__(self.state, key)

    def count(self) -> float:
        step = self._tensor("step")
        step.ndarray += 1
        step.buffer.version += 1
        return float(step.ndarray)

    def dtype(self, key: str) -> DType:
        dtype: DType = self._tensor(key).dtype
        return dtype

    def scalar(self, key: str) -> float:
        return float(self._tensor(key).ndarray)

    def store(self, key: str, value: Any) -> None:
        tensor = self._tensor(key)
        tensor.ndarray[...] = value
        tensor.buffer.version += 1

    def scale(self, key: str, factor: Any) -> float:
        tensor = self._tensor(key)
        tensor.ndarray *= factor
        tensor.buffer.version += 1
        return float(tensor.ndarray)


def _in_place(optimizer: Any, p: Any, gradient: Any, state: Any, group: Any) -> bool:
    """`Elementwise.update` with arrays; whether it is done."""
    names = optimizer.elements(group)
    written = [p, *[dict.get(state, name) for name in names]]
    arrays = updatable(written, gradient)
    scalars: list[Any] = [dict.get(state, key) for key in optimizer.scalars]
    if (
        arrays is None
        or isinstance(dict.get(group, "lr"), Tensor)
        or not all(type(x) in PLAIN_TENSORS for x in scalars)
    ):
        return False
    for scalar in scalars:
        require_writable(scalar)
    number = p.ndarray.dtype.type
    by = optimizer.numbers(PlainReading(state, group))
    require_real(by)
    by = SimpleNamespace(**{key: number(x) if type(x) in (float, int) else x for key, x in by.items()})
    count_writes(written)  # first: an interrupt between blocks leaves memory that counts as written to
    for block in blocks(arrays):
        quietly(_update_block, optimizer.formula, by, names, *block)
    return True


def _update_block(formula: Any, by: Any, names: list[str], g: Any, p: Any, *state: Any) -> None:
    values = {"p": p, **dict(zip(names, state, strict=True))}
    for name, new in formula(OF_ARRAYS, by, _gradient(by, g, p), values).items():
        np.copyto(values[name], new)


def _gradient(by: Any, g: Any, p: Any) -> Any:
    """The gradient with its sign and with weight decay."""
    g = -g if by.negated else g
    return g if by.decay is None else g + p * by.decay


class Elementwise(Optimizer):
    """An optimizer with a formula.

    A subclass has `numbers`, which gives the numbers of one step by name ("negated" and "decay" among them), and
    `formula`, which gives what is new of the parameter ("p") and of its state.
    """

    def numbers(self, read: Reading) -> dict[str, Any]:
        """The numbers of one step, of options and of scalars of the state; counts the step."""
        raise NotImplementedError

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        """What the gradient `g` makes of the parameter and its state `s`, by the numbers `by`."""
        raise NotImplementedError

    def elements(self, group: Any) -> list[str]:
        """The names of the state that has the parameter's shape."""
        return [k for k, when in self.per_parameter.items() if k not in self.scalars and is_needed(group, when)]

    @in_numpy(_in_place)
    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        by = SimpleNamespace(**self.numbers(Reading(p, state, options)))
        values = {"p": p, **{name: state_tensor(state, name, p) for name in self.elements(options.group)}}
        for name, new in self.formula(OF_TENSORS, by, _gradient(by, gradient, p), values).items():
            store(values[name], new)


def gradient_numbers(read: Reading, decoupled: bool = False) -> dict[str, Any]:
    """The gradient's sign and the weight decay that is added to it, None where there is none."""
    decay = None if decoupled or read.is_zero("weight_decay") else read.number("weight_decay")
    return {"negated": bool(read.choice("maximize")), "decay": decay}
