"""Places at which a program goes on in another way each time: noting what comes there is of no use."""

from __future__ import annotations

from collections.abc import Hashable

from .event_trie import TrieNode

MOST = 6  # steps in which a segment has left the known ways at one line
AGAIN = 8  # of so many later ones one is noted all the same


class Departures:
    """Where segments leave the ways that are known, and in how many steps of the program (backward passes) they do.

    What is new in the first steps is usual. A line that is left in ever new ways, step by step, is hopeless: from there
    on the program is eager until its next step. Counts decide, so that each run does the same.
    """

    def __init__(self) -> None:
        self.steps = 0
        self._newest: TrieNode | None = None
        self._lines: dict[Hashable, tuple[int, int]] = {}  # the latest step with a departure, and how many steps
        self.is_hopeless = False  # the present segment has left the known ways at such a line
        self.rests = 0

    def note(self, before: TrieNode, point: TrieNode, line: Hashable) -> None:
        """A point that is new has come after `before`."""
        if before is not self._newest:
            step, count = self._lines.get(line, (-1, 0))
            count += step != self.steps
            self._lines[line] = self.steps, count
            self.is_hopeless = count > MOST and count % AGAIN > 0
        self._newest = point

    def rested(self) -> None:
        """The segment is over, and the program eager."""
        self.is_hopeless = False
        self.rests += 1
