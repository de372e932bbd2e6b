"""Rows fetched ahead: while a kernel works on what it knows of one row, the next one comes from memory.

The processor sees by itself that memory is read in order, and is ahead of most kernels. One that keeps so much of a row
that its first cache is full loses sight of that: it goes over its own arrays several times, which come from the second
cache, and waits for memory at the beginning of each row. So it asks for the next row, and for the memory of this row's
results, behind its first loop over the row. Kernels that keep less take a little longer by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..index import ZERO, Index, Variable, substituted
from ..records import Ahead, Buffer, Kernel, Load, LoopKernel, Stage, Store, operands_in

#: Bytes that a kernel keeps on its stack while it works on a row: two thirds of a first-level cache.
KEPT = 32 << 10
#: Bytes of a row: of shorter ones several are on the way anyway, longer ones would drive out what the loops work on.
SHORTEST, LONGEST = 1024, 16384
#: Bytes of a buffer from which on it does not stay in a core's second cache between two uses.
LARGE = 2 << 20
_WIDE = ("double", "int64_t")


def ahead(kernels: Iterable[Kernel], buffers: Iterable[Buffer]) -> tuple[Kernel, ...]:
    """The kernels, those with several loops over long rows of large buffers with rows to fetch ahead."""
    known = {buffer.name: buffer for buffer in buffers}
    return tuple(_with_ahead(kernel, known) if type(kernel) is LoopKernel else kernel for kernel in kernels)


def _with_ahead(kernel: LoopKernel, buffers: Mapping[str, Buffer]) -> LoopKernel:
    nests = [stage for stage in kernel.stages if stage.loops]
    if not kernel.outer or len(nests) < 2 or _kept(kernel) < KEPT:
        return kernel
    row = kernel.outer[-1]
    found: dict[str, Ahead] = {}
    for fetched in (each for stage in nests for each in _read(stage, row, buffers)):
        found.setdefault(fetched.buffer, fetched)
    for fetched in (each for stage in nests[1:] for each in _written(stage, row, buffers)):
        found.setdefault(fetched.buffer, fetched)
    return replace(kernel, ahead=tuple(found.values())) if found else kernel


def _kept(kernel: LoopKernel) -> int:
    """Bytes of its arrays, those of sums over all rows included."""
    arrays = [(array.ctype, array.size) for array in kernel.locals]
    arrays += [(total.ctype, total.size) for total in kernel.totals]
    return sum(size * (8 if ctype in _WIDE else 4) for ctype, size in arrays)


def _read(stage: Stage, row: Variable, buffers: Mapping[str, Buffer]) -> Iterator[Ahead]:
    for operand in (operand for statement in stage.body for operand in operands_in(statement)):
        if isinstance(operand, Load) and not operand.ranges:
            yield from _fetched(buffers[operand.buffer], operand.index, stage, row, is_next=True)


def _written(stage: Stage, row: Variable, buffers: Mapping[str, Buffer]) -> Iterator[Ahead]:
    for statement in stage.body:
        if isinstance(statement, Store):
            yield from _fetched(buffers[statement.buffer], statement.index, stage, row, is_next=False)


def _fetched(buffer: Buffer, index: Index, stage: Stage, row: Variable, is_next: bool) -> Iterator[Ahead]:
    """The row that `stage` goes through at `index`: contiguous, long, and new memory in each turn of `row`."""
    along, itemsize = stage.loops[-1], buffer.type.dtype.itemsize
    if len(stage.loops) > 1 or any(type(atom) is not Variable for atom, _ in index.terms):
        return
    if index.coefficient(along) != 1 or index.coefficient(row) < along.extent or buffer.type.nbytes < LARGE:
        return
    if SHORTEST <= along.extent * itemsize <= LONGEST:
        yield Ahead(buffer.name, substituted(index, {along: ZERO}), row, along.extent, itemsize, is_next)
