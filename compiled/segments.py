"""The segments of one re-recorded function: the tree of what its calls have done so far, and the programs for it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Hashable

from ..compiler.graph import Origin
from ..compiler.origins import user_place
from ..runtime.errors import ToolchainMissing
from .programs import Programs
from .segment_program import Memories, SegmentProgram, run_by_numpy
from .trail import Event, Point, start, writes

LIMIT = 64  # programs; a function that needs more than these is not helped by more
VARIANTS = 2  # so many different numbers in one place are constants of as many programs; from the next on they are data


class Segments:
    """Shared by all calls of one function, in all threads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.start = start()
        self.programs: list[SegmentProgram] = []
        self.sizes = Programs()
        self._lock = threading.Lock()
        self._closed = ""  # why no more programs are made

    def extend(self, here: Point, key: Hashable, event: Event) -> Point:
        """The point after `event`, new unless another thread has been quicker."""
        with self._lock:
            if key not in here.next:
                tokens, memories = here.tokens + event.tokens, here.memories + event.memories
                point = Point(here, event, tokens, memories, Origin(*user_place()))
                point.writes = here.writes or writes(event)
                here.next[key] = point
            return here.next[key]

    def numbers_vary(self, here: Point, like: Hashable) -> bool:
        """True once an event has come after `here` with more different numbers than there shall be programs for."""
        with self._lock:
            here.kinds[like] = here.kinds.get(like, 0) + 1
            return here.kinds[like] > VARIANTS

    @property
    def are_open(self) -> bool:
        """True as long as programs for new segments are made."""
        return not self._closed

    def run(self, here: Point, alive: tuple[int, ...], memories: Memories) -> None:
        """Do a segment. What comes a second time is worth a program."""
        program = here.programs.get(alive)
        if program is None:
            here.programs[alive] = False
        elif program is False:
            program = self._program(here, alive)
        if program:
            program.run(memories)
        else:
            run_by_numpy(here.way(), memories)

    def _program(self, here: Point, alive: tuple[int, ...]) -> SegmentProgram | None:
        with self._lock:
            if here.programs[alive] is False and not self._closed:
                self._build(here, alive)
            return here.programs[alive] or None

    def _build(self, here: Point, alive: tuple[int, ...]) -> None:
        if len(self.programs) - self.sizes.more_sizes >= LIMIT:
            self._close(
                f"{self.name} has done {LIMIT} different things in its calls; from now on what is new is done eagerly\n"
                "  Shapes or choices change at every call: pad to a few sizes, or compile the parts that stay the same."
            )
            return
        try:
            program = SegmentProgram(f"{self.name}_part", here.way(), alive, self.sizes)
        except ToolchainMissing as missing:
            self._close(f"{self.name} runs eagerly: {str(missing).partition(chr(10))[0]}")
            return
        self.programs.append(program)
        here.programs[alive] = program

    def _close(self, why: str) -> None:
        self._closed = why
        warnings.warn(why, RuntimeWarning, stacklevel=2)
