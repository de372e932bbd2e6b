"""Memory of a plan: which buffers get slots, and where the others lie in the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..codegen.products import scratch_of
from .jobs import Plan
from .memory import Lifetime, nbytes, offsets
from .records import Buffer, Contraction, ConvKernel, DotKernel, Kernel
from .traffic import read_by, writes

Buffers = tuple[Buffer, ...]
Kernels = tuple[Kernel, ...]


def placed(plan: Plan, kernels: Sequence[Kernel]) -> tuple[Buffers, Kernels, int]:
    """Every buffer with its place, the kernels with the place of their scratch memory, and the size of the arena."""
    slots, lives, scratch = _memory(plan, kernels)
    where, size = offsets([*lives.values(), *scratch.values()])
    at = dict(zip([*lives, *(k.name for k in scratch)], where, strict=True))
    return (
        _buffers(plan, kernels, slots, {name: at[name] for name in lives}, "arena"),
        _with(kernels, scratch, at),
        size,
    )


def placed_later(plan: Plan, kernels: Sequence[Kernel], words: int) -> tuple[Buffers, Kernels, tuple[Lifetime, ...]]:
    """The same with what lies in the arena at offsets from the table of sizes, which they follow after `words` words;
    and, in their order, what `offsets` has to know of them."""
    slots, lives, scratch = _memory(plan, kernels)
    number = {name: words + n for n, name in enumerate([*lives, *(k.name for k in scratch)])}
    at = {k.name: f"sizes[{number[k.name]}]" for k in scratch}
    buffers = _buffers(plan, kernels, slots, {name: number[name] for name in lives}, "sized")
    return buffers, _with(kernels, scratch, at), (*lives.values(), *scratch.values())


def lifetimes(plan: Plan, kernels: Sequence[Kernel]) -> list[Lifetime]:
    """Of all that lies in the arena."""
    _, lives, scratch = _memory(plan, kernels)
    return [*lives.values(), *scratch.values()]


def scratch_bytes(kernel: Kernel) -> int:
    """What a kernel has in the arena for itself."""
    if isinstance(kernel, ConvKernel):
        return kernel.scratch_bytes
    return scratch_of(kernel) if isinstance(kernel, DotKernel) else 0


def _memory(
    plan: Plan, kernels: Sequence[Kernel]
) -> tuple[dict[str, int], dict[str, Lifetime], dict[Contraction, Lifetime]]:
    """Slots by buffer, lifetimes of the other buffers, and of the scratch memory of products."""
    slots = dict(plan.slots)
    for result in plan.graph.results:
        if result.is_returned:
            slots[plan.results[result.node]] = 2 + len(slots)
    spans = _spans(kernels, slots)
    scratch: dict[Contraction, Lifetime] = {
        k: Lifetime(scratch_bytes(k), n, n) for n, k in enumerate(kernels) if isinstance(k, (DotKernel, ConvKernel))
    }
    lives = {name: Lifetime(nbytes(plan.types[name]), *span) for name, span in spans.items()}
    return slots, lives, {kernel: life for kernel, life in scratch.items() if life.nbytes}


def _buffers(
    plan: Plan, kernels: Sequence[Kernel], slots: Mapping[str, int], inside: Mapping[str, int], place: str
) -> Buffers:
    written = {name for kernel in kernels for name in writes(kernel)}
    buffers = [Buffer(name, plan.types[name], "slot", slot, name in written) for name, slot in slots.items()]
    return (*buffers, *(Buffer(name, plan.types[name], place, number, True) for name, number in inside.items()))


def _with(
    kernels: Sequence[Kernel], scratch: Mapping[Contraction, Lifetime], at: Mapping[str, int] | Mapping[str, str]
) -> Kernels:
    """The kernels with the place of their scratch memory."""

    def placed(kernel: Kernel) -> Kernel:
        if isinstance(kernel, ConvKernel):
            return replace(kernel, scratch=at[kernel.name])
        if isinstance(kernel, DotKernel) and kernel in scratch:
            return replace(kernel, scratch=at[kernel.name], scratch_bytes=scratch[kernel].nbytes)
        return kernel

    return tuple(placed(kernel) for kernel in kernels)


def _spans(kernels: Sequence[Kernel], slots: dict[str, int]) -> dict[str, tuple[int, int]]:
    """For each buffer in the arena its first and last kernel."""
    spans: dict[str, tuple[int, int]] = {}
    for number, kernel in enumerate(kernels):
        for name in (*writes(kernel), *read_by(kernel)):
            if name not in slots:
                spans[name] = (spans.get(name, (number, 0))[0], number)
    return spans
