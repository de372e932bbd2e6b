"""The order of jobs in which what frees memory comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from .jobs import Job


@dataclass
class Usage:
    """What jobs read and write of the arena, and the bytes of that, while they run one after the other."""

    reads: Mapping[Job, Collection[str]]
    writes: Mapping[Job, Collection[str]]
    sizes: Mapping[str, int]
    most: int = 0  # the bytes that were live in one job,
    total: int = 0  # and in all of them
    _live: int = 0
    _readers: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._readers.update(name for names in self.reads.values() for name in names)

    def change(self, job: Job) -> tuple[int, int]:
        """How many bytes more are live after `job` than before it, if it runs next, and meanwhile."""
        written = self._written(job)
        return written - self._freed(job), written

    def run(self, job: Job) -> None:
        """`job` runs next."""
        self._live += self._written(job)
        self.most = max(self.most, self._live)
        self.total += self._live
        self._live -= self._freed(job)
        self._readers.subtract(self.reads.get(job, ()))

    def _written(self, job: Job) -> int:
        return sum(self.sizes[name] for name in self.writes.get(job, ()))

    def _freed(self, job: Job) -> int:
        last = [name for name in self.reads.get(job, ()) if self._readers[name] == 1]
        unread = [name for name in self.writes.get(job, ()) if not self._readers[name]]
        return sum(self.sizes[name] for name in (*last, *unread))

    def fresh(self) -> Usage:
        """The same before the first job."""
        return Usage(self.reads, self.writes, self.sizes)


def in_less_memory(order: Sequence[Job], waits: Mapping[Job, set[Job]], usage: Usage) -> Sequence[Job]:
    """`order`, or another one in which less is live at once."""
    other = thrifty(order, waits, usage)
    return other if _most(other, usage) < _most(order, usage) else order


def _most(order: Sequence[Job], usage: Usage) -> tuple[int, int]:
    usage = usage.fresh()
    for job in order:
        usage.run(job)
    return usage.most, usage.total


def thrifty(order: Sequence[Job], waits: Mapping[Job, set[Job]], usage: Usage) -> list[Job]:
    """Of the jobs that need not wait, always the one after which least is live; of equals the first of `order`."""
    place = {job: place for place, job in enumerate(order)}
    usage = usage.fresh()
    sorter = TopologicalSorter(waits)
    sorter.prepare()
    ready: list[Job] = []
    found: list[Job] = []
    while sorter.is_active():
        ready += sorter.get_ready()
        nearest = min(ready, key=lambda job: (*usage.change(job), place.get(job, 0)))
        ready.remove(nearest)
        sorter.done(nearest)
        if nearest in place:
            found.append(nearest)
            usage.run(nearest)
    return found
