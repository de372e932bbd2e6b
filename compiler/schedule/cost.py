"""What a kernel has to do: floating-point operations, and bytes between it and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from .index import Variable
from .records import (
    Buffer,
    ConvKernel,
    DotKernel,
    Fold,
    Kernel,
    Let,
    LoopKernel,
    RepeatKernel,
    SpecialKernel,
    Statement,
    places_in,
)
from .row_blocks.records import SCRATCH, RowBlockKernel

_FLOATING = ("float", "double")
_NO_ARITHMETIC = frozenset({"cast", "detach", "where"})  # conversions and choices


@dataclass(frozen=True)
class Cost:
    """`flops`: additions, multiplications, divisions and calls of functions of floating-point numbers, one each.
    `nbytes`: what is read and what is written, each element once. Integers, with stand-ins for sizes where the schedule
    has them. `itemsize`: bytes of the widest of these numbers.
    """

    flops: int
    nbytes: int
    itemsize: int = 4


def cost(kernel: Kernel, buffers: Mapping[str, Buffer]) -> Cost:
    """What `kernel` has to do; `buffers` by name."""
    if isinstance(kernel, RepeatKernel):
        inside = {**buffers, **{buffer.name: buffer for buffer in kernel.buffers}}
        costs = [cost(inner, inside) for inner in kernel.kernels]
        turns = dict(kernel.numbers)["turns"]
        flops, nbytes = sum(c.flops for c in costs), sum(c.nbytes for c in costs)
        return Cost(turns * flops, turns * nbytes, max((c.itemsize for c in costs), default=4))
    if isinstance(kernel, RowBlockKernel):
        return _of_row_blocks(kernel, buffers)
    if isinstance(kernel, SpecialKernel):
        return Cost(0, sum(buffers[name].type.nbytes for _, name in (*kernel.operands, *kernel.outputs)))
    if isinstance(kernel, LoopKernel):
        return _of_loops(kernel, buffers)
    product, elements = _of_contraction(kernel)
    whole = [kernel.read, kernel.factors] if isinstance(kernel, ConvKernel) else [kernel.a.buffer, kernel.b.buffer]
    touched = {name: buffers[name].type.size for name in whole}
    for statement in kernel.epilogue:
        _note(statement, touched, buffers)
    flops = product + elements * sum(map(_flops, kernel.epilogue))
    return Cost(flops, _bytes(touched, buffers), max(kernel.dtype.itemsize, *map(_itemsize, kernel.epilogue)))


def _of_contraction(kernel: DotKernel | ConvKernel) -> tuple[int, int]:
    """Its multiplications and additions, and how many elements it gives."""
    if isinstance(kernel, DotKernel):
        elements = prod(kernel.batch) * kernel.m * kernel.n
        return 2 * elements * kernel.k, elements
    places = sum(prod(phase.counts) * phase.taps for phase in kernel.geometry.phases)
    pairs = kernel.images * kernel.groups * kernel.rows * kernel.channels
    return 2 * pairs * places, prod(kernel.shape)


def _of_row_blocks(kernel: RowBlockKernel, buffers: Mapping[str, Buffer]) -> Cost:
    """Products and work on rows, of what a mask excludes too; the scratch memory is no traffic."""
    blocks, (*batch, _) = kernel.blocks, kernel.around.outer
    columns = blocks.width.columns
    products = sum(columns * scores.depth for scores in blocks.scores)
    products += sum(columns * blocks.panels[use.panel].width.columns for use in blocks.uses)
    elements = sum(
        _extent(stage.loops) * sum(map(_flops, stage.body)) for stage in (*kernel.before, *kernel.around.stages)
    )
    named = [buffer for part, buffer in (*kernel.operands, *kernel.outputs) if part != SCRATCH]
    nbytes = sum(buffers[name].type.nbytes for name in dict.fromkeys(named))
    return Cost(_extent(tuple(batch)) * blocks.rows * (2 * products + elements), nbytes, blocks.dtype.itemsize)


def _of_loops(kernel: LoopKernel, buffers: Mapping[str, Buffer]) -> Cost:
    flops, touched = 0, dict[str, int]()
    for stages, outer in ((kernel.stages, kernel.outer), (kernel.last, ())):
        for stage in stages:
            turns = _extent((*outer, *stage.loops))
            flops += turns * sum(map(_flops, stage.body))
            for statement in stage.body:
                _note(statement, touched, buffers)
    widest = max((_itemsize(s) for stage in kernel.all_stages for s in stage.body), default=4)
    return Cost(flops, _bytes(touched, buffers), widest)


def _flops(statement: Statement) -> int:
    if isinstance(statement, Let) and statement.op in _NO_ARITHMETIC:
        return 0
    return int(_ctype(statement) in _FLOATING)


def _itemsize(statement: Statement) -> int:
    return 8 if _flops(statement) and _ctype(statement) == "double" else 4


def _ctype(statement: Statement) -> str:
    """The C type of what a statement computes; "" where it only stores."""
    if isinstance(statement, Let):
        return statement.ctype
    return statement.accumulator.ctype if isinstance(statement, Fold) else ""


def _note(statement: Statement, touched: dict[str, int], buffers: Mapping[str, Buffer]) -> None:
    """How many elements of each buffer a statement reads or writes; never more than there are."""
    for name, index in places_in(statement):
        turns = _extent(tuple(v for v in index.variables() if type(v) is Variable))
        touched[name] = min(buffers[name].type.size, max(touched.get(name, 0), turns))


def _bytes(touched: Mapping[str, int], buffers: Mapping[str, Buffer]) -> int:
    return sum(elements * buffers[name].type.dtype.itemsize for name, elements in touched.items())


def _extent(variables: tuple[Variable, ...]) -> int:
    return prod(variable.extent for variable in variables)


def places_of(kernel: Kernel) -> tuple[str, ...]:
    """The lines and layers of the program that a kernel computes, the first one first."""
    if isinstance(kernel, RepeatKernel):
        found = [kernel.origin, *(place for inner in kernel.kernels for place in places_of(inner))]
    elif isinstance(kernel, SpecialKernel):
        found = [kernel.origin]
    elif isinstance(kernel, LoopKernel):
        found = [place for stage in kernel.all_stages for s in stage.body for place in _origin(s)]
    else:
        found = [kernel.origin, *(place for s in kernel.epilogue for place in _origin(s))]
    return tuple(dict.fromkeys(filter(None, found)))


def _origin(statement: Statement) -> list[str]:
    if isinstance(statement, Let):
        return [statement.origin]
    return [statement.accumulator.origin] if isinstance(statement, Fold) else []
