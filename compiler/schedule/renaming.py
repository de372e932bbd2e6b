"""One kernel for another: the same statements with other buffers, from other lines of the user's program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .index import Index
from .records import (
    Accumulator,
    Contraction,
    ConvKernel,
    Counter,
    Fold,
    Keep,
    Kernel,
    Let,
    Load,
    LoopKernel,
    Operand,
    RepeatKernel,
    SpecialKernel,
    Stage,
    Statement,
    Store,
    View,
)


@dataclass(frozen=True)
class Renaming:
    """What the kernel of one layer calls that of another, by the names in the first."""

    buffers: Mapping[str, str]
    origins: Mapping[str, str]

    def loops(self, kernel: LoopKernel, name: str) -> LoopKernel:
        return replace(
            kernel,
            name=name,
            stages=tuple(self._stage(stage) for stage in kernel.stages),
            totals=tuple(replace(a, origin=self.origins[a.origin]) for a in kernel.totals),
            last=tuple(self._stage(stage) for stage in kernel.last),
        )

    def product(self, kernel: Contraction, name: str) -> Contraction:
        epilogue = tuple(self._statement(statement, {}) for statement in kernel.epilogue)
        origin = self.origins[kernel.origin]
        if isinstance(kernel, ConvKernel):
            read, factors = self.buffers[kernel.read], self.buffers[kernel.factors]
            return replace(kernel, name=name, read=read, factors=factors, epilogue=epilogue, origin=origin)
        a, b = self._view(kernel.a), self._view(kernel.b)
        return replace(kernel, name=name, a=a, b=b, epilogue=epilogue, origin=origin)

    def _view(self, view: View) -> View:
        return replace(view, buffer=self.buffers[view.buffer])

    def _stage(self, stage: Stage) -> Stage:
        accumulators = {a: replace(a, origin=self.origins[a.origin]) for a in stage.accumulators}
        body = tuple(self._statement(statement, accumulators) for statement in stage.body)
        return Stage(stage.loops, body, tuple(accumulators.values()))

    def _statement(self, statement: Statement, accumulators: Mapping[Accumulator, Accumulator]) -> Statement:
        if isinstance(statement, Let):
            operands = tuple((name, self._operand(operand)) for name, operand in statement.operands)
            origin = self.origins[statement.origin]
            return Let(statement.name, statement.ctype, statement.form, operands, statement.op, origin)
        value = self._operand(statement.value)
        if isinstance(statement, Fold):
            of = statement.accumulator
            return Fold(accumulators.get(of) or replace(of, origin=self.origins[of.origin]), value)
        if isinstance(statement, Store):
            return Store(self.buffers[statement.buffer], statement.index, value)
        return Keep(statement.array, statement.index, value)

    def _operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Load):
            return Load(self.buffers[operand.buffer], operand.index, operand.ranges, operand.otherwise)
        return operand


class _Same(dict[str, str]):
    """Names of which most stay."""

    def __missing__(self, name: str) -> str:
        return name


def reading(kernel: Kernel, names: Mapping[str, str]) -> Kernel:
    """A kernel that reads other buffers, none of which it writes."""
    table = _Same({own: name for own, name in names.items() if own != name})
    if not table:
        return kernel
    if isinstance(kernel, LoopKernel):
        return Renaming(table, _Same()).loops(kernel, kernel.name)
    if not isinstance(kernel, SpecialKernel):
        return Renaming(table, _Same()).product(kernel, kernel.name)
    operands = tuple((role, table[buffer]) for role, buffer in kernel.operands)
    if not isinstance(kernel, RepeatKernel):
        return replace(kernel, operands=operands)
    copies = tuple(replace(copy, source=table[copy.source]) for copy in kernel.copies)
    addresses = tuple((name, replace(at, buffer=table[at.buffer])) for name, at in kernel.addresses)
    return replace(kernel, operands=operands, copies=copies, addresses=addresses)


def with_variables(statements: Iterable[Statement], table: Mapping[Index, Index]) -> tuple[Statement, ...]:
    """The statements of an epilogue with indices replaced as a whole; those that are not in `table` stay."""

    def replaced(operand: Operand) -> Operand:
        if isinstance(operand, (Load, Counter)):
            return replace(operand, index=table.get(operand.index, operand.index))
        return operand

    found: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Let):
            found.append(replace(statement, operands=tuple((n, replaced(o)) for n, o in statement.operands)))
        elif isinstance(statement, Store):
            index = table.get(statement.index, statement.index)
            found.append(replace(statement, index=index, value=replaced(statement.value)))
    return tuple(found)
