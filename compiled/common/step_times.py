"""What the steps of a program take by the clock, in eager mode and once programs do them: for later runs to know."""

from __future__ import annotations

import math
import time
from collections import deque

from ...ops.lazy import late

statistics = late("statistics")

LATEST, FEWEST = 16, 6  # steps whose times are kept, and how many tell what a step takes
TIMED, SELDOM = 64, 31  # of so many all, then one in so many: some systems take as long to tell the time as a step does


class StepTimes:
    """Seconds of the processor, of steps that are timed; what a program does goes by counts all the same."""

    def __init__(self) -> None:
        self._latest: dict[bool, deque[float]] = {True: deque(maxlen=LATEST), False: deque(maxlen=LATEST)}
        self._begun: tuple[bool, float] = (True, math.nan)  # of the present step: whether it is eager, and when
        self._is_interpreted = False  # numpy has done what is noted of the present step, at least a part
        self._steps = self._built = 0  # how many have ended, and of those that are noted, how many programs have done
        self._noted = 0
        #: What the first noted steps took, with recordings and what numpy did of them.
        self.first_noted: list[float] = []

    def begin_noting(self) -> None:
        """The step that begins now is noted, the one before was not."""
        if self._noted < TIMED:
            self._begun = True, time.process_time()

    def interpret(self) -> None:
        """Numpy does a segment of the present step that is to have a program: such steps say nothing of later ones."""
        self._is_interpreted = True

    def ended(self, is_eager: bool) -> None:
        """A step has ended, and the next one begins."""
        is_interpreted, self._is_interpreted = self._is_interpreted, False
        self._steps += 1
        self._built += not (is_eager or is_interpreted)
        self._noted += not is_eager
        is_early = self._steps < TIMED or 0 < self._built < TIMED or 0 < self._noted < TIMED
        if not is_early and self._steps > TIMED and self._steps % SELDOM > 1:
            return
        begins = is_early or self._steps % SELDOM == 0
        (was_eager, begun), now = self._begun, time.process_time()
        self._begun = is_eager, now if begins else math.nan
        if begun != begun:
            return
        if was_eager == is_eager and (is_eager or not is_interpreted):
            self._latest[is_eager].append(now - begun)
        if not is_eager and self._noted < TIMED:
            self.first_noted.append(now - begun)

    def median(self, is_eager: bool) -> float | None:
        """What a step takes; None if too few were timed."""
        latest = self._latest[is_eager]
        return statistics.median(latest) if len(latest) >= FEWEST else None
