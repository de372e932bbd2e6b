"""What this machine can do: the two lines of a roofline, measured once a process."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compiler.pipeline import FLAGS, stages
from ...ops.memory import aligned_empty
from ...runtime.build import Unit
from ...runtime.program import SlotTable
from ...runtime.provide import provide

_SUMS = 12  # independent vectors: as many as hide the latency of a fused operation on two ports
_MEMORY = 2  # what to measure, behind the two kinds of numbers
_ELEMENTS = tuple(2**n for n in (11, 15, 18, 24))  # of two arrays of float: 16 KiB, 256 KiB, 2 MiB, 128 MiB in all
_NANOSECONDS = 300_000  # of a measurement that counts
_REPEATS = 20  # the best counts: other programs may run, too


@dataclass(frozen=True)
class Machine:
    """`flops` a second by the element's bytes, on one thread; bytes a second by the size of what is read and written,
    ascending: caches, then memory."""

    flops: dict[int, float]
    bandwidth: tuple[tuple[int, float], ...]

    def bandwidth_for(self, nbytes: int) -> float:
        """Bytes a second for a kernel that reads and writes so many."""
        return next((rate for size, rate in self.bandwidth if nbytes <= size), self.bandwidth[-1][1])

    def seconds(self, flops: int, nbytes: int, itemsize: int) -> float:
        """The shortest time in which a kernel can do this: the roofline."""
        return max(flops / self.flops[itemsize], nbytes / self.bandwidth_for(nbytes))


@dataclass(frozen=True)
class _Kind:
    """Numbers, vectors of them, and the function that multiplies and adds them."""

    ctype: str
    vector: str
    function: str


_KINDS = (_Kind("float", "tg_float_vector", "fused_float"), _Kind("double", "tg_double_vector", "fused_double"))


@dataclass(frozen=True)
class _Text:
    """What ``machine.c.j2`` prints."""

    sums: int
    kinds: tuple[_Kind, ...]
    memory: int


@functools.cache
def machine() -> Machine:
    """What this machine can do. RuntimeFault, after a warning, if nothing can be compiled."""
    text = stages.render_template("machine.c.j2", _Text(_SUMS, _KINDS, _MEMORY))
    call = provide("machine", [Unit("machine", text, FLAGS)]).program.call
    nothing = np.zeros(1, np.float32)
    flops = {itemsize: _rate(call, what, nothing, nothing) for what, itemsize in enumerate((4, 8))}
    bandwidth = []
    for count in _ELEMENTS:
        to, source = (aligned_empty((count,), np.dtype(np.float32)) for _ in range(2))
        to.fill(0)
        source.fill(1)
        bandwidth.append((to.nbytes + source.nbytes, _rate(call, _MEMORY, to, source)))
    return Machine(flops, tuple(bandwidth))


def _rate(call: Any, what: int, to: np.ndarray, source: np.ndarray) -> float:
    """Operations or bytes a second, the best of some measurements."""
    kind, turns, count = (np.array(number, np.int64) for number in (what, 1, source.size))
    answer = np.zeros(2, np.int64)
    slots = SlotTable(6)
    for slot, array in enumerate((kind, turns, answer, to, source, count)):
        slots.set_array(slot, array)
    while answer[0] < _NANOSECONDS:
        turns[...] *= 4
        call(slots.pointer)
    best = int(answer[0])
    for _ in range(_REPEATS):
        call(slots.pointer)
        best = min(best, int(answer[0]))
    return float(turns * answer[1]) / best * 1e9
