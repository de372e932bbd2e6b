"""Fewer loops: two that walk through memory as one become one, so that vectors run across rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .index import Index, Variable
from .maps import Range
from .records import (
    Accumulator,
    Condition,
    Counter,
    Fold,
    Keep,
    Let,
    Load,
    Local,
    LoopKernel,
    Operand,
    Stage,
    Statement,
    Store,
)
from .traffic import stage_indices

Change = Callable[[Index], Index]
#: A sum that runs longer than this in one go loses more digits than numpy's does.
LONGEST_SUM = 4096


def coalesced(kernel: LoopKernel) -> LoopKernel:
    """The kernel with the loops of each stage merged where every index allows it."""
    merged = tuple(_merged(stage) for stage in kernel.stages)
    return replace(kernel, stages=merged, last=tuple(_merged(stage) for stage in kernel.last))


def _merged(stage: Stage) -> Stage:
    place = len(stage.loops) - 2
    while place >= 0:
        outer, inner = stage.loops[place : place + 2]
        if _are_one(outer, inner, stage):
            one = Variable(outer.name, outer.extent * inner.extent)
            stage = _with_loops(stage, (*stage.loops[:place], one, *stage.loops[place + 2 :]), outer, inner, one)
        place -= 1
    return stage


def _are_one(outer: Variable, inner: Variable, stage: Stage) -> bool:
    if has_sum(stage) and outer.extent * inner.extent > LONGEST_SUM:
        return False
    return all(_steps_on(index, outer, inner) for index in stage_indices(stage))


def has_sum(stage: Stage) -> bool:
    """True where a loop adds up numbers in one variable."""
    return any(isinstance(s, Fold) and s.accumulator.kind == "add" and not s.accumulator.size for s in stage.body)


def _steps_on(index: Index, outer: Variable, inner: Variable) -> bool:
    """True where a step of `outer` goes on where `inner` ends."""
    hidden = any(not isinstance(atom, Variable) and {outer, inner} & atom.of.variables() for atom, _ in index.terms)
    return not hidden and index.coefficient(outer) == index.coefficient(inner) * inner.extent


def _with_loops(stage: Stage, loops: tuple[Variable, ...], outer: Variable, inner: Variable, one: Variable) -> Stage:
    def change(index: Index) -> Index:
        terms = ((one if atom == inner else atom, c) for atom, c in index.terms if atom != outer)
        return Index(tuple(terms), index.constant)

    accumulators = {a: _accumulator(a, change) for a in stage.accumulators}
    body = tuple(_statement(statement, change, accumulators) for statement in stage.body)
    return Stage(loops, body, tuple(accumulators.values()))


def _accumulator(accumulator: Accumulator, change: Change) -> Accumulator:
    return accumulator if accumulator.index is None else replace(accumulator, index=change(accumulator.index))


def _statement(statement: Statement, change: Change, accumulators: dict[Accumulator, Accumulator]) -> Statement:
    if isinstance(statement, Let):
        return replace(statement, operands=tuple((name, _operand(o, change)) for name, o in statement.operands))
    value = _operand(statement.value, change)
    if isinstance(statement, Fold):
        own = accumulators.get(statement.accumulator)  # none for a total, which is the kernel's
        return Fold(own or _accumulator(statement.accumulator, change), value)
    if isinstance(statement, Store):
        return Store(statement.buffer, change(statement.index), value)
    return Keep(statement.array, change(statement.index), value)


def _operand(operand: Operand, change: Change) -> Operand:
    if isinstance(operand, Load):
        return replace(operand, index=change(operand.index), ranges=_ranges(operand.ranges, change))
    if isinstance(operand, Condition):
        return Condition(_ranges(operand.ranges, change))
    if isinstance(operand, (Local, Counter)):
        return replace(operand, index=change(operand.index))
    return operand


def _ranges(ranges: tuple[Range, ...], change: Change) -> tuple[Range, ...]:
    return tuple(replace(r, index=change(r.index)) for r in ranges)
