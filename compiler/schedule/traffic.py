"""What kernels read from memory and write to it."""

from __future__ import annotations

from .index import Index
from .records import (
    Contraction,
    ConvKernel,
    DotKernel,
    Fold,
    Kernel,
    Let,
    Load,
    LoopKernel,
    SpecialKernel,
    Stage,
    Statement,
    Store,
    indices,
)


def writes(kernel: Kernel) -> tuple[str, ...]:
    """The buffers that a kernel stores into, each once."""
    if isinstance(kernel, SpecialKernel):
        return tuple(buffer for _, buffer in kernel.outputs)
    return tuple(dict.fromkeys(s.buffer for s in statements_of(kernel) if isinstance(s, Store)))


def read_by(kernel: Kernel) -> tuple[str, ...]:
    """The buffers that a kernel loads from, each once."""
    if isinstance(kernel, SpecialKernel):
        return tuple(dict.fromkeys(buffer for _, buffer in kernel.operands))
    own = () if isinstance(kernel, LoopKernel) else operands_of(kernel)
    return tuple(dict.fromkeys((*own, *(name for s in statements_of(kernel) for name in _loads(s)))))


def operands_of(kernel: Contraction) -> tuple[str, str]:
    """The buffers of what a contraction multiplies."""
    if isinstance(kernel, ConvKernel):
        return kernel.read, kernel.factors
    return kernel.a.buffer, kernel.b.buffer


def statements_of(kernel: LoopKernel | Contraction) -> tuple[Statement, ...]:
    if isinstance(kernel, (DotKernel, ConvKernel)):
        return kernel.epilogue
    return tuple(statement for stage in kernel.all_stages for statement in stage.body)


def _loads(statement: Statement) -> list[str]:
    if isinstance(statement, Let):
        return [operand.buffer for _, operand in statement.operands if isinstance(operand, Load)]
    if isinstance(statement, (Fold, Store)) and isinstance(statement.value, Load):
        return [statement.value.buffer]
    return []


def indices_of(kernel: LoopKernel) -> list[Index]:
    """Every index of a kernel, those of its accumulators included."""
    return [index for stage in kernel.all_stages for index in stage_indices(stage)]


def stage_indices(stage: Stage) -> list[Index]:
    """Every index in a stage."""
    found = [index for statement in stage.body for index in statement_indices(statement)]
    return found + [a.index for a in stage.accumulators if a.index is not None]


def statement_indices(statement: Statement) -> list[Index]:
    """Every index in a statement, that of the accumulator to which it adds included."""
    if isinstance(statement, Let):
        return [index for _, operand in statement.operands for index in indices(operand)]
    own = statement.accumulator.index if isinstance(statement, Fold) else statement.index
    return [*([] if own is None else [own]), *indices(statement.value)]
