"""The schedule level: kernels in order, and the memory that they share."""

from __future__ import annotations

from dataclasses import dataclass

from .listing import listing
from .records import Buffer, Check, Kernel


@dataclass(frozen=True)
class Schedule:
    """A whole step. ``str()`` lists buffers with their places, and kernels with every statement.

    `buffers` begin with the graph's inputs and fresh results, in slot order. `checks` tell what the positive return
    codes of the step mean.
    """

    name: str
    buffers: tuple[Buffer, ...]
    kernels: tuple[Kernel, ...]
    arena_bytes: int
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        return listing(self.name, self.buffers, self.kernels, self.arena_bytes)
