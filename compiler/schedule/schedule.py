"""The schedule level: kernels in order, and the memory that they share."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import Check
from ..sizes.standins import StandIns
from .listing import listing
from .memory import Lifetime
from .records import Buffer, Kernel


@dataclass(frozen=True)
class Schedule:
    """A whole step. ``str()`` lists buffers with their places, and kernels with every statement.

    `buffers` begin with the graph's inputs and fresh results, in slot order. `checks` tell what the positive return
    codes of the step mean. In a program for all sizes `sizes` stand for these, slot `sizes_slot` has the table
    of sizes, and `lifetimes` are what lies in the
    arena, placed anew for each size: the words of the table of sizes behind the sizes themselves. `early` names the
    results that are written before it is known that no check fails. `memory_limit` is what `arena_bytes` had to be
    within; kernels whose names begin with ``again_`` are there for its sake.
    """

    name: str
    buffers: tuple[Buffer, ...]
    kernels: tuple[Kernel, ...]
    arena_bytes: int
    checks: tuple[Check, ...]
    sizes: StandIns | None = None
    sizes_slot: int = 0
    lifetimes: tuple[Lifetime, ...] = ()
    early: frozenset[str] = frozenset()
    memory_limit: int | None = None

    def __str__(self) -> str:
        text = listing(self.name, self.buffers, self.kernels, self.arena_bytes, self.memory_limit)
        return text if self.sizes is None else self.sizes.named(text)
