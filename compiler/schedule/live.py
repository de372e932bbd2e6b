"""Dropping what nothing reads: values that were computed in advance and turned out not to be wanted in a stage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .expressions import let_expression, statement_text
from .records import Let, Stage, Statement

_VALUE = re.compile(r"\bv\d+\b")


def without_unread(stages: Sequence[Stage]) -> list[Stage]:
    """The stages without constants that no later statement reads, and without stages that are empty then."""
    read: set[str] = set()
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
    return replace(stage, body=read_statements(stage.body, read))
