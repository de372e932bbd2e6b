"""Tensors over one memory: which of them the graph's input stands for, and whether later calls have the same ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from ...tensors.tensor import Tensor
from .classes import is_a
from .tensor_memory import memory_of


def with_history(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Of tensors that show the very same memory, the one that requires a gradient, where others do not.

    The recording has to meet it first: its input is differentiated, and the others are it, detached.
    """
    sharing = defaultdict(list)
    for tensor in tensors:
        sharing[id(tensor.buffer.whole)].append(tensor)
    found = []
    for group in sharing.values():
        tracked = [tensor for tensor in group if tensor.is_tracked()]
        if tracked and len(tracked) < len(group) and all(tensor.steps == group[0].steps for tensor in group):
            found.append(tracked[0])
    return found


class SharedMemory:
    """Which of some tensors share memory, and how they lie in it. `owners` are the memories, at the latest look."""

    def __init__(self, tensors: Collection[Any]) -> None:
        self.owners: set[int] = set()
        self._recorded = self._look(tensors)

    def is_as_recorded(self, tensors: Collection[Any]) -> bool:
        """Look again: True if the same ones of them share memory as at first."""
        return self._look(tensors) == self._recorded

    @property
    def is_shared(self) -> bool:
        """True if some shared memory at first."""
        return self._recorded is not None

    def _look(self, tensors: Collection[Any]) -> Any:
        seen = [(memory_of(t), t.ndarray.strides) for t in tensors if is_a(t, Tensor)]
        owners = [memory[3] for memory, _ in seen]
        distinct = set(owners)
        if distinct != self.owners:
            self.owners.clear()  # the set itself is known to others
            self.owners.update(distinct)
        if len(distinct) == len(owners):
            return None
        firsts = [owners.index(owner) for owner in owners]
        identities = [id(t) for t in tensors if is_a(t, Tensor)]
        return tuple(
            (first, memory[2] - seen[first][0][2], strides, identities.index(identity))
            for first, (memory, strides), identity in zip(firsts, seen, identities, strict=True)
        )


def met_as_aliases(recording: Any) -> list[Tensor]:
    """Other tensors from outside through which a call has met the memory of its roots."""
    found = [array for array in (alias.array() for alias in recording.recorder.aliases.values()) if is_a(array, Tensor)]
    arguments = {id(root.array) for _, root in recording.arguments}
    return [tensor for tensor in found if not recording.is_own(tensor) and id(tensor) not in arguments]


def captured_tensors(recording: Any) -> list[Tensor]:
    """The tensors that the function finds without its arguments, and those that it has met as aliases."""
    captured = [tensor for tensor in recording.environment.tensors() if recording.environment.captures(tensor)]
    return list({id(tensor): tensor for tensor in (*captured, *met_as_aliases(recording))}.values())
