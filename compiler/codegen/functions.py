"""Kernels as C functions: equal ones are written once, with parameters in place of the buffers' names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ..schedule.index import Index
from ..schedule.literals import memory_type
from ..schedule.records import Buffer, DotKernel, Kernel, LoopKernel, SpecialKernel
from ..schedule.traffic import indices_of, read_by, writes
from . import dot
from .environment import render
from .loops import describe, described, line_of, loops_record
from .products import product_record
from .specials import special_text

Buffers = Mapping[str, Buffer]


@dataclass(frozen=True)
class Function:
    """A C function and how the step calls it."""

    text: str
    call: str
    check: int = 0


def functions(kernels: Iterable[Kernel], buffers: Buffers) -> tuple[Function, ...]:
    """A function for each kernel, in order; kernels that share one have the same text."""
    kernels = tuple(kernels)
    keys = [_key(kernel, buffers) if isinstance(kernel, LoopKernel) else None for kernel in kernels]
    shared = {key for key, count in Counter(keys).items() if key is not None and count > 1}
    written: dict[object, LoopKernel] = {}
    result = []
    for kernel, key in zip(kernels, keys, strict=True):
        if key in shared and isinstance(kernel, LoopKernel):
            first = written.setdefault(key, kernel)
            result.append(_shared(first, kernel, buffers))
        else:
            result.append(_FUNCTIONS[type(kernel)](kernel, buffers))
    return tuple(result)


# ------------------------------------------------------------------------------------------------- parameters


def _used(kernel: Kernel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The buffers that a kernel writes, and those that it only reads; one that it does both with is named once."""
    outputs = writes(kernel)
    return outputs, tuple(name for name in read_by(kernel) if name not in outputs)


def _parameters(kernel: Kernel, buffers: Buffers, names: Callable[[str], str]) -> tuple[str, ...]:
    # Distinct buffers never overlap, and none is passed twice: restrict holds.
    outputs, operands = _used(kernel)
    out = [f"{memory_type(buffers[b].type.dtype)} *restrict {names(b)}" for b in outputs]
    return (*out, *(f"const {memory_type(buffers[b].type.dtype)} *restrict {names(b)}" for b in operands))


def _call(name: str, kernel: Kernel, *more: str) -> str:
    outputs, operands = _used(kernel)
    return f"{name}({', '.join([*outputs, *operands, *more])})"


# ------------------------------------------------------------------------------------------------------ loops


def _generic(kernel: LoopKernel) -> Callable[[str], str]:
    outputs, operands = _used(kernel)
    table = {buffer: f"out{n}" for n, buffer in enumerate(outputs)}
    table |= {buffer: f"in{n}" for n, buffer in enumerate(operands)}
    return table.__getitem__


def _is_contiguous(index: Index) -> bool:
    return index.constant == 0 and all(coefficient == 1 for _, coefficient in index.terms)


def _has_length(kernel: LoopKernel) -> bool:
    """True where the length of the only loop can be an argument."""
    return kernel.is_flat and all(_is_contiguous(index) for index in indices_of(kernel))


def _key(kernel: LoopKernel, buffers: Buffers) -> object:
    names = _generic(kernel)
    return loops_record(
        kernel, names, ", ".join(_parameters(kernel, buffers, names)), extent="n" if _has_length(kernel) else ""
    )


def _shared(first: LoopKernel, kernel: LoopKernel, buffers: Buffers) -> Function:
    """The function of several kernels, named after the first of them."""
    names, flat = _generic(kernel), _has_length(kernel)
    parameters = [*_parameters(kernel, buffers, names), *(["long n"] if flat else [])]
    extent = "n" if flat else ""
    record = loops_record(first, _generic(first), ", ".join(parameters), first.name, described(first), extent)
    length = [str(kernel.stages[0].loops[0].extent)] if flat else []
    return Function(render("loops.c.j2", record), _call(first.name, kernel, *length))


def _loops(kernel: LoopKernel, buffers: Buffers) -> Function:
    record = loops_record(kernel, str, ", ".join(_parameters(kernel, buffers, str)), kernel.name, described(kernel))
    return Function(render("loops.c.j2", record), _call(kernel.name, kernel))


# ------------------------------------------------------------------------------------- products, special kernels


def _product(kernel: DotKernel, buffers: Buffers) -> Function:
    scratch = kernel.scratch_bytes > 0
    parameters = (*_parameters(kernel, buffers, str), *(["char *restrict scratch"] if scratch else []))
    title = line_of("acc", kernel.op, kernel.origin)
    comment = (title, *(line for statement in kernel.epilogue for line in describe(statement)))
    text = dot.render_dot(product_record(kernel, str, parameters, comment))
    return Function(text, _call(kernel.name, kernel, *([f"arena + {kernel.scratch}"] if scratch else [])))


def _special(kernel: SpecialKernel, buffers: Buffers) -> Function:
    parameters = list(_parameters(kernel, buffers, str))
    more = ["int64_t *restrict detail"] if kernel.check else []
    text = special_text(kernel, ", ".join([*parameters, *more]), lambda name: memory_type(buffers[name].type.dtype))
    return Function(text, _call(kernel.name, kernel, *(["detail"] if kernel.check else [])), kernel.check)


_FUNCTIONS: dict[type, Callable[..., Function]] = {
    LoopKernel: _loops,
    DotKernel: _product,
    SpecialKernel: _special,
}
