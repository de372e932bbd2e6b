"""Names and places of buffers: slots for inputs and results, one arena for everything else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...ops.types import Type

ALIGNMENT = 64
#: What the names of kernels begin with that compute a value again instead of its being kept.
AGAIN = "again_"


@dataclass
class Names:
    """C identifiers, each given once, from two of three spaces that cannot meet:

    - What users named ends in an underscore: ``x_``, ``fc1_weight_grad_``. No keyword, macro, type or function that C,
      its headers, POSIX or `runtime/include` define does, unless it begins with one too; these begin with a letter.
    - What is made of the names of ops ends in an underscore and a number: ``dot_add_0``.
    - Everything else belongs to templates and headers: ``row``, ``i0``, ``v1``, ``sum_acc2``, ``tg_expf``.
    """

    taken: set[str] = field(default_factory=set)
    _next: dict[tuple[str, str], int] = field(default_factory=dict)  # all names with smaller numbers are taken

    def numbered(self, ops: str) -> str:
        """A name that is made of ops, like ``dot_add_0``."""
        return self._first(ops, "", 0)

    def unique(self, text: str) -> str:
        """The name of what users call `text`."""
        base = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "value"
        base = f"layer_{base}" if base[0].isdigit() else base
        return self._first(base, "_", 2) if f"{base}_" in self.taken else self._take(f"{base}_")

    def _first(self, base: str, ending: str, start: int) -> str:
        """`base` with the first number whose name is not given yet."""
        count = self._next.get((base, ending), start)
        while f"{base}_{count}{ending}" in self.taken:
            count += 1
        self._next[base, ending] = count + 1
        return self._take(f"{base}_{count}{ending}")

    def _take(self, name: str) -> str:
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class Lifetime:
    """Bytes that have to stay untouched from one step of the program to another, both included."""

    nbytes: int
    first: int
    last: int


def offsets(lifetimes: Sequence[Lifetime]) -> tuple[tuple[int, ...], int]:
    """An arena offset for each lifetime, large ones first, and the size of the arena."""
    order = sorted(range(len(lifetimes)), key=lambda n: (-lifetimes[n].nbytes, n))
    result = [0] * len(lifetimes)
    placed = np.empty((4, len(lifetimes)), np.int64)  # begin, end, first, last of each that has its place, by begin
    for count, number in enumerate(order):
        wanted = lifetimes[number]
        begin, end, first, last = placed[:, :count]
        busy = (first <= wanted.last) & (wanted.first <= last)
        start = _first_gap(aligned(wanted.nbytes), begin[busy], end[busy])
        result[number] = start
        place = int(np.searchsorted(begin, start))
        placed[:, place + 1 : count + 1] = placed[:, place:count]
        placed[:, place] = start, start + aligned(wanted.nbytes), wanted.first, wanted.last
    return tuple(result), int(placed[1].max(initial=0))


def _first_gap(size: int, begin: np.ndarray, end: np.ndarray) -> int:
    """Where `size` bytes fit first between spans, which come in the order in which they begin."""
    free = np.maximum.accumulate(np.concatenate(([0], end)))  # behind all before
    wide = np.flatnonzero(begin - free[:-1] >= size)
    return int(free[wide[0]] if wide.size else free[-1])


def aligned(nbytes: int) -> int:
    return -(-max(nbytes, 1) // ALIGNMENT) * ALIGNMENT


def nbytes(of: Type) -> int:
    """Bytes of a buffer; an empty one gets an address too."""
    return max(of.nbytes, 1)
