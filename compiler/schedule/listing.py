"""Schedules as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .expressions import let_expression, operand_text
from .index import Variable
from .memory import AGAIN
from .records import (
    Buffer,
    Contraction,
    ConvKernel,
    DotKernel,
    Fold,
    Kernel,
    Let,
    LoopKernel,
    RepeatKernel,
    SpecialKernel,
    Stage,
    Statement,
    Store,
    View,
)


def listing(
    name: str, buffers: Iterable[Buffer], kernels: Sequence[Kernel], arena_bytes: int, limit: int | None = None
) -> str:
    """The whole schedule: buffers with places, kernels with loops and statements."""
    again = sum(kernel.name.startswith(AGAIN) for kernel in kernels)
    limited = "" if limit is None else f" of at most {limit}, {again} values computed again"
    lines = [f"schedule {name}  arena {arena_bytes} bytes{limited}"]
    lines += [f"  buffer {b.name}: {b.type} {_place(b)}" for b in buffers]
    for kernel in kernels:
        lines += [f"  {line}" for line in _kernel(kernel)]
    return "\n".join(lines) + "\n"


def _place(buffer: Buffer) -> str:
    return {"arena": f"@{buffer.number}", "sized": f"@sizes[{buffer.number}]"}.get(
        buffer.place, f"slot {buffer.number}"
    )


def _kernel(kernel: Kernel) -> Iterator[str]:
    if isinstance(kernel, LoopKernel):
        yield f"kernel {kernel.name}"
        yield from _split(kernel)
        yield from (f"  {fetched}" for fetched in kernel.ahead)
        yield from (f"  hidden {variable} * {step}" for variable, step in kernel.hidden)
        for stage in kernel.stages:
            yield from _stage(kernel.outer, stage)
        for stage in kernel.last:
            yield from _stage((), stage)
    elif isinstance(kernel, DotKernel):
        yield f"kernel {kernel.name}{_comment(kernel.op, kernel.origin)}"
        yield f"  {_view(kernel.a)} @ {_view(kernel.b)}  batch {kernel.batch} m {kernel.m} n {kernel.n} k {kernel.k}"
        yield from _split(kernel)
        yield from (f"    {line}" for s in kernel.epilogue for line in _statement(s))
    elif isinstance(kernel, ConvKernel):
        yield from _conv(kernel)
    else:
        yield _special(kernel)
    if isinstance(kernel, RepeatKernel):
        yield from (f"  buffer {b.name}: {b.type} {_inside(kernel, b)}" for b in kernel.buffers)
        yield from (f"  {line}" for inner in kernel.kernels for line in _kernel(inner))


def _split(kernel: LoopKernel | Contraction) -> Iterator[str]:
    if kernel.split is not None:
        yield f"  {kernel.split}"


def _inside(kernel: RepeatKernel, buffer: Buffer) -> str:
    """Where a buffer of a loop's body lies."""
    place = dict(kernel.addresses).get(buffer.name)
    return _place(buffer) if place is None else f"{place.buffer}[{place.offset} + {place.stride} t]"


def _conv(kernel: ConvKernel) -> Iterator[str]:
    yield f"kernel {kernel.name}{_comment(kernel.op, kernel.origin)}"
    seen, tiling = kernel.geometry, kernel.tiling
    yield (
        f"  {kernel.read} * {kernel.factors}  images {kernel.images} groups {kernel.groups} rows {kernel.rows} "
        f"channels {kernel.channels} taps {len(seen.taps)} phases {len(seen.phases)}"
    )
    packed = " x ".join(map(str, seen.places))
    yield f"  packed {packed} by {seen.steps}, tiles of {tiling.vectors} vectors, scratch {kernel.scratch_bytes} bytes"
    yield from _split(kernel)
    yield from (f"    {line}" for s in kernel.epilogue for line in _statement(s))


def _special(kernel: SpecialKernel) -> str:
    outputs = ", ".join(buffer for _, buffer in kernel.outputs) or "-"
    operands = ", ".join(buffer for _, buffer in kernel.operands)
    numbers = " ".join(f"{name} {value}" for name, value in kernel.numbers)
    return f"kernel {kernel.name} ({outputs} <- {operands})  {numbers}{_comment(kernel.op, kernel.origin)}"


def _stage(outer: tuple[Variable, ...], stage: Stage) -> Iterator[str]:
    loops = ", ".join(f"{v.name} < {v.extent}" for v in (*outer, *stage.loops))
    yield f"  for {loops}:" if loops else "  once:"
    yield from (f"    {line}" for statement in stage.body for line in _statement(statement))


def _statement(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Let):
        text = f"{statement.name} = {let_expression(statement, str)}"
        yield f"{text:<48}{_comment(statement.op, statement.origin)}"
    elif isinstance(statement, Fold):
        accumulator = statement.accumulator
        text = f"{operand_text(statement.value, str)} -> {accumulator.name} {accumulator.kind}="
        yield f"{text:<48}{_comment(accumulator.op, accumulator.origin)}"
    else:
        array = statement.buffer if isinstance(statement, Store) else statement.array
        yield f"{operand_text(statement.value, str)} -> {array}[{statement.index}]"


def _comment(op: str, origin: str) -> str:
    return f"  # {op}" + (f"  {origin}" if origin else "")


def _view(view: View) -> str:
    strides = ",".join(map(str, (*view.batch_strides, view.row_stride, view.column_stride)))
    return f"{view.buffer}+{view.offset}[{strides}]" if view.offset else f"{view.buffer}[{strides}]"
