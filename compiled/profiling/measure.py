"""A call made as usual; each program that it runs is measured right before, in a timed form on copies of its memory."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ...compiler.errors import CompilerError
from ...compiler.pipeline import FLAGS, Program, stages
from ...ops.memory import aligned_empty
from ...runtime.build import Unit
from ...runtime.pages import working_memory
from ...runtime.program import SlotTable
from ...runtime.provide import provide
from ..execution.binding import ARENA, DETAIL, Binding, observers
from .machine import machine
from .report import Profile, Row

if TYPE_CHECKING:
    from ...compiler.schedule.schedule import Schedule

ATTEMPTS = 8  # calls within which a program must run: events of Python are noted, the parts between them compiled
_WARM = 3  # runs that do not count: caches and branch predictors learn


def profile(call: Callable[[], Any], name: str, repeats: int) -> Profile:
    """Make ``call()`` until programs run in it, and measure these. CompilerError if none does."""
    if repeats < 1:
        raise ValueError(f"profile() measures {repeats} runs\n  in the call of profile()\n  Pass repeats=1 or more.")
    known = machine()
    for _ in range(ATTEMPTS):
        measured = _Measured(repeats)
        with measured:
            call()
        if measured.rows:
            return Profile(name, tuple(measured.rows), known, repeats)
    raise CompilerError(
        f"{name} runs no program in {ATTEMPTS} calls\n  in the call of profile()\n"
        "  Python does all of it: explain() says why, and what to write instead."
    )


class _Measured:
    """While it is entered, programs that this thread runs are measured before they run."""

    def __init__(self, repeats: int) -> None:
        self.rows: list[Row] = []
        self._repeats = repeats
        self._numbers = itertools.count()

    def __enter__(self) -> None:
        observers[threading.get_ident()] = self._look

    def __exit__(self, *exc_info: object) -> None:
        observers.pop(threading.get_ident(), None)

    def _look(self, binding: Binding) -> None:
        self.rows += _rows(binding, next(self._numbers), self._repeats)


def _rows(binding: Binding, number: int, repeats: int) -> list[Row]:
    """A row for each kernel of the program of `binding`, whose table is filled for a run."""
    timed = _timed(binding.program, len(binding.slots))
    times = timed.run(binding, repeats)
    real, schedule = timed.real, timed.schedule
    buffers = {buffer.name: buffer for buffer in schedule.buffers}
    rows = []
    for kernel, nanoseconds in zip(schedule.kernels, times, strict=True):
        does = stages.cost(kernel, buffers)
        places = tuple(map(timed.named, stages.places_of(kernel)))
        flops, nbytes = real(does.flops), real(does.nbytes)
        rows.append(Row(number, kernel.name, nanoseconds * 1e-9, flops, nbytes, does.itemsize, places))
    return rows


#: The timed forms of programs, as long as these are there.
_known: WeakKeyDictionary[Program, _Timed] = WeakKeyDictionary()


def _timed(program: Program, slots: int) -> _Timed:
    found = _known.get(program)
    if found is None:
        found = _known[program] = _Timed(program, slots)
    return found


@dataclass(frozen=True)
class _Memory:
    """What a slot of a table shows."""

    slot: int
    nbytes: int


class _Timed:
    """A program with a table of so many `slots` that notes how long each of its kernels takes, in one slot more."""

    def __init__(self, program: Program, slots: int) -> None:
        self.schedule: Schedule = program.schedule
        self._fit = program.fit
        self._ticks_slot = slots
        text = stages.render(self.schedule, self._ticks_slot)
        self._library = provide(program.recorded.name, [Unit("timed", text, FLAGS)]).program
        fit, own = program.fit, self.schedule.arena_bytes
        self._arena_bytes = own if fit is None else fit.arena_bytes
        self._memories = [
            _Memory(buffer.number, self.real(buffer.type.nbytes))
            for buffer in self.schedule.buffers
            if buffer.place == "slot"
        ]

    def real(self, number: int) -> int:
        """A number of the schedule for the sizes of this program."""
        if self._fit is None or self.schedule.sizes is None:
            return number
        return self.schedule.sizes.polynomial(number).at(self._fit.sizes)

    def named(self, text: str) -> str:
        """A text of the schedule with sizes by name."""
        return text if self.schedule.sizes is None else self.schedule.sizes.named(text)

    def run(self, binding: Binding, repeats: int) -> list[float]:
        """The median nanoseconds of each kernel in some runs on copies of the memory that the table of `binding`
        shows."""
        table = SlotTable(self._ticks_slot + 1)
        table.words[: self._ticks_slot] = binding.slots.words
        arena, detail = working_memory(max(1, self._arena_bytes)), np.zeros(4, np.int64)
        ticks = np.zeros(max(1, len(self.schedule.kernels)), np.int64)
        table.set_array(ARENA, arena)
        table.set_array(DETAIL, detail)
        table.set_array(self._ticks_slot, ticks)
        copies: dict[tuple[int, int], np.ndarray] = {}
        for memory in self._memories:
            key = table.words[memory.slot], memory.nbytes
            copies.setdefault(key, _copy(*key))
            table.set_array(memory.slot, copies[key])
        seen = []
        for _ in range(_WARM + repeats):
            if self._library.call(table.pointer):
                return [0.0] * len(self.schedule.kernels)  # a check refuses this call, as it will in the program itself
            seen.append(ticks.copy())
        return list(np.median(seen[_WARM:], axis=0))[: len(self.schedule.kernels)]


def _copy(address: int, nbytes: int) -> np.ndarray:
    """Memory of its own with what is at `address`."""
    copy = aligned_empty((max(1, nbytes),), np.dtype(np.uint8))
    if address and nbytes:
        copy[:nbytes] = np.frombuffer(memoryview((ctypes.c_char * nbytes).from_address(address)), np.uint8)
    return copy
