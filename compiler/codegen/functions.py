"""Kernels as C functions: equal ones are written once, with parameters in place of the buffers' names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from ..schedule.expressions import Names
from ..schedule.index import Index
from ..schedule.literals import ctype, memory_type
from ..schedule.records import (
    Buffer,
    Contraction,
    ConvKernel,
    DotKernel,
    Kernel,
    LoopKernel,
    RepeatKernel,
    SpecialKernel,
)
from ..schedule.row_blocks.records import RowBlockKernel
from ..schedule.traffic import indices_of, read_by, writes
from ..sizes.standins import StandIns
from . import dot
from .convolutions import ConvRecord, conv_record, render_conv
from .environment import render
from .loops import LoopsRecord, describe, described, line_of, loops_record
from .products import product_record
from .repeat import repeat_text
from .row_blocks import RowBlocksRecord, row_blocks_record
from .specials import special_text

Buffers = Mapping[str, Buffer]
Sizes = tuple[str, ...]


@dataclass(frozen=True)
class Function:
    """A C function and how the step calls it."""

    text: str
    call: str
    check: int = 0


def functions(kernels: Iterable[Kernel], buffers: Buffers, sizes: StandIns | None = None) -> tuple[Function, ...]:
    """A function for each kernel, in order; kernels that share one have the same text. Where a kernel's text depends on
    sizes, they are parameters."""
    kernels = tuple(kernels)
    keys = [_key(kernel, buffers) for kernel in kernels]
    counts = Counter(keys)
    firsts: dict[object, Kernel] = {}
    texts: dict[str, str] = {}
    taken: dict[str, tuple[str, ...]] = {}
    result = []
    for kernel, key in zip(kernels, keys, strict=True):
        shared = key is not None and counts[key] > 1
        first = firsts.setdefault(key, kernel) if shared else kernel
        if first.name not in texts:
            text, taken[first.name] = _WRITERS[type(first)](first, buffers, shared, ()), ()
            if sizes is not None and sizes.names_in(text):
                taken[first.name] = sizes.names_in(text)
                text = _WRITERS[type(first)](first, buffers, shared, taken[first.name])
            texts[first.name] = text
        check = kernel.check if isinstance(kernel, SpecialKernel) else 0
        result.append(Function(texts[first.name], _call(first.name, kernel, shared, taken[first.name]), check))
    return tuple(result)


# ------------------------------------------------------------------------------------------------- parameters


def _used(kernel: Kernel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The buffers that a kernel writes, and those that it only reads; one that it does both with is named once."""
    outputs = writes(kernel)
    return outputs, tuple(name for name in read_by(kernel) if name not in outputs)


def _parameters(kernel: Kernel, buffers: Buffers, names: Names, sizes: Sizes) -> tuple[str, ...]:
    # Distinct buffers never overlap, and none is passed twice: restrict holds.
    outputs, operands = _used(kernel)
    out = [f"{memory_type(buffers[b].type.dtype)} *restrict {names(b)}" for b in outputs]
    read = [f"const {memory_type(buffers[b].type.dtype)} *restrict {names(b)}" for b in operands]
    return (*out, *read, *(f"long {size}" for size in sizes))


def _generic(kernel: Kernel) -> Names:
    """Names of parameters for kernels that share a function."""
    outputs, operands = _used(kernel)
    table = {buffer: f"out{n}" for n, buffer in enumerate(outputs)}
    table |= {buffer: f"in{n}" for n, buffer in enumerate(operands)}
    return table.__getitem__


def _call(name: str, kernel: Kernel, shared: bool, sizes: Sizes) -> str:
    outputs, operands = _used(kernel)
    more = []
    if isinstance(kernel, LoopKernel) and shared and _has_length(kernel):
        more = [str(kernel.stages[0].loops[0].extent)]
    if isinstance(kernel, (DotKernel, ConvKernel)) and kernel.scratch_bytes:
        more = [f"arena + {kernel.scratch}"]
    if isinstance(kernel, SpecialKernel) and kernel.check:
        more = ["detail"]
    return f"{name}({', '.join([*outputs, *operands, *sizes, *more])})"


def _key(kernel: Kernel, buffers: Buffers) -> object:
    """Equal for kernels that differ in the names of their buffers only, or, if flat, in their length."""
    if isinstance(kernel, RowBlockKernel):
        return _row_blocks_record(replace(kernel, name=""), buffers, True, ())
    if isinstance(kernel, RepeatKernel):
        return _repeat_text(replace(kernel, name="", origin=""), buffers, True, ())
    if isinstance(kernel, SpecialKernel):
        return None
    if isinstance(kernel, LoopKernel):
        return _loops_record(replace(kernel, name=""), buffers, True, (), ())
    if isinstance(kernel, ConvKernel):
        return _conv_record(replace(kernel, name=""), buffers, True, (), ())
    return _product_record(replace(kernel, name=""), buffers, True, (), ())


# ---------------------------------------------------------------------------------------------- loops


def _is_contiguous(index: Index) -> bool:
    return index.constant == 0 and all(coefficient == 1 for _, coefficient in index.terms)


def _has_length(kernel: LoopKernel) -> bool:
    """True where the length of the only loop can be an argument."""
    return kernel.is_flat and all(_is_contiguous(index) for index in indices_of(kernel))


def _loops_record(
    kernel: LoopKernel, buffers: Buffers, shared: bool, sizes: Sizes, comment: tuple[str, ...]
) -> LoopsRecord:
    names = _generic(kernel) if shared else str
    extent = "n" if shared and _has_length(kernel) else ""
    return loops_record(kernel, names, _parameters(kernel, buffers, names, sizes), kernel.name, comment, extent)


def _loops_text(kernel: LoopKernel, buffers: Buffers, shared: bool, sizes: Sizes) -> str:
    return render("loops.c.j2", _loops_record(kernel, buffers, shared, sizes, described(kernel)))


# ------------------------------------------------------------------------------------- products, special kernels


def _product_record(
    kernel: DotKernel, buffers: Buffers, shared: bool, sizes: Sizes, comment: tuple[str, ...]
) -> dot.DotKernel:
    names = _generic(kernel) if shared else str
    scratch = ["char *restrict scratch"] if kernel.scratch_bytes else []
    parameters = (*_parameters(kernel, buffers, names, sizes), *scratch)
    return product_record(kernel, names, parameters, comment, lambda name: ctype(buffers[name].type.dtype), sizes)


def _product_text(kernel: DotKernel, buffers: Buffers, shared: bool, sizes: Sizes) -> str:
    return dot.render_dot(_product_record(kernel, buffers, shared, sizes, _described_product(kernel)))


def _described_product(kernel: Contraction) -> tuple[str, ...]:
    title = line_of("acc", kernel.op, kernel.origin)
    return (title, *(line for statement in kernel.epilogue for line in describe(statement)))


def _conv_record(
    kernel: ConvKernel, buffers: Buffers, shared: bool, sizes: Sizes, comment: tuple[str, ...]
) -> ConvRecord:
    names = _generic(kernel) if shared else str
    parameters = (*_parameters(kernel, buffers, names, sizes), "char *restrict scratch")
    return conv_record(kernel, names, parameters, comment, lambda name: ctype(buffers[name].type.dtype))


def _conv_text(kernel: ConvKernel, buffers: Buffers, shared: bool, sizes: Sizes) -> str:
    return render_conv(_conv_record(kernel, buffers, shared, sizes, _described_product(kernel)))


def _special_text(kernel: SpecialKernel, buffers: Buffers, shared: bool, sizes: Sizes) -> str:
    assert not shared
    parameters = [*_parameters(kernel, buffers, str, sizes), *(["int64_t *restrict detail"] if kernel.check else [])]
    return special_text(kernel, ", ".join(parameters), lambda name: memory_type(buffers[name].type.dtype))


def _repeat_text(kernel: RepeatKernel, buffers: Buffers, shared: bool, sizes: Sizes) -> str:
    names = _generic(kernel)
    inside = {buffer.name: buffer for buffer in kernel.buffers}
    kernels = [replace(inner, name=f"{kernel.name}_{inner.name}") for inner in kernel.kernels]
    parts = functions(kernels, inside)
    used = frozenset(name for inner in kernels for name in (*writes(inner), *read_by(inner)))
    parameters = ", ".join(_parameters(kernel, buffers, names, sizes))
    return repeat_text(kernel, parameters, names, [p.text for p in parts], [p.call for p in parts], used)


def _row_blocks_record(
    kernel: RowBlockKernel, buffers: Buffers, shared: bool, comment: tuple[str, ...]
) -> RowBlocksRecord:
    names = _generic(kernel) if shared else str
    return row_blocks_record(kernel, names, ", ".join(_parameters(kernel, buffers, names, ())), comment)


def _row_blocks_text(kernel: RowBlockKernel, buffers: Buffers, shared: bool, sizes: Sizes) -> str:
    comment = (*(line_of("tile", "dot", each.origin) for each in kernel.blocks.scores), *described(kernel.around))
    return render("row_blocks.c.j2", _row_blocks_record(kernel, buffers, shared, comment))


_WRITERS: dict[type, Callable[..., str]] = {
    LoopKernel: _loops_text,
    DotKernel: _product_text,
    ConvKernel: _conv_text,
    SpecialKernel: _special_text,
    RepeatKernel: _repeat_text,
    RowBlockKernel: _row_blocks_text,
}
