"""Memory of a plan: which buffers get slots, and where the others lie in the arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..codegen.products import scratch_of
from .jobs import Plan
from .memory import Lifetime, nbytes, offsets
from .records import Buffer, DotKernel, Kernel
from .traffic import read_by, writes

Placed = tuple[tuple[Buffer, ...], tuple[Kernel, ...], int]


def placed(plan: Plan, kernels: Sequence[Kernel]) -> Placed:
    """Every buffer with its place, the kernels with the place of their scratch memory, and the size of the arena."""
    slots = dict(plan.slots)
    for result in plan.graph.results:
        if result.into is None:
            slots[plan.results[result.node]] = 2 + len(slots)
    spans = _spans(kernels, slots)
    scratch = {k: Lifetime(scratch_of(k), n, n) for n, k in enumerate(kernels) if isinstance(k, DotKernel)}
    scratch = {kernel: life for kernel, life in scratch.items() if life.nbytes}
    lives = [Lifetime(nbytes(plan.types[name]), *span) for name, span in spans.items()]
    where, size = offsets([*lives, *scratch.values()])
    at = dict(zip([*spans, *(k.name for k in scratch)], where, strict=True))
    written = {name for kernel in kernels for name in writes(kernel)}
    buffers = [Buffer(name, plan.types[name], "slot", slot, name in written) for name, slot in slots.items()]
    buffers += [Buffer(name, plan.types[name], "arena", at[name], True) for name in spans]
    final = tuple(
        replace(k, scratch=at[k.name], scratch_bytes=scratch[k].nbytes)
        if isinstance(k, DotKernel) and k in scratch
        else k
        for k in kernels
    )
    return tuple(buffers), final, size


def _spans(kernels: Sequence[Kernel], slots: dict[str, int]) -> dict[str, tuple[int, int]]:
    """For each buffer in the arena its first and last kernel."""
    spans: dict[str, tuple[int, int]] = {}
    for number, kernel in enumerate(kernels):
        for name in (*writes(kernel), *read_by(kernel)):
            if name not in slots:
                spans[name] = (spans.get(name, (number, 0))[0], number)
    return spans
