"""What later statements want: values of a row that wait on the stack for them, and constants that nothing reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ...ops.core import Movement, Pointwise
from ..graph import Node
from .expressions import let_expression, statement_text
from .records import Keep, Let, Stage, Statement
from .values import form_of

#: What computing a value again may cost, in instructions that take no longer than an addition; storing and loading it
#: back costs about as much.
CHEAP = 4
_DIVISION, _FUNCTION = 5, 10
_CALL = re.compile(r"[\w}]\(")

Test = Callable[[Node], bool]


def frontier(wanted: Iterable[Node], reads: Mapping[Node, frozenset[Node]], open: Test, worth: Test) -> set[Node]:
    """The first nodes on the way down from `wanted` that are worth keeping; only `open` ones are looked at."""
    kept: set[Node] = set()
    seen: set[Node] = set()
    pending = list(wanted)
    while pending:
        for node in reads[pending.pop()]:
            if node in seen or not open(node):
                continue
            seen.add(node)
            if worth(node):
                kept.add(node)
            else:
                pending.append(node)
    return kept


def is_costly(node: Node, at_hand: Test) -> bool:
    """True where computing `node` from what is at hand costs more than reading it back."""
    total = 0
    seen = {node}
    pending = [node]
    while pending:
        current = pending.pop()
        total += cost_of(current)
        if total > CHEAP:
            return True
        for arg in current.args:
            if arg not in seen and not at_hand(arg):
                seen.add(arg)
                pending.append(arg)
    return False


def cost_of(node: Node) -> int:
    """What computing a node of its operands takes, in instructions that take no longer than an addition."""
    lower = node.op.lower
    if isinstance(lower, Movement):
        return 0 if lower.view else 1
    if not isinstance(lower, Pointwise):
        return 0 if node.is_constant else 1
    return form_cost(form_of(node, lower))


def form_cost(form: str) -> int:
    """What an expression takes, in additions."""
    if _CALL.search(form):
        return _FUNCTION
    return _DIVISION if "/" in form else 1


def is_function(node: Node) -> bool:
    """True for exponentials and the like: elementwise work with a call in its C."""
    lower = node.op.lower
    return isinstance(lower, Pointwise) and _CALL.search(form_of(node, lower)) is not None


# ------------------------------------------------------------------------------------------- what nothing reads

#: Values in registers and the arrays on the stack of `Keep`.
_VALUE = re.compile(r"\b(?:v|\w+_row)\d+\b")


def without_unread(stages: Sequence[Stage], read: set[str]) -> list[Stage]:
    """The stages without constants and kept rows that no later statement or `read` asks for, and without stages that
    are empty then; `read` is extended by what they ask for."""
    kept = [_read_part(stage, read) for stage in reversed(stages)]
    return [stage for stage in reversed(kept) if stage.body]


def read_statements(statements: Sequence[Statement], read: set[str]) -> tuple[Statement, ...]:
    """The statements that store, or that a later one or `read` asks for; `read` is extended by what they ask for."""
    kept: list[Statement] = []
    for statement in reversed(statements):
        if isinstance(statement, Let):
            if statement.name not in read:
                continue
            read.update(_VALUE.findall(let_expression(statement, str)))
        else:
            read.update(name for line in statement_text(statement, str) for name in _VALUE.findall(line))
        kept.append(statement)
    return tuple(reversed(kept))


def _read_part(stage: Stage, read: set[str]) -> Stage:
    body = [s for s in stage.body if not isinstance(s, Keep) or s.array in read]  # a row is for later stages alone
    return replace(stage, body=read_statements(body, read))
