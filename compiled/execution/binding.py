"""A program and its table of addresses: which slot belongs to which graph input and result, and the call into C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any

import numpy as np

from ...compiler.checks import Check
from ...compiler.pipeline import Program
from ...compiler.sizes.program import Fit
from ...ops.lazy import lazy
from ...ops.locks import new_lock
from ...ops.memory import aligned_empty
from ...runtime.pages import working_memory
from ...runtime.program import SlotTable, address_of
from ...tensors.tensor import Tensor, make

ARENA, DETAIL, FIRST = 0, 1, 2  # the fixed slots of the table; graph inputs follow, then results


class CheckFailed(IndexError):
    """A check in C has failed before anything was written."""


#: By thread, what is called with a binding whose table is filled, before its program runs: for ``profile()``.
observers: dict[int, Callable[[Binding], None]] = {}


class Binding:
    """One table for one program; who fills and runs it holds a lock meanwhile."""

    def __init__(self, program: Program) -> None:
        graph = program.recorded
        returned = [r for r in graph.results if r.is_returned]
        fit = program.fit
        self.slot_of = {node.label: FIRST + i for i, node in enumerate(graph.inputs)}
        self.first_result = FIRST + len(graph.inputs)
        self.result_types = [r.node.type for r in returned] if fit is None else list(fit.result_types)
        self._returned = [r.name for r in returned]
        self.result_slots = {r.name: self.first_result + i for i, r in enumerate(returned)}
        self.slots = SlotTable(self.first_result + len(returned) + (fit is not None))
        self._detail = np.zeros(4, np.int64)
        self._memory = None if fit is None else self._shared_memory(fit)
        self.slots.set_array(DETAIL, self._detail)
        self.program = program
        self.entry: Callable[[Any], int] = self._first_call
        self.is_built = False
        self.pointers = (self.slots.pointer,)
        self.codes: list[int] = []  # what the last call of C returned; whoever asks for it clears it before
        # Around filling the table and running; programs for all sizes share the arena, too.
        self.lock = new_lock(around_steps=True) if fit is None else fit.arena.lock

    # What is known of a program once it has been scheduled: of many that are never run by themselves, nobody asks.

    @lazy
    def checks(self) -> Sequence[Check]:
        """What C refuses, by its code."""
        fit = self.program.fit
        return self.program.interface.checks if fit is None else fit.checks

    @lazy
    def early(self) -> list[bool]:
        """By result: whether it is written before the last check."""
        return [name in self.program.interface.early for name in self._returned]

    def _own_memory(self, nbytes: int) -> Any:
        arena = working_memory(max(1, nbytes))
        self.slots.set_array(ARENA, arena)
        return arena

    def _shared_memory(self, fit: Fit) -> Any:
        """An arena that serves all sizes, and behind the results the sizes; what depends on them has memory here."""
        fit.arena.serve(self.slots, ARENA, fit.arena_bytes)
        for label, number in fit.numbers.items():
            self.point(self.slot_of[label], number)
        self.point(len(self.slots) - 1, fit.words)
        return fit

    def build(self) -> None:
        """Build and load the C, unless that has been done. RuntimeFault, after a warning, if it cannot be done."""
        if not self.is_built:
            library = self.program.library
            if self._memory is None:
                self._memory = self._own_memory(self.program.interface.arena_bytes)
            self.entry = library.call
            self.is_built = True

    def _first_call(self, pointer: Any) -> int:
        self.build()
        return self.entry(pointer)

    def point(self, slot: int, values: np.ndarray) -> None:
        """Let `slot` show `values` (contiguous); the caller keeps the array alive."""
        self.slots.set_address(slot, address_of(values))

    def fresh_result(self, index: int, version: int = 0, empty: Callable[..., np.ndarray] = aligned_empty) -> Tensor:
        """A new tensor of this version that result number `index` will be written to."""
        of = self.result_types[index]
        array = empty(of.shape, of.dtype.numpy)
        self.slots.words[self.first_result + index] = address_of(array)
        tensor = make(array)
        tensor.buffer.version = version
        return tensor

    def run(self, codes: list[int] | None = None) -> None:
        """Call C, and note in `codes` what it returns. CheckFailed for an index out of range, a divisor of 0 or a value
        that is not as required; then nothing was written."""
        if codes is None:
            codes = self.codes
        if observers and (observer := observers.get(get_ident())):
            observer(self)
        codes.clear()
        codes.extend(map(self.entry, self.pointers))  # in one go: an interrupt after the call finds the code noted
        if codes[0]:
            check = self.checks[codes[0] - 1]
            raise CheckFailed(
                f"{check.problem(int(self._detail[0]))}\n  at {check.origin}\n"
                "  Nothing was changed by this call; pass indices within the size, no divisor of 0, values as required."
            )

    @property
    def has_run(self) -> bool:
        """True if C has done its work since `codes` was cleared, whatever has become of the caller."""
        return self.codes == [0]
