"""The programs of one compiled function: one for the sizes of the first call, and one for all other sizes.

Every new size is recorded once, eagerly, as any call that nothing is known about: that recording is compared with what
the program for all sizes would compute, operation by operation, number by number. So Python code that looked at the
size has been asked about each size that is served. Only the C compiler is not run again.
"""

from __future__ import annotations

from ..compiler.errors import CompilerError
from ..compiler.graph import Graph
from ..compiler.pipeline import Program, SizedProgram, compile_graph
from ..compiler.sizes.standins import NotSized

#: So many recordings that have a program of their own are kept, to be compared with later ones.
MOST_KEPT = 4


class Programs:
    """Finds or makes the program of a recorded graph."""

    def __init__(self) -> None:
        self.sized: list[SizedProgram] = []
        self.built = 0  # how many programs there are
        self.more_sizes = 0  # sizes that are served by a program which was there before
        self._kept: list[Graph] = []
        self._backward: Programs | None = None
        self._served: set[tuple[int, tuple[int, ...]]] = set()

    @property
    def backward(self) -> Programs:
        """Those of the backward passes, where calls are joined to the tape."""
        if self._backward is None:
            self._backward = Programs()
        return self._backward

    def of(self, graph: Graph) -> Program:
        """A program for a recorded graph: one for all sizes if another size was recorded before."""
        for number, sized in enumerate(self.sized):
            try:
                program = sized.fit(graph)
            except NotSized:
                continue
            return self._counted(number, program)
        for other in self._kept:
            try:
                sized = SizedProgram(other, graph)
                program = sized.fit(graph)
            except (NotSized, CompilerError):
                continue
            self.sized.append(sized)
            self.built += 1
            return self._counted(len(self.sized) - 1, program, new=True)
        self._kept = [graph, *self._kept][:MOST_KEPT]
        self.built += 1
        return compile_graph(graph)

    def _counted(self, number: int, program: Program, new: bool = False) -> Program:
        assert program.fit is not None
        key = (number, program.fit.sizes)
        self.more_sizes += key not in self._served and not new
        self._served.add(key)
        return program
