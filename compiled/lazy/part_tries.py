"""When calls of a part are recorded, or made alone in C, in a program whose time to build counts."""

from __future__ import annotations

from typing import Any

from .tiers import runs_worth_building

AFTER_FAILURE, AFTER_SUCCESS = 4, 2  # times as many calls before the next recording


class PartTries:
    """Of one part: how many calls could not be noted, and from which of them on the next recording is made.

    A recording takes as long as many calls do. One that fails is tried again after four times as many calls, another
    form of calls is recorded after twice as many. A call that can be made alone only has its C built once that pays.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._next = 1

    def is_due(self, part: Any, is_known: bool) -> bool:
        """Count a call; True if it shall be made by the part. `is_known`: its form has been recorded before."""
        self.calls += 1
        if not is_known:
            return self.calls >= self._next
        graphs = [each.graph for each in part.specialisations if not each.binding.is_built]
        if len(graphs) < len(part.specialisations):
            return True
        return any(self.calls >= runs_worth_building(graph) for graph in graphs)

    def made(self, has_succeeded: bool) -> None:
        """The call has been recorded."""
        self._next = self.calls * (AFTER_SUCCESS if has_succeeded else AFTER_FAILURE)
