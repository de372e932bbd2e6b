"""Rows fetched ahead: while a kernel works on what it knows of one row, the next one comes from memory.

The processor sees by itself that memory is read in order, and is ahead of kernels that do nothing else. One that goes
over a row several times leaves memory alone most of the time, and waits for it at the beginning of each row. So it asks
for the memory of this row's results and for the next row, a piece between one loop over the row and the next: a
processor has some sixteen requests on their way at a time, and whoever asks for more waits. Kernels of fewer loops take
as long either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..index import ZERO, Index, Variable, substituted
from ..records import Ahead, Buffer, Kernel, Load, LoopKernel, Stage, Store, operands_in

#: Loops over a row, of which all but the first have a piece to ask for.
FEWEST_LOOPS = 4
#: Bytes of a row: of shorter ones several are on the way anyway, longer ones would drive out what the loops work on.
SHORTEST, LONGEST = 1024, 8192
#: Bytes of a line of the cache.
LINE = 64
#: Bytes of a buffer from which on it does not stay in a core's second cache between two uses.
LARGE = 2 << 20


def ahead(kernels: Iterable[Kernel], buffers: Iterable[Buffer]) -> tuple[Kernel, ...]:
    """The kernels, those with several loops over long rows of large buffers with rows to fetch ahead."""
    known = {buffer.name: buffer for buffer in buffers}
    return tuple(_with_ahead(kernel, known) if type(kernel) is LoopKernel else kernel for kernel in kernels)


def _with_ahead(kernel: LoopKernel, buffers: Mapping[str, Buffer]) -> LoopKernel:
    nests = [stage for stage in kernel.stages if stage.loops]
    if not kernel.outer or len(nests) < FEWEST_LOOPS:
        return kernel
    row, last = kernel.outer[-1], len(nests) - 1
    read = _by_buffer(each for stage in nests for each in _read(stage, row, buffers, last))
    later = enumerate(nests[1:], 1)
    written = _by_buffer(each for nest, stage in later for each in _written(stage, row, buffers, nest))
    # What is read at this row is there when it is written.
    rows = (*(each for name, each in written.items() if name not in read), *read.values())
    return replace(kernel, ahead=tuple(_spread(rows, last)))


def _by_buffer(rows: Iterable[Ahead]) -> dict[str, Ahead]:
    """The first of each buffer."""
    found: dict[str, Ahead] = {}
    for each in rows:
        found.setdefault(each.buffer, each)
    return found


def _spread(rows: tuple[Ahead, ...], loops: int) -> Iterator[Ahead]:
    """The rows in pieces of whole lines, about as many in front of each of the loops, none later than its row is."""
    share = -(-sum(-(-(row.last - row.first) * row.itemsize // LINE) for row in rows) // loops)
    loop, free = 1, share
    for row in rows:
        line, first = LINE // row.itemsize, row.first
        while first < row.last:
            if not free:
                loop, free = loop + 1, share
            wanted = -(-(row.last - first) // line)
            lines = wanted if loop >= row.loop else min(wanted, free)
            end = min(row.last, first + lines * line)
            yield replace(row, first=first, last=end, loop=min(loop, row.loop))
            first, free = end, max(0, free - lines)


def _read(stage: Stage, row: Variable, buffers: Mapping[str, Buffer], loop: int) -> Iterator[Ahead]:
    for operand in (operand for statement in stage.body for operand in operands_in(statement)):
        if isinstance(operand, Load) and not operand.ranges:
            yield from _fetched(buffers[operand.buffer], operand.index, stage, row, loop, is_next=True)


def _written(stage: Stage, row: Variable, buffers: Mapping[str, Buffer], loop: int) -> Iterator[Ahead]:
    for statement in stage.body:
        if isinstance(statement, Store):
            yield from _fetched(buffers[statement.buffer], statement.index, stage, row, loop, is_next=False)


def _fetched(buffer: Buffer, index: Index, stage: Stage, row: Variable, loop: int, is_next: bool) -> Iterator[Ahead]:
    """The row that `stage` goes through at `index`: contiguous, long, and new memory in each turn of `row`; to be
    fetched in front of `loop` at the latest."""
    along, itemsize = stage.loops[-1], buffer.type.dtype.itemsize
    if len(stage.loops) > 1 or any(type(atom) is not Variable for atom, _ in index.terms):
        return
    if index.coefficient(along) != 1 or index.coefficient(row) < along.extent or buffer.type.nbytes < LARGE:
        return
    if SHORTEST <= along.extent * itemsize <= LONGEST:
        yield Ahead(buffer.name, substituted(index, {along: ZERO}), row, 0, along.extent, itemsize, is_next, loop)
