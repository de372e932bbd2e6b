"""Whether a kernel may overwrite an input that it reads: only element by element, each read before its own write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .index import Index
from .records import Kernel, Load, LoopKernel, SpecialKernel, Statement, Store, operands_in
from .traffic import operands_of


def overwrites_early(kernel: Kernel, updated: set[str]) -> set[str]:
    """The buffers among `updated` that `kernel` writes before it has read all of their old value."""
    if isinstance(kernel, SpecialKernel):
        return {name for _, name in kernel.outputs} & updated & {name for _, name in kernel.operands}
    if not isinstance(kernel, LoopKernel):
        operands = set(operands_of(kernel))
        stored = {s.buffer for s in kernel.epilogue if isinstance(s, Store)} & updated
        return (stored & operands) | _clashes(kernel.epilogue, updated)
    return _clashes([statement for stage in kernel.all_stages for statement in stage.body], updated)


def _clashes(statements: Sequence[Statement], updated: set[str]) -> set[str]:
    stores = {
        s.buffer: (place, s.index) for place, s in enumerate(statements) if isinstance(s, Store) and s.buffer in updated
    }
    return {
        buffer
        for place, statement in enumerate(statements)
        for buffer, index in _loads(statement)
        if buffer in stores and (place > stores[buffer][0] or index != stores[buffer][1])
    }


def _loads(statement: Statement) -> Iterator[tuple[str, Index]]:
    for operand in operands_in(statement):
        if isinstance(operand, Load):
            yield operand.buffer, operand.index
