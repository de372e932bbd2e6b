"""Kernels in their order as steps: which buffers each uses, and how many bytes of the arena are live in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...ops.types import Type
from ..graph import Node
from .arena import scratch_bytes
from .memory import aligned, nbytes
from .records import Kernel
from .renaming import reading
from .traffic import read_by, writes


@dataclass(frozen=True, eq=False)
class Step:
    """A kernel in its place: what it reads, by the names that it has for it and by those that it gets; what it writes;
    bytes of memory that it has for itself."""

    kernel: Kernel
    reads: Mapping[str, str]
    writes: frozenset[str]
    scratch: int

    def reading(self, old: str, new: str) -> Step:
        """The same step with `new` in the place of `old`."""
        if old not in self.reads.values():
            return self
        return replace(self, reads={own: new if name == old else name for own, name in self.reads.items()})


def step_of(kernel: Kernel) -> Step:
    """A kernel as a step that reads what the kernel says."""
    return Step(kernel, {name: name for name in read_by(kernel)}, frozenset(writes(kernel)), scratch_bytes(kernel))


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps in order. `holds` maps buffers of the arena to what they hold; other buffers are `slots`."""

    steps: Sequence[Step]
    types: Mapping[str, Type]
    slots: frozenset[str]
    holds: Mapping[str, Node]
    uses: dict[str, list[int]] = field(default_factory=dict)  # of each buffer of the arena, by their places
    _written: dict[str, list[int]] = field(default_factory=dict)
    _held_by: dict[Node, list[tuple[int, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, step in enumerate(self.steps):
            for name in step.writes:
                self._written.setdefault(name, []).append(place)
                if name in self.holds:
                    self._held_by.setdefault(self.holds[name], []).append((place, name))
            for name in sorted({*step.reads.values(), *step.writes} - self.slots):
                self.uses.setdefault(name, []).append(place)

    def kernels(self) -> list[Kernel]:
        """The kernels, reading what they shall."""
        return [reading(step.kernel, step.reads) for step in self.steps]

    def live_bytes(self) -> np.ndarray:
        """The bytes of the arena that are live in each step."""
        change = np.zeros(len(self.steps) + 1, np.int64)
        for name, used in self.uses.items():
            change[used[0]] += self.size(name)
            change[used[-1] + 1] -= self.size(name)
        change[:-1] += _differences(aligned(step.scratch) if step.scratch else 0 for step in self.steps)
        return np.cumsum(change)[:-1]

    def size(self, name: str) -> int:
        """The bytes that a buffer takes in the arena; none in a slot."""
        return 0 if name in self.slots else aligned(nbytes(self.types[name]))

    def ends_before(self, name: str, place: int) -> bool:
        """True if a buffer of the arena is not used at `place` or later."""
        return name not in self.slots and self.uses[name][-1] < place

    def is_made_at_once(self, name: str) -> bool:
        """True if one step writes a buffer, the first that uses it, and it is known what it holds."""
        return name in self.holds and self._written.get(name) == self.uses[name][:1]

    def held(self, node: Node, place: int) -> str | None:
        """The buffer of the arena that got the value of `node` last, ahead of step `place`."""
        return next((name for at, name in reversed(self._held_by.get(node, [])) if at < place), None)

    def input_at(self, name: str, place: int) -> str | None:
        """An input's buffer, if nothing is written to it ahead of step `place`."""
        return None if any(at < place for at in self._written.get(name, ())) else name

    def with_again(self, place: int, step: Step, old: str, new: str) -> Steps:
        """With a step ahead of `place` that computes into `new` what `old` holds, for `place` and all later ones."""
        late = [each.reading(old, new) for each in self.steps[place:]]
        holds = {**self.holds, new: self.holds[old]}
        return Steps([*self.steps[:place], step, *late], self.types, self.slots, holds)


def _differences(values: Iterable[int]) -> np.ndarray:
    """What has to be added from one to the next."""
    return np.diff(np.fromiter(values, np.int64), prepend=0)
