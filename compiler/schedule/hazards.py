"""Whether a kernel may overwrite an input that it reads: only element by element, each read before its own write."""

from __future__ import annotations

from collections.abc import Iterator

from .index import Index
from .records import DotKernel, Kernel, Let, Load, LoopKernel, SpecialKernel, Statement, Store


def overwrites_early(kernel: Kernel, updated: set[str]) -> set[str]:
    """The buffers among `updated` that `kernel` writes before it has read all of their old value."""
    if isinstance(kernel, SpecialKernel):
        return {name for _, name in kernel.outputs} & updated & {name for _, name in kernel.operands}
    if isinstance(kernel, DotKernel):
        operands = {kernel.a.buffer, kernel.b.buffer}
        stored = {s.buffer for s in kernel.epilogue if isinstance(s, Store)} & updated
        return (stored & operands) | _clashes([(0, s) for s in kernel.epilogue], updated)
    return _clashes(list(_in_stages(kernel)), updated)


def _in_stages(kernel: LoopKernel) -> Iterator[tuple[int, Statement]]:
    for number, stage in enumerate(kernel.stages):
        for statement in stage.body:
            yield number, statement


def _clashes(statements: list[tuple[int, Statement]], updated: set[str]) -> set[str]:
    stores = {s.buffer: (stage, s.index) for stage, s in statements if isinstance(s, Store) and s.buffer in updated}
    return {
        buffer
        for stage, statement in statements
        for buffer, index in _loads(statement)
        if buffer in stores and (stage > stores[buffer][0] or index != stores[buffer][1])
    }


def _loads(statement: Statement) -> Iterator[tuple[str, Index]]:
    if isinstance(statement, Let):
        for _, operand in statement.operands:
            if isinstance(operand, Load):
                yield operand.buffer, operand.index
