"""The programs of one compiled function: one for the sizes of the first call, and one for all other sizes.

Every new size is recorded once, eagerly, as any call that nothing is known about: that recording is compared with what
the program for all sizes would compute, operation by operation, number by number. So Python code that looked at the
size has been asked about each size that is served. Only the C compiler is not run again.

Recordings that give the same graph (they differ in a Python value that nothing is computed with) share one program.
"""

from __future__ import annotations

import weakref
from typing import Any

from ...compiler.graph import Graph
from ...compiler.pipeline import Program, SizedProgram, compile_graph, is_stored_for_all_sizes
from ...compiler.sizes.standins import NotSized
from ...ops.locks import new_lock

#: So many recordings that have a program of their own are kept, to be compared with later ones.
MOST_KEPT = 4


class Programs:
    """Finds or makes the program of a recorded graph. With `later`, C is built when a program is first run. With
    `memory_limit`, each size has a program of its own, whose arena is no larger."""

    def __init__(self, later: bool = False, memory_limit: int | None = None) -> None:
        self.later = later
        self.patient = False  # C that is not part of a segment is built only once numpy has taken as long as that
        self._memory_limit = memory_limit
        self._same: weakref.WeakValueDictionary[Graph, Program] = weakref.WeakValueDictionary()
        self.sized: list[SizedProgram] = []
        self.built = 0  # how many programs there are
        self.more_sizes = 0  # sizes that are served by a program which was there before
        self.notes: list[str] = []  # why recordings for two sizes did not come together
        self.losses: dict[Any, Any] = {}  # what was called with results of calls (`fused.py`), and its compiled form
        self._kept: list[Graph] = []
        self._backward: Programs | None = None
        self._lock = new_lock()
        self._served: set[tuple[int, tuple[int, ...]]] = set()

    @property
    def backward(self) -> Programs:
        """Those of the backward passes, where calls are joined to the tape."""
        if self._backward is None:
            self._backward = Programs(later=True, memory_limit=self._memory_limit)
        return self._backward

    def of(self, graph: Graph) -> Program:
        """A program for a recorded graph: one for all sizes if another size was recorded before.

        RuntimeFault, after a warning, if its C is built now and that fails. MemoryLimitError.
        """
        with self._lock:
            program = self._same.get(graph)
            if program is None:
                program = self._fitting(graph) or self._joining(graph) or self._alone(graph)
                self._same[graph] = program
            return program

    def has(self, graph: Graph) -> bool:
        """True if there is a program for a recorded graph already, one for all sizes among them."""
        with self._lock:
            return self._same.get(graph) is not None or self._fitting(graph) is not None

    def is_stored(self, graph: Graph) -> bool:
        """True if the cache holds a program for all sizes that serves a recorded graph and one that has a program."""
        with self._lock:
            kept = [*self._kept]
        return any(is_stored_for_all_sizes(other, graph) for other in kept)

    def _ready(self, program: Program) -> Program:
        if not self.later:
            program.library  # noqa: B018 - it is built now
        return program

    def _fitting(self, graph: Graph) -> Program | None:
        """A program that is there already."""
        for number, sized in enumerate(self.sized):
            try:
                program = sized.fit(graph)
            except NotSized:
                continue
            key = (number, _sizes(program))
            self.more_sizes += key not in self._served
            self._served.add(key)
            return program
        return None

    def _joining(self, graph: Graph) -> Program | None:
        """A new program for the sizes of this graph and of one that was recorded before, and all others."""
        for other in self._kept:
            try:
                sized = SizedProgram(other, graph)
                program = self._ready(sized.fit(graph))
            except NotSized as reason:
                self._note(str(reason))
                continue
            self._served.add((len(self.sized), _sizes(program)))
            self.sized.append(sized)
            self.built += 1
            return program
        return None

    def _note(self, reason: str) -> None:
        if reason not in self.notes:
            self.notes = [*self.notes, reason][-MOST_KEPT:]

    def _alone(self, graph: Graph) -> Program:
        program = self._ready(compile_graph(graph, self._memory_limit, self.later))
        if self._memory_limit is None:
            self._kept = [graph, *self._kept][:MOST_KEPT]
        self.built += 1
        return program


def _sizes(program: Program) -> tuple[int, ...]:
    assert program.fit is not None
    return program.fit.sizes
