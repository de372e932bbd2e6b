"""Names and places of buffers: slots for inputs and results, one arena for everything else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...ops.types import Type

ALIGNMENT = 64


@dataclass
class Names:
    """C identifiers, each given once, from two of three spaces that cannot meet:

    - What users named ends in an underscore: ``x_``, ``fc1_weight_grad_``. No keyword, macro, type or function that C,
      its headers, POSIX or `runtime/include` define does, unless it begins with one too; these begin with a letter.
    - What is made of the names of ops ends in an underscore and a number: ``dot_add_0``.
    - Everything else belongs to templates and headers: ``row``, ``i0``, ``v1``, ``sum_acc2``, ``tg_expf``.
    """

    taken: set[str] = field(default_factory=set)

    def numbered(self, ops: str) -> str:
        """A name that is made of ops, like ``dot_add_0``."""
        return self._first(f"{ops}_{count}" for count in itertools.count())

    def unique(self, text: str) -> str:
        """The name of what users call `text`."""
        base = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "value"
        base = f"layer_{base}" if base[0].isdigit() else base
        return self._first(f"{base}_" if count == 1 else f"{base}_{count}_" for count in itertools.count(1))

    def _first(self, names: Iterable[str]) -> str:
        """The first of `names` that is not given yet."""
        name = next(name for name in names if name not in self.taken)
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
    placed: list[tuple[int, int, Lifetime]] = []
    result = [0] * len(lifetimes)
    for number in sorted(range(len(lifetimes)), key=lambda n: (-lifetimes[n].nbytes, n)):
        wanted = lifetimes[number]
        size = aligned(wanted.nbytes)
        result[number] = _first_gap(size, [(a, b) for a, b, other in placed if _overlap(wanted, other)])
        placed.append((result[number], result[number] + size, wanted))
    return tuple(result), max((end for _, end, _ in placed), default=0)


def _first_gap(size: int, busy: Iterable[tuple[int, int]]) -> int:
    start = 0
    for begin, end in sorted(busy):
        if begin - start >= size:
            break
        start = max(start, end)
    return start


def _overlap(a: Lifetime, b: Lifetime) -> bool:
    return a.first <= b.last and b.first <= a.last


def aligned(nbytes: int) -> int:
    return -(-max(nbytes, 1) // ALIGNMENT) * ALIGNMENT


def nbytes(of: Type) -> int:
    """Bytes of a buffer; an empty one gets an address too."""
    return max(of.nbytes, 1)
