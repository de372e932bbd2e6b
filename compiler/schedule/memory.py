"""Names and places of buffers: slots for inputs and results, one arena for everything else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...ops.types import Type

ALIGNMENT = 64

_RESERVED = frozenset(
    """auto bool break case char const continue default do double else enum extern false float for goto if inline int
    long register restrict return short signed sizeof static struct switch true typedef union unsigned void volatile
    while asm typeof main acc arena detail slots scratch n p i j y0 y1 yn j0 j1 jn exp log sin cos tanh sqrt pow erf
    floor ceil round gamma index signal abs div remainder fmod trunc sizes n0 n1""".split()
)


@dataclass
class Names:
    """C identifiers for user text, each given once."""

    taken: set[str] = field(default_factory=lambda: set(_RESERVED))

    def numbered(self, ops: str) -> str:
        """A name that is made of ops, like ``dot_add_0``."""
        count = 0
        while f"{ops}_{count}" in self.taken:
            count += 1
        self.taken.add(f"{ops}_{count}")
        return f"{ops}_{count}"

    def unique(self, text: str) -> str:
        """An identifier like `text` that nothing else has."""
        base = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "value"
        # Loops, values and parts of the templates have names of these forms.
        if base[0].isdigit() or re.fullmatch(r"[ivz]\d*|(tg|dot)_.*|(in|out)\d*", base, re.IGNORECASE):
            base = f"layer_{base}" if base[0].isdigit() else f"x_{base}"
        name, count = base, 1
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
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
