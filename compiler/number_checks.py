"""Arithmetic on a program's numbers that Python refuses, where the same op on tensors gives infinity or NaN.

A learning rate, a count of steps and what is computed of them are Python's numbers in eager mode and scalars of the
graph in a recording. What Python raises for them, a recording raises at once; the graph checks it at each call.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..ops.arithmetic import abs as absolute
from ..ops.comparison import eq, lt
from ..ops.core import interpreted
from ..ops.logic import logical_and, logical_not, logical_or
from .graph import Builder, Node


class _Refusal(NamedTuple):
    """`python` is what eager mode computes; ``fails(operands, result)`` is true wherever it raises, or gives no float:
    a replay leaves such calls to eager mode."""

    python: Callable[..., Any]
    fails: Callable[[Sequence[Node], Node], Node]


def _divisor_is_zero(operands: Sequence[Node], result: Node) -> Node:
    return eq(operands[-1], 0)


def _is_not_above_zero(number: Node) -> Node:
    return logical_not(lt(0, number))


def _is_not_finite(operands: Sequence[Node], result: Node) -> Node:
    """0 to a negative power, what overflows, and what would be complex, which is NaN here."""
    return logical_not(lt(absolute(result), math.inf))


_DIVISION = _Refusal(operator.truediv, _divisor_is_zero)
_POWER = _Refusal(operator.pow, _is_not_finite)
_REFUSALS = {
    "div": _DIVISION,
    "reciprocal": _Refusal(functools.partial(operator.truediv, 1.0), _divisor_is_zero),
    "pow": _POWER,
    "pow_tensor": _POWER,
}


class NumberChecks:
    """What a recording does on numbers, as nodes that are true where Python refuses it."""

    def __init__(self, builder: Builder, node: Callable[[Any], Node]) -> None:
        self._builder, self._node = builder, node
        self.data: set[Node] = set()  # numbers that may be others in each call, and what is computed of them
        self._failing: list[Node] = []
        self._presumed: list[Node] = []
        self.given: frozenset[Node] = frozenset()  # what `presumed` has given
        self._are_presumed = False
        self._where: list[tuple[bool, Node | None]] = []  # facts on which it depends whether this is done in eager mode
        self.are_repeated = False  # what is done was recorded for other operands before, and is given no nodes

    def only_where(self, fact: Any, function: Callable[[], Any]) -> Any:
        """``function()``, which is done in eager mode only where `fact`, a tensor of one element, is true."""
        self._where.append((bool(fact.ndarray), None if self.are_repeated else self._node(fact)))
        try:
            return function()
        finally:
            self._where.pop()

    def presume(self, function: Callable[..., Any], *args: Any) -> Any:
        """``function(*args)``. Guards of options tell that none of its numbers is refused if those are `above_zero` of
        which it says so: this alone is checked, and apart, for those who cannot look at it in time."""
        before, self._are_presumed = self._are_presumed, True
        try:
            return function(*args)
        finally:
            self._are_presumed = before

    def above_zero(self, number: Any) -> None:
        """The number, a tensor of one element, is above 0 in each call that is presumed to be as this one."""
        if self._are_presumed and not self.are_repeated:
            self._presumed.append(self._built(_is_not_above_zero, self._node(number)))

    def add(self, operands: Sequence[Any], result: Node) -> None:
        """`result` is an op of these numbers, arrays or numpy's. Raises what Python raises for it.

        Of constants alone there is nothing to check: what a mean divides by, say, is no number of the program.
        """
        if self.data.isdisjoint(result.args):
            return
        self.data.add(result)
        self.refuse(result.op.name, operands)
        if result.op.name in _REFUSALS and not self._are_presumed:
            self._failing.append(self._failing_of(result))

    def refuse(self, op: str, operands: Sequence[Any]) -> None:
        """Raises what Python raises for `op` of these numbers: all there is to do where it has a node already."""
        if op in _REFUSALS and all(holds for holds, _ in self._where):
            _raise_as_python(op, [float(getattr(x, "ndarray", x)) for x in operands])

    def state(self) -> tuple[set[Node], list[Node], list[Node]]:
        """The numbers, and what is checked of them, so far."""
        return set(self.data), [*self._failing], [*self._presumed]

    def extend(self, data: Iterable[Node], failing: Iterable[Node], presumed: Iterable[Node]) -> None:
        """Further ones."""
        self.data.update(data)
        self._failing += failing
        self._presumed += presumed

    def _failing_of(self, result: Node) -> Node:
        """True where a later call has to be left to eager mode."""
        fails = self._built(_REFUSALS[result.op.name].fails, result.args, result)
        for _, fact in self._where:
            assert fact is not None
            fails = self._built(logical_and, fact, fails)
        return fails

    def needed(self) -> list[Node]:
        """One node for all of them that nothing is presumed of, or none."""
        return [self._built(_any_of, self._failing)] if self._failing else []

    def presumed(self) -> list[Node]:
        """One node for all that is to be `above_zero` where the rest is presumed, or none."""
        found = [self._built(_any_of, self._presumed)] if self._presumed else []
        self.given = frozenset(found)
        return found

    def clear(self) -> None:
        self._failing.clear()
        self._presumed.clear()
        self.data.clear()

    def _built(self, function: Callable[..., Node], *args: Any) -> Node:
        made: Node = interpreted(self._builder, function, *args)
        return made


def _raise_as_python(op: str, values: Sequence[float]) -> None:
    """Raise what Python raises for `op` of these numbers; TypeError where its result is complex, as no tensor's type
    is then."""
    if isinstance(_REFUSALS[op].python(*values), complex):
        raise TypeError(f"{op} of {', '.join(map(str, values))} is complex; an optimizer's numbers must be real")


def _any_of(facts: Sequence[Node]) -> Node:
    """Whether one of `facts` is true, by pairs: the graph does not get deep."""
    while len(facts) > 1:
        pairs = [facts[i : i + 2] for i in range(0, len(facts), 2)]
        facts = [logical_or(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return facts[0]
