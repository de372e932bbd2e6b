"""What a program has spent on what it had not done before, and for how long it is eager when that does not come back.

Recordings, points of the tree of events and functions for expected calls are worth what they cost if they are used many
times. A program whose tensors have other sizes at each step (index sets that depend on the data, sets and sequences of
changing length) makes them anew for ever. So each model's steps allow for about what one of their kind takes, and each
noted step for a small part of what it takes in eager mode. What goes beyond that ends in eager mode, until the program
has done many times the work that was spent: however it goes on, it takes little longer than in eager mode.
"""

from __future__ import annotations

from ...compiler.graph import Graph

# Microseconds on a usual processor, as in `budget.py`.
A_RECORDING, A_NODE, A_GRAPHS_NODE = 8_000.0, 700.0, 100.0  # whatever its size, of the tape, of the graph
A_POINT, A_FUNCTION = 200.0, 4_000.0  # of the tree of events, what numpy takes longer than eager mode among it
A_PASS, A_VISITED_NODE = 4_000.0, 1_000.0  # one that is observed
FIRST = 650_000.0  # allowed for steps without a model
SHARE = 0.25  # of what noted steps take in eager mode that may be spent besides
REST = 8  # times what was spent: the work after which another attempt is made; twice as long each time


def cost_of_recording(nodes: int, graph: Graph | None) -> float:
    """Of one that has put so many nodes on the tape; `graph` is what has come of it."""
    return A_RECORDING + A_NODE * nodes + A_GRAPHS_NODE * (0 if graph is None else len(graph.nodes()))


class Expenses:
    """The sum of what one program has spent since its latest rest, and when the present rest ends."""

    def __init__(self) -> None:
        self.are_bounded = True
        self.spent = self.in_all = 0.0  # since the latest rest, what noted steps allow for apart; since the beginning
        self.rests = 0
        self._allowed = FIRST
        self._until = 0.0  # the work at which the present rest ends
        self._built = 0.0  # the work by which what is being built beside the program should be there

    def allow(self, cost: float) -> None:
        """Steps begin to be noted which may spend so much."""
        self._allowed = max(self._allowed, cost)

    def spend(self, cost: float) -> None:
        """Something has been made that has to come again."""
        self.spent += cost
        self.in_all += cost

    def noted(self, work: float) -> None:
        """A step was noted, which takes so much in eager mode."""
        self.spent = max(0.0, self.spent - SHARE * work)

    def await_building(self, work: float, cost: float) -> None:
        """Something is being built beside the program, which takes about so long. Meanwhile steps are eager: numpy
        takes several times as long for noted ones."""
        if self.are_bounded:
            self._built = max(self._built, work) + cost

    def are_awaited(self, work: float) -> bool:
        """True for a program, which has done so much work, whose next step is to be eager until something is built."""
        return work < self._built

    def are_allowed(self, work: float) -> bool:
        """False while the program, which has done so much work, is to be eager because of what it has spent."""
        if self.spent > self._allowed and self.are_bounded:
            self._until = work + REST * 2**self.rests * self.spent
            self.rests += 1
            self.spent = 0.0
        return work >= self._until
