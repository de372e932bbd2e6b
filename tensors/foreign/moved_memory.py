"""Memory under another address: all tensors that show it are shown the new one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...ops.array import Array, Buffer
from ...ops.complex_numbers.conjugated import conjugated, memory_behind
from ...tracing.watch import changes, declare_alias

_ndarray = vars(Array)["ndarray"]  # below the properties of subclasses

#: What else keeps memory, by its class: the array of an object, and how it is told to move.
holders: dict[type, tuple[Callable[[Any], np.ndarray], Callable[[Any, Move], None]]] = {}


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array whose memory `array` shows a part of."""
    below = _below(array)
    while below is not None:
        array, below = below, _below(below)
    return array


def _below(array: np.ndarray) -> np.ndarray | None:
    """What `array` is a view of; numpy's ``as_strided`` puts an object of its own between."""
    base = array.base if array.base is None or isinstance(array.base, np.ndarray) else getattr(array.base, "base", None)
    return base if isinstance(base, np.ndarray) else None


class Move:
    """One piece of memory, that of the array `owner`, on its way to `memory`."""

    def __init__(self, owner: np.ndarray, new_memory: Callable[[int], Any]) -> None:
        self._owner = owner
        self._low, high = byte_bounds(owner) if owner.size else (0, 0)
        self._bytes = np.frombuffer(new_memory(high - self._low), np.uint8)
        self._arrays: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # old and new ones, by the old one's identity
        self._buffers: dict[int, tuple[Buffer, Buffer]] = {}
        self.array(owner)[...] = owner

    def array(self, old: np.ndarray) -> np.ndarray:
        """What `old` shows, in the new memory; itself if it shows other memory."""
        if owner_of(old) is not self._owner:
            return old
        if id(old) not in self._arrays:
            offset = old.ctypes.data - self._low if old.size else 0
            self._arrays[id(old)] = old, np.ndarray(old.shape, old.dtype, self._bytes.data, offset, old.strides)
        return self._arrays[id(old)][1]

    def buffer(self, old: Buffer) -> Buffer:
        """The new memory with the version of the old."""
        if id(old) not in self._buffers:
            new = Buffer(self.array(old.whole))
            new.version = old.version
            self._buffers[id(old)] = old, new
        return self._buffers[id(old)][1]


def move(arrays: Iterable[np.ndarray], new_memory: Callable[[int], Any]) -> None:
    """Move the memory that `arrays` show parts of to ``new_memory(number of bytes)``, with all that shows it."""
    moves = {id(owner): Move(owner, new_memory) for owner in map(owner_of, arrays)}
    for holder, array in list(_holders_of_memory()):
        of = moves.get(id(owner_of(array)))
        if of is None:
            _follow(holder, array, moves)
            continue
        if type(holder) in holders:
            holders[type(holder)][1](holder, of)
        else:
            declare_alias(holder)
            _ndarray.__set__(holder, of.array(array))
            holder.buffer = of.buffer(holder.buffer)
    changes.count += 1


def _follow(holder: Any, array: np.ndarray, moves: dict[int, Move]) -> None:
    """A conjugate of memory that moved is that of the new one."""
    if not isinstance(holder, Array) or (shown := memory_behind(array, holder.buffer)) is array:
        return
    of = moves.get(id(owner_of(shown)))
    if of is not None:
        declare_alias(holder)
        holder.buffer = of.buffer(holder.buffer)
        moved = conjugated(of.array(shown), holder.buffer)
        _ndarray.__set__(holder, moved)


def _holders_of_memory() -> Iterator[tuple[Any, np.ndarray]]:
    """All that keeps the memory of tensors, and its array."""
    for candidate in gc.get_objects():
        kind = type(candidate)
        if kind in holders:
            yield candidate, holders[kind][0](candidate)
        elif issubclass(kind, Array):
            try:
                array = _ndarray.__get__(candidate)
            except AttributeError:  # it is being made
                continue
            if isinstance(array, np.ndarray):  # what a program may have put there instead shows no memory
                yield candidate, array
