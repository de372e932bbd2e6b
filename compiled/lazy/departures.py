"""Places at which a program goes on in another way each time: noting what comes there is of no use."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from .event_trie import TrieNode

MOST = 6  # steps in which a segment has left the known ways at one line
REPEATS = 4  # calls of a module after a backward pass that may belong to one step; each further one is a step
AGAIN = 8  # of so many later ones one is noted all the same
SMALL = 32  # elements, of ops that are done at once wherever nothing is put off
MOST_OPS = 12  # between two looks at numbers that are not worth being put off
OFTEN = 3  # times as often as more


class Departures:
    """Where segments leave the ways that are known, and in how many steps of the program they do.

    A step ends with a backward pass; where none comes (text is written word by word), with each call of a module that
    has been called before. What is new in the first steps is usual. A line that is left in ever new ways, step by step,
    is hopeless: from there on the program is eager until its next step. Counts decide, so that each run does the same.
    """

    def __init__(self) -> None:
        self.steps = 0
        self._called: dict[int, int] = {}  # modules, and how often each was called since the latest backward pass
        self._newest: TrieNode | None = None
        self._lines: dict[Hashable, tuple[int, int]] = {}  # the latest step with a departure, and how many steps
        self.is_hopeless = False  # the present segment has left the known ways at such a line
        self.rests = 0

    def passed(self) -> None:
        """A backward pass."""
        self.steps += 1
        self._called.clear()

    def called(self, module: Any) -> None:
        """The call of a module."""
        count = self._called[id(module)] = self._called.get(id(module), 0) + 1
        self.steps += count > REPEATS

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


class Look:
    """What came after the looks at numbers at one line of the program: how often a few ops, how often more."""

    __slots__ = ("few", "many")

    def __init__(self) -> None:
        self.few = self.many = 0

    def note(self, ops: int | None) -> None:
        """So many ops came until the next look; no matter what, if that was none."""
        if ops is None or ops > MOST_OPS:
            self.many += 1
        elif ops:
            self.few += 1

    @property
    def at_once(self) -> int:
        """How many ops are done at once from here on."""
        return MOST_OPS if self.few > 1 and self.few > OFTEN * self.many else 0


class Looks:
    """Lines at which a program looks at numbers, and what comes until it looks again.

    A few small ops between two looks (a row for each class, a check of each gradient) are no work for C: noting them
    takes longer than doing them, and each size is another program. Where that has come up several times they are done
    at once, as in eager mode. What goes on for longer after all is put off from there on, and counts against it.
    """

    def __init__(self) -> None:
        self._looks: dict[Hashable, Look] = {}

    def at(self, line: Hashable) -> Look:
        """The look at a line."""
        return self._looks.setdefault(line, Look())
