"""Choices between operands decided before the loops: where a concatenation, a pad or a written slice is laid out, each
part of the elements gets loops of its own, which read one operand without looking where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...sizes.standins import is_size
from ..index import Index, Variable, substituted
from ..live import read_statements
from ..maps import Range
from ..records import (
    Accumulator,
    Condition,
    Counter,
    Fold,
    Keep,
    Let,
    Literal,
    Load,
    Local,
    LoopKernel,
    Operand,
    Stage,
    Statement,
    Store,
    operands_in,
)

#: More parts than this are not worth the code.
MOST_PARTS = 8
#: The innermost loop, which runs in vectors, is cut into parts of at least so many elements.
SHORTEST_INNERMOST = 16

Part = Mapping[Variable, Index]


def by_parts(kernel: LoopKernel) -> LoopKernel:
    """The kernel with loops for each part of a loop on which the choices of a stage depend, where that decides them.

    Only what is independent is reordered so: elements, and sums that a part has for itself.
    """
    return replace(kernel, stages=tuple(part for stage in kernel.stages for part in _in_parts(stage)))


def _in_parts(stage: Stage) -> list[Stage]:
    ranges = tuple(r for statement in stage.body for r in _ranges(statement) if not r.always)
    numbers = (*(v.extent for v in stage.loops), *(bound for r in ranges for bound in (r.low, r.high)))
    # Where parts begin is known for one size only.
    if not ranges or any(map(is_size, numbers)) or _reads_what_it_writes(stage):
        return [stage]
    for place, variable in enumerate(stage.loops):
        least = SHORTEST_INNERMOST if place == len(stage.loops) - 1 else 1
        parts = _parts(variable, ranges, least) if _are_apart(stage, variable) else []
        if parts:
            first, *others = (_restricted(stage, variable, begin, end) for begin, end in parts)
            return [first, *(replace(other, accumulators=()) for other in others)]
    return [stage]


def _are_apart(stage: Stage, variable: Variable) -> bool:
    """True where each value of `variable` has accumulators of its own."""
    return all(a.index is not None and a.index.coefficient(variable) for a in stage.accumulators)


def _reads_what_it_writes(stage: Stage) -> bool:
    """True where a buffer is stored to at one place and loaded from at another."""
    stored = {statement.buffer: statement.index for statement in stage.body if isinstance(statement, Store)}
    loads = (o for statement in stage.body for o in operands_in(statement) if isinstance(o, Load))
    return any(load.buffer in stored and load.index != stored[load.buffer] for load in loads)


# ----------------------------------------------------------------------------------------------------------- parts


def _parts(variable: Variable, ranges: tuple[Range, ...], least: int) -> list[tuple[int, int]]:
    """Where `variable` begins and ends in each part, if all ranges hold throughout or nowhere in each; else none."""
    points = {0, variable.extent}
    for r in ranges:
        step = r.index.coefficient(variable)
        rest = r.index + Index(((variable, -step),)) if step else r.index
        if step <= 0 or r.step != 1:
            return []
        points.update(-(-(bound - rest.lowest) // step) for bound in (r.low, r.high))
    inside = sorted(point for point in points if 0 <= point <= variable.extent)
    parts = list(zip(inside, inside[1:], strict=False))
    if not 1 < len(parts) <= MOST_PARTS or any(end - begin < least for begin, end in parts):
        return []
    decided = (_is_decided(r, _replacement(variable, *part)) for r in ranges for part in parts)
    return parts if all(decided) else []


def _replacement(variable: Variable, begin: int, end: int) -> Part:
    terms = ((Variable(variable.name, end - begin), 1),) if end - begin > 1 else ()
    return {variable: Index(terms, begin)}


def _is_decided(r: Range, part: Part) -> bool:
    there = replace(r, index=substituted(r.index, part))
    return there.always or _never(there)


def _never(r: Range) -> bool:
    return r.index.highest < r.low or r.index.lowest >= r.high


def _restricted(stage: Stage, variable: Variable, begin: int, end: int) -> Stage:
    replacing = _Replacing(_replacement(variable, begin, end))
    loops = (replace(v, extent=end - begin) if v == variable else v for v in stage.loops)
    kept = tuple(v for v in loops if v.extent > 1 or v.name != variable.name)
    body = tuple(replacing.statement(statement) for statement in stage.body)
    return Stage(kept, read_statements(body, set()), tuple(map(replacing.accumulator, stage.accumulators)))


# ------------------------------------------------------------------------------------------------------ statements


def _ranges(statement: Statement) -> Iterator[Range]:
    for operand in operands_in(statement):
        if isinstance(operand, (Load, Condition)):
            yield from operand.ranges


@dataclass(frozen=True)
class _Replacing:
    """Statements with variables replaced, and what is decided by that left out."""

    part: Part

    def statement(self, statement: Statement) -> Statement:
        if isinstance(statement, Let):
            return self._let(statement)
        value = self._operand(statement.value)
        if isinstance(statement, Fold):
            return Fold(self.accumulator(statement.accumulator), value)
        if isinstance(statement, Store):
            return Store(statement.buffer, self._index(statement.index), value)
        return Keep(statement.array, self._index(statement.index), value)

    def accumulator(self, accumulator: Accumulator) -> Accumulator:
        return accumulator if accumulator.index is None else replace(accumulator, index=self._index(accumulator.index))

    def _let(self, statement: Let) -> Let:
        operands = dict(statement.operands)
        condition = operands.get("condition")
        if isinstance(condition, Condition):
            there = [self._range(r) for r in condition.ranges]
            taken = "y" if any(map(_never, there)) else "x"
            return replace(statement, form="{x}", operands=(("x", self._operand(operands[taken])),))
        return replace(statement, operands=tuple((name, self._operand(o)) for name, o in statement.operands))

    def _operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Load):
            there = [self._range(r) for r in operand.ranges]
            if any(map(_never, there)):
                return Literal(operand.otherwise)
            return replace(operand, index=self._index(operand.index), ranges=tuple(r for r in there if not r.always))
        if isinstance(operand, (Local, Counter)):
            return replace(operand, index=self._index(operand.index))
        return operand

    def _range(self, r: Range) -> Range:
        return replace(r, index=self._index(r.index))

    def _index(self, index: Index) -> Index:
        return substituted(index, self.part)
