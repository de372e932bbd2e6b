"""Operands and statements as C expressions; `names` says what a kernel calls each buffer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..sizes.claims import below
from .maps import Range
from .records import Condition, Counter, Fold, Keep, Let, Literal, Local, Operand, Statement, Store, Value

Names = Callable[[str], str]


def operand_text(operand: Operand, names: Names) -> str:
    """One operand, in parentheses where it is more than a name, a number or an element."""
    if isinstance(operand, Value):
        return operand.name
    if isinstance(operand, Literal):
        return operand.text
    if isinstance(operand, Local):
        return f"{operand.array}[{operand.index}]"
    if isinstance(operand, Counter):
        return f"({operand.index})"
    if isinstance(operand, Condition):
        return f"({condition_text(operand.ranges)})"
    element = f"{names(operand.buffer)}[{operand.index}]"
    if not operand.ranges:
        return element
    return f"({condition_text(operand.ranges)} ? {element} : {operand.otherwise})"


def condition_text(ranges: tuple[Range, ...]) -> str:
    """All ranges as one condition, without the parts that are always true."""
    parts = [part for r in ranges for part in _range_parts(r)]
    return " && ".join(parts) or "1"


def _range_parts(r: Range) -> list[str]:
    """The comparisons of a range, with the index's constant on the other side: ``i0 >= 1``."""
    moving, shift = r.index + -r.index.constant, r.index.constant
    if r.high == r.low + 1:
        return [f"{moving} == {r.low - shift}"]
    low = [f"{moving} >= {r.low - shift}"] if not below(r.low - 1, r.index.lowest) else []
    high = [f"{moving} < {r.high - shift}"] if not below(r.index.highest, r.high) else []
    step = [f"({r.index + -r.low}) % {r.step} == 0"] if r.step != 1 else []
    return [*low, *high, *step]


def statement_text(statement: Statement, names: Names) -> tuple[str, ...]:
    """The C lines of a statement."""
    if isinstance(statement, Let):
        return (f"const {statement.ctype} {statement.name} = {let_expression(statement, names)};",)
    if isinstance(statement, Store):
        return (f"{names(statement.buffer)}[{statement.index}] = {operand_text(statement.value, names)};",)
    if isinstance(statement, Keep):
        return (f"{statement.array}[{statement.index}] = {operand_text(statement.value, names)};",)
    return _fold_text(statement, names)


def let_expression(statement: Let, names: Names) -> str:
    text = statement.form
    for name, operand in statement.operands:
        text = text.replace(f"{{{name}}}", operand_text(operand, names))
    return text


def _fold_text(fold: Fold, names: Names) -> tuple[str, ...]:
    accumulator = fold.accumulator
    x = operand_text(fold.value, names)
    acc = accumulator.name if accumulator.index is None else f"{accumulator.name}[{accumulator.index}]"
    if accumulator.nan_flag:
        best = rank_names(accumulator.kind, accumulator.ctype).best
        return (f"{acc}_rank = {best}({acc}_rank, {x});", f"{accumulator.nan_flag} |= {x} != {x};")
    return (f"{acc} = {accumulator.combine.replace('{acc}', acc).replace('{x}', x)};",)


@dataclass(frozen=True)
class RankNames:
    """What ``tg_rank.h`` calls the type of a rank, and functions: the rank of a number, the number of a rank, the
    better one of a rank and a number's."""

    type: str
    of: str
    number: str
    best: str


def rank_names(kind: str, ctype: str) -> RankNames:
    """Those for folds of a `kind`, ``max`` or ``min``, over ``float`` or ``double``."""
    return RankNames(f"tg_{ctype}_rank", f"tg_rank_{ctype}", f"tg_of_rank_{ctype}", f"tg_{kind}_rank_{ctype}")
