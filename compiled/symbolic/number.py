"""Numbers as data: stand-ins for Python numbers that differ from call to call.

A recording that is made because a number has changed runs with a `Number` in its place. It is no float, so that no C
code reads its value unseen, but says that its class is float. Arithmetic makes formulas, which later calls compute
again with Python's own arithmetic; ops take a formula's value as an input of the graph. Whatever shows a value to the
program (a comparison, ``int()``, text) is a formula, too, one whose outcome is expected to be the same.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...tracing.watch import watcher
from ..common.classes import StandIn, is_a
from ..common.exactness import same_number

KINDS = (float, int, np.float64)
_ANY = object()


@dataclass(frozen=True, eq=False)
class Formula:
    """``function(*operands)``: an operand is the position of a value or a constant. `expected` is the outcome that
    the recording depends on, where it depends on one."""

    function: Callable[..., Any]
    operands: tuple[tuple[int | None, Any], ...]
    kind: type
    expected: Any = _ANY

    def value(self, values: Sequence[Any]) -> Any:
        return self.function(*[c if i is None else values[i] for i, c in self.operands])

    def accepts(self, value: Any) -> bool:
        return type(value) is self.kind and (self.expected is _ANY or same_number(value, self.expected))


@dataclass(eq=False)
class Formulas:
    """What one recording computes with numbers. The first positions are its sources, then come formulas in order."""

    listener: Any  # the recording
    sources: list[type] = field(default_factory=list)
    formulas: list[Formula] = field(default_factory=list)
    pinned: set[int] = field(default_factory=set)  # positions whose very value is expected
    is_open: bool = True
    _made: list[weakref.ref[Number]] = field(default_factory=list)

    def source(self, value: Any) -> Number:
        """A stand-in for a number that each call finds anew. All sources come before the first formula."""
        self.sources.append(type(value))
        return self._number(len(self.sources) - 1, value)

    def _number(self, position: int, value: Any) -> Number:
        number = _CLASSES[type(value)](self, position, value)
        self._made.append(weakref.ref(number))
        return number

    def listening(self) -> bool:
        """False after the recording and in other threads: there a stand-in is worth its number, and nothing more."""
        return self.is_open and watcher() is self.listener

    def computed(self, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
        """The result of ``function(*operands)``, as a stand-in if it is a number of a kind that we know."""
        value = self._applied(function, operands)
        if not self._depends_on(operands):
            return value
        if type(value) in (bool, np.bool_):
            return self.outcome(function, *operands)
        if type(value) not in KINDS:
            self._pin_all(operands)
            return value
        return self._number(self._add(Formula(function, self._positions(operands), type(value))), value)

    def outcome(self, function: Callable[..., Any], *operands: Any) -> Any:
        """The result itself, for the program to look at: the recording holds while it is the same."""
        value = self._applied(function, operands)
        if self._depends_on(operands):
            self._add(Formula(function, self._positions(operands), type(value), value))
        return value

    def pin(self, number: Number) -> Any:
        """The value of a stand-in, which is expected from now on."""
        if self.listening() and self._is_free(number):
            self._add(Formula(_itself, ((number.tg_position, None),), type(number.tg_value), number.tg_value))
            self.pinned.add(number.tg_position)
        return number.tg_value

    def close(self, position: int) -> None:
        """The program does with a number what only its value can serve: what it is made of will be guards."""
        behind = [position]
        for position in behind:
            if position >= len(self.sources):
                operands = self.formulas[position - len(self.sources)].operands
                behind += [i for i, _ in operands if i is not None]
        self.pinned.update(behind)
        self.listener.transient_because("a view that begins at a number is written to, or kept")

    def evaluate(self, given: Sequence[Any]) -> list[Any] | None:
        """All values for a call whose sources have the values `given`; None if the recording does not hold for it."""
        values = list(given)
        try:
            for formula in self.formulas:
                value = formula.value(values)
                if not formula.accepts(value):
                    return None
                values.append(value)
        except Exception:  # the function itself will raise it
            return None
        return values

    def refusing(self, given: Sequence[Any]) -> tuple[Any, Any] | None:
        """What the first formula that does not hold where the sources are `given` should be, and what it is."""
        values = list(given)
        for formula in self.formulas:
            try:
                value = formula.value(values)
            except Exception as error:
                return formula.kind, error
            if not formula.accepts(value):
                return (formula.kind if formula.expected is _ANY else formula.expected), value
            values.append(value)
        return None

    def survivors(self) -> list[Number]:
        """Stand-ins that are alive."""
        return [number for number in (ref() for ref in self._made) if number is not None]

    def _applied(self, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
        try:
            return function(*map(value_of, operands))
        except Exception:
            self._pin_all(operands)  # other numbers may not fail
            raise

    def _depends_on(self, operands: Sequence[Any]) -> bool:
        return self.listening() and any(self._is_free(operand) for operand in operands)

    def _is_free(self, operand: Any) -> bool:
        return is_a(operand, Number) and operand.tg_formulas is self and operand.tg_position not in self.pinned

    def _pin_all(self, operands: Sequence[Any]) -> None:
        for operand in operands:
            if is_a(operand, Number):
                self.pin(operand)

    def _positions(self, operands: Sequence[Any]) -> tuple[tuple[int | None, Any], ...]:
        return tuple((o.tg_position, None) if self._is_free(o) else (None, value_of(o)) for o in operands)

    def _add(self, formula: Formula) -> int:
        self.formulas.append(formula)
        return len(self.sources) + len(self.formulas) - 1


@dataclass(frozen=True, eq=False)
class Computed:
    """What stands for a number of each call in what it hands out or stores: the one at `position` of the formulas."""

    position: int


class Number(StandIn):
    """A stand-in for a number; what it may be used for is what numbers may be used for."""

    __slots__ = ("__weakref__", "tg_formulas", "tg_position", "tg_value")

    def __init__(self, formulas: Formulas, position: int, value: Any) -> None:
        self.tg_formulas = formulas
        self.tg_position = position
        self.tg_value = value

    def computed_with(self, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
        """``function(*operands)``, of which this is one; operands may be of any kind."""
        if _are_numbers(operands):
            return self.tg_formulas.computed(function, operands)
        return function(*map(looked_at, operands))

    def tg_is_data(self) -> bool:
        """True where the recording does not depend on the very value."""
        return self.tg_formulas._depends_on((self,))

    def __getattr__(self, name: str) -> Any:
        """``is_integer`` and the like; AttributeError, as of the number itself, for what it does not have."""
        found = getattr(self.tg_value, name)
        self.tg_formulas.pin(self)
        return found

    def __bool__(self) -> bool:
        return bool(self.tg_formulas.outcome(bool, self))

    def __int__(self) -> int:
        return int(self.tg_formulas.outcome(int, self))

    def __float__(self) -> float:
        exact = is_a(self.tg_value, float)
        return float(self.tg_formulas.pin(self) if exact else self.tg_formulas.outcome(float, self))

    def __complex__(self) -> complex:
        return complex(self.tg_formulas.pin(self))

    def __index__(self) -> int:
        if is_a(self.tg_value, int):
            return int(self.tg_formulas.pin(self))
        return operator.index(self.tg_value)  # a TypeError

    def __hash__(self) -> int:
        return hash(self.tg_formulas.pin(self))

    def __str__(self) -> str:
        return str(self.tg_formulas.outcome(str, self))

    def __repr__(self) -> str:
        return str(self.tg_formulas.outcome(repr, self))

    def __format__(self, spec: str) -> str:
        return str(self.tg_formulas.outcome(_formatted, self, spec))

    def __round__(self, digits: Any = None) -> Any:
        return self.tg_formulas.computed(round, (self,) if digits is None else (self, digits))

    def __divmod__(self, other: Any) -> Any:
        whole = self.__floordiv__(other)
        return whole if whole is NotImplemented else (whole, self.__mod__(other))

    def __rdivmod__(self, other: Any) -> Any:
        whole = self.__rfloordiv__(other)
        return whole if whole is NotImplemented else (whole, self.__rmod__(other))

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        operands = (self, other) if modulo is None else (self, other, modulo)
        return self.tg_formulas.computed(pow, operands) if _are_numbers(operands) else NotImplemented

    def __rpow__(self, other: Any, modulo: Any = None) -> Any:
        return self.tg_formulas.computed(pow, (other, self)) if _are_numbers((other,)) else NotImplemented

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, memo: Any) -> Number:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.tg_formulas.pin(self).__reduce_ex__(protocol)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.tg_formulas.pin(self), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """numpy's functions of numbers are formulas; with arrays the number itself is used."""
        if method == "__call__" and not options and _are_numbers(inputs):
            return self.tg_formulas.computed(ufunc, inputs)
        if not all(is_a(i, (Number, np.ndarray, np.generic, bool, int, float, complex)) for i in inputs):
            return NotImplemented
        return getattr(ufunc, method)(*[i.tg_formulas.pin(i) if is_a(i, Number) else i for i in inputs], **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """The other functions of numpy, which are called with a number where they take an array."""
        if not kwargs and _are_numbers(args):
            return self.tg_formulas.computed(function, args)
        return function(*map(_looked_into, args), **{name: _looked_into(value) for name, value in kwargs.items()})


def _are_numbers(operands: Sequence[Any]) -> bool:
    return all(is_a(operand, (bool, int, float, complex)) for operand in operands)


def _binary(function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def method(self: Number, other: Any) -> Any:
        return self.tg_formulas.computed(function, (self, other)) if _are_numbers((other,)) else NotImplemented

    def reflected(self: Number, other: Any) -> Any:
        return self.tg_formulas.computed(function, (other, self)) if _are_numbers((other,)) else NotImplemented

    return method, reflected


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: self.tg_formulas.computed(function, (self,))


def _comparison(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Number, other: Any) -> Any:
        return self.tg_formulas.outcome(function, self, other) if _are_numbers((other,)) else NotImplemented

    return method


def _define_operators() -> None:
    names = "add sub mul truediv floordiv mod lshift rshift and or xor"
    for name in names.split():
        method, reflected = _binary(getattr(operator, f"__{name}__"))
        setattr(Number, f"__{name}__", method)
        setattr(Number, f"__r{name}__", reflected)
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Number, f"__{name}__", _unary(getattr(operator, f"__{name}__")))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Number, f"__{name}__", _comparison(getattr(operator, f"__{name}__")))
    for name, function in (("trunc", _truncated), ("floor", _floor), ("ceil", _ceiling)):
        setattr(Number, f"__{name}__", _unary(function))


def _truncated(value: Any) -> Any:
    return value.__trunc__()


def _floor(value: Any) -> Any:
    return value.__floor__()


def _ceiling(value: Any) -> Any:
    return value.__ceil__()


def _formatted(value: Any, spec: str) -> str:
    return format(value, spec)


def _itself(value: Any) -> Any:
    return value


_define_operators()


def _class_of(kind: type) -> type[Number]:
    """Called like the kind that it stands for, so that the words of errors are those of eager mode."""
    return type(kind.__name__, (Number,), {"__slots__": (), "__class__": property(lambda self: kind)})


_CLASSES = {kind: _class_of(kind) for kind in KINDS}


def value_of(value: Any) -> Any:
    """A stand-in's number; anything else as it is."""
    return value.tg_value if is_a(value, Number) else value


def looked_at(value: Any) -> Any:
    """A stand-in's number, which the recording depends on from now on; anything else as it is."""
    return value.tg_formulas.pin(value) if is_a(value, Number) else value


def _looked_into(value: Any) -> Any:
    """`looked_at` for what is in lists and tuples, too."""
    return type(value)(map(_looked_into, value)) if type(value) in (list, tuple) else looked_at(value)


def is_nan(value: Any) -> bool:
    """True for the float that is not equal to itself."""
    value = value_of(value)
    return is_a(value, float) and value != value
