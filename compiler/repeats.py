"""What a recording meets again and again with other operands: an optimizer's update, for each parameter.

The first time it is recorded as ever. From then on it is only computed, and its nodes are those of the first time with
the present operands in the places of the first ones. Most of what a recording costs is to find out which node belongs
to which operand, which is known then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from ..ops.array import Array
from ..ops.core import Params, Primitive
from .graph import Node

Numbers = tuple[Sequence[Node], Sequence[Node], Sequence[Node]]  # as `NumberChecks.extend` takes them
Functions = tuple[Callable[[], bool], Callable[[], bool]]
Fact = tuple[Any, ...]  # of an operation: what is the same each time


class _First:
    """The first time, while it goes on: its operations, and whether nodes tell which operand is which."""

    def __init__(self, arrays: Sequence[Array], before: Sequence[Node]) -> None:
        self.facts: list[Fact] = []
        self._own = {id(array.buffer.whole): array for array in arrays}  # by their memory: there may be views of it
        self._before = frozenset(before)
        self.from_elsewhere: set[Node] = set()  # what else it works on, the same each time
        self.is_told_apart = len(self._before) == len(before) and not any(node.is_constant for node in before)

    def meets(self, operands: Sequence[Any], nodes: Sequence[Node], out: Array) -> None:
        """An operation. An operand from elsewhere that has the node of a given one cannot be told from it."""
        for operand, node in zip(operands, nodes, strict=True):
            if not isinstance(operand, Array) or id(operand.buffer.whole) not in self._own:
                self.from_elsewhere.add(node)
                self.is_told_apart &= node not in self._before
        self._own[id(out.buffer.whole)] = out


class Template:
    """The nodes of the first time: what memory holds after it, and what it has added to the checks of numbers, as
    functions of what memory held before."""

    def __init__(self, first: _First, before: Sequence[Node], after: Sequence[Node], numbers: Numbers) -> None:
        self.facts, self.before, self.after, self.numbers = first.facts, before, after, numbers
        self._made = _between({*before}, first.from_elsewhere, [node for each in (after, *numbers) for node in each])

    def of(self, operands: Sequence[Node]) -> tuple[list[Node], Numbers]:
        """The same where `operands` are before it."""
        found = dict(zip(self.before, operands, strict=True))
        for node in self._made:
            args = tuple([found.get(arg, arg) for arg in node.args])
            found[node] = Node(node.op, args, node.params, node.type, node.origin)
        after, *numbers = [[found.get(node, node) for node in each] for each in (self.after, *self.numbers)]
        return after, (numbers[0], numbers[1], numbers[2])


class Repeats:
    """The templates of one recording by what they are of; None where there is none."""

    def __init__(self) -> None:
        self._templates: dict[Hashable, Template | None] = {}
        self.first: _First | None = None
        self.again: Template | None = None
        self._done = 0

    def run(
        self, recorder: Any, key: Hashable, arrays: Sequence[Array], nodes: Sequence[Node], functions: Functions
    ) -> None:
        """The first of `functions`, recorded, or both as `Recorder.repeated` says."""
        function = functions[0]
        is_whole = not any(array.steps for array in arrays)
        if self.first or self.again or not is_whole or len({id(x.buffer.whole) for x in arrays}) < len(arrays):
            function()
        elif key not in self._templates:
            self._templates[key] = self._first_time(recorder, arrays, nodes, function)
        elif (template := self._templates[key]) is None:
            function()
        else:
            self._once_more(recorder, template, arrays, nodes, functions)

    def _first_time(
        self, recorder: Any, arrays: Sequence[Array], nodes: Sequence[Node], function: Callable[[], bool]
    ) -> Template | None:
        first = self.first = _First(arrays, nodes)
        before, others = recorder.number_checks.state(), _others(recorder)
        try:
            keeps_nothing = function()
        finally:
            self.first = None
        if not keeps_nothing or not first.is_told_apart or _others(recorder) != others:
            return None
        now = recorder.number_checks.state()
        numbers = [*(now[0] - before[0])], now[1][len(before[1]) :], now[2][len(before[2]) :]
        return Template(first, nodes, [recorder.node(array) for array in arrays], numbers)

    def _once_more(
        self, recorder: Any, template: Template, arrays: Sequence[Array], nodes: Sequence[Node], functions: Functions
    ) -> None:
        after, numbers = template.of(nodes)
        written = [(array, node) for array, node, was in zip(arrays, after, nodes, strict=True) if node is not was]
        for array, _ in written:
            recorder.count_write(array)
        if functions[1]():
            for array, _ in written:
                recorder.note_written(array)
        else:
            self._done_again(recorder, template, functions[0])
        for array, node in written:
            recorder.hold(array, node)
        recorder.number_checks.extend(*numbers)

    def _done_again(self, recorder: Any, template: Template, function: Callable[[], bool]) -> None:
        """``function()``, whose operations are compared with those of the first time."""
        checks = recorder.number_checks
        self.again, self._done, checks.are_repeated = template, 0, True
        try:
            keeps_nothing = function()
        finally:
            self.again, checks.are_repeated = None, False
        if not keeps_nothing or self._done != len(template.facts):
            self._refuse(recorder)

    def evaluates(self, recorder: Any, primitive: Primitive, operands: Sequence[Any], params: Params) -> None:
        """An operation is done."""
        self._meet(recorder, (primitive, dict(params), *map(_constant, operands)))

    def stores(self, recorder: Any, value: Any) -> None:
        """Memory is written to."""
        self._meet(recorder, ("write", _constant(value)))

    def _meet(self, recorder: Any, fact: Fact) -> None:
        if self.first is not None:
            self.first.facts.append(fact)
        elif self.again is not None:
            self._done += 1
            if self._done > len(self.again.facts) or self.again.facts[self._done - 1] != fact:
                self._refuse(recorder)

    def _refuse(self, recorder: Any) -> None:
        recorder.refuse(
            "the update of a parameter is another one than that of an equal parameter before\n"
            f"  at {recorder.whereabouts.now()}\n  Without fullgraph=True the call is re-recorded around it."
        )


def _between(before: set[Node], others: set[Node], after: Iterable[Node]) -> list[Node]:
    """What is computed on the way to `after`, operands first; `before` and `others` are not looked into."""
    done = before | others
    found, stack = [], [*after]
    while stack:
        node = stack[-1]
        if node in done or not node.args:
            stack.pop()
        elif unknown := [arg for arg in node.args if arg.args and arg not in done]:
            stack += unknown
        else:
            done.add(node)
            found.append(stack.pop())
    return found


def _constant(operand: Any) -> Any:
    """What says that a number is another one than before; nothing of a tensor."""
    return None if isinstance(operand, Array) else (type(operand), repr(operand))


def _others(recorder: Any) -> tuple[int, int, int]:
    """How much there is that a template does not know of."""
    return len(recorder.checked), len(recorder.checks), len(recorder.literals)
