"""The guards of a specialisation, looked at for calls that are noted: no oftener than something counted has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tracing.watch import changes, counter
from ...tracing.watched_classes import classes


class Looks:
    """Whether all that is counted, gradients apart, is as it was when calls were first noted in one way.

    `is_unmoved` tells whether the memory that calls are noted with is where it was. What is found is for calls that are
    noted: the table of addresses is not looked at.
    """

    def __init__(self, of: Any, is_unmoved: Callable[[], bool]) -> None:
        self._of, self._is_unmoved, self._now = of, is_unmoved, counter(of.kinds)
        self._at = self._count = self._options = self._memories = -1  # what is counted, at the latest look

    def hold(self) -> bool:
        """True if it is so now."""
        of = self._of
        of.recording.environment.counted_containers.look()
        now = self._now()
        if now == self._at:
            return True
        count = of.now_but_for_updates()
        with of.lock:
            memories, options = changes.memories, changes.options
            if count != self._count or memories != self._memories:
                if not self._is_unmoved():
                    return False
            if count != self._count:
                classes.patches()
                if not (of.recording.environment.hold() and of.unwritten.values_hold()):
                    return False
            if (count != self._count or options != self._options) and not of.look_at_options():
                return False
            self._at, self._count, self._memories, self._options = now, count, memories, options
            of.unwritten.note()
        return True
