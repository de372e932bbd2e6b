"""Many calls of one program in one call of C, which gives some slots of the program's table other memory each time.

The loop is a program of its own (``run.c.j2``), built once for all programs: its slots are the other program, the
table of that, and what moves. It is called as every program is, without the GIL; Python's signal handlers run between
two of its calls, so that none of them takes long.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...compiler.pipeline import FLAGS, stages
from ...runtime.build import Unit
from ...runtime.program import SlotTable, address_of_entry
from ...runtime.provide import provide
from .binding import Binding

#: Milliseconds for which no signal handler runs, but for one step that takes longer.
LONGEST = 5.0

STRIDED, LISTED, GATHERED = 0, 1, 2
_STEP, _TABLE, _RUN, _MOVING = range(4)  # the slots
_FIRST, _LAST, _NANOSECONDS, _COUNT, _DONE, _REFUSED = range(6)  # `struct run`
_FIELDS = 7  # of `struct moving`


@functools.cache
def _entry() -> Callable[[Any], int]:
    """The loop itself. RuntimeFault, after a warning, if it cannot be built."""
    built = provide("run", [Unit("run", stages.render_template("run.c.j2", None), FLAGS)])
    call: Callable[[Any], int] = built.program.call
    return call


class Loop:
    """The loop over the program of one binding; `done` is how many of the calls in the last run were made."""

    def __init__(self, binding: Binding) -> None:
        self._entry = _entry()
        self._program = binding.entry  # as long as it is there, it is not unloaded
        self._run = np.zeros(6, np.int64)
        self._moving = np.zeros((0, _FIELDS), np.int64)
        self._slots = SlotTable(4)
        self._slots.set_address(_STEP, address_of_entry(binding.entry))
        self._slots.words[_TABLE] = address_of_entry(binding.slots.pointer)
        self._slots.set_array(_RUN, self._run)
        self._pointers = (self._slots.pointer,)
        self._codes: list[int] = []

    @property
    def done(self) -> int:
        """How many calls were made since `begin`."""
        return int(self._run[_DONE])

    def begin(self, first: int, last: int, moving: list[tuple[int, ...]]) -> None:
        """What `run` does: the calls `first` to `last` - 1, in which the slots of `moving` show other memory.

        Each is (slot, form, base, stride, rows, count, batch), see ``run.c.j2``; shorter ones are filled up by zeros.
        """
        self._moving = np.zeros((len(moving), _FIELDS), np.int64)
        for i, fields in enumerate(moving):
            self._moving[i, : len(fields)] = fields
        self._slots.set_array(_MOVING, self._moving)
        self._run[:] = (first, last, int(LONGEST * 1e6), len(moving), 0, 0)

    def run(self) -> None:
        """Make the calls, up to one that is refused by a check of the program, or for `LONGEST` milliseconds."""
        self._codes.clear()
        self._codes.extend(map(self._entry, self._pointers))
