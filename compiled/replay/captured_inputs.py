"""Captured tensors: graph inputs that are no arguments. Where their memory is now, and whether they still fit."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from ...compiler.roots import Root, is_tracked
from ...ops.array import Array
from ...ops.layouts.orders import own_strides
from ...tensors.tensor import Tensor
from ..common.aliasing import SharedMemory, captured_tensors, met_as_aliases
from ..common.classes import is_a
from ..common.pytree import Path, at
from ..common.tensor_memory import hooks_on, memory_of, watch_history
from ..execution.binding import Binding
from ..recording.grad_slot import GradSlot
from ..recording.recording import Recording

# Methods by which a program asks a gradient for what is as it happens to be: replays store new ones in row-major order.
_ASKING_HOW_IT_LIES = ("stride", "is_contiguous")


class Captured:
    """One captured tensor, or the gradient that a tensor had before the call (`slot`; `path` if of an argument)."""

    def __init__(self, root: Root, slot: GradSlot | None, path: Path | None, index: int | None) -> None:
        self.root = root
        self.array: Any = root.array
        self.type = root.node.type
        self.requires_grad = root.requires_grad
        self.flag = getattr(self.array, "requires_grad", False)
        self.is_view = self.flag and getattr(self.array, "_base", None) is not None
        self.is_leaf = getattr(self.array, "is_leaf", True)
        self.hooks = hooks_on(self.array) if self.requires_grad else ()
        self.written = root.region.written
        self.counted = root.counted_writes  # by the versions that views and derivatives are compared with
        # Gradients may lie this way or that: nobody's strides follow from theirs alone.
        self.strides = None if slot is not None else own_strides(self.array.ndarray)
        self.slot = slot
        self.path = path
        self.index = index  # in the table, None if the program does not read it

    def now(self, call_arguments: Any) -> Any:
        """The tensor itself, None if it is gone."""
        if self.slot is None:
            return self.array
        return (self.slot.tensor if self.path is None else at(call_arguments, self.path))._grad

    def fits(self, now: Any) -> bool:
        if now is None or now.type_ != self.type or not self.requires_as_before(now):
            return False
        if self.slot is None and self.strides != own_strides(now.ndarray):
            return False
        return not self.requires_grad or (now.is_leaf is self.is_leaf and hooks_on(now) == self.hooks)

    def requires_as_before(self, now: Any) -> bool:
        """Whether it says of gradients what it said, and its own go on as they did: views may require them without."""
        if getattr(now, "requires_grad", False) is not self.flag:
            return False
        return not self.is_view or is_tracked(now) is self.requires_grad


class CapturedInputs:
    """All of one specialisation."""

    def __init__(self, recording: Recording, binding: Binding) -> None:
        self._binding = binding
        numbers = {id(n.root) for n in recording.numbers} | {id(s.root) for s in recording.scalars}
        arguments = {id(root) for _, root in recording.arguments}
        gradients = {id(s.before): s for s in recording.grads.values() if s.before is not None}
        paths = {id(root.array): path for path, root in recording.arguments}
        self.all = []
        for root in recording.recorder.roots:
            if id(root) not in numbers and id(root) not in arguments:
                slot = gradients.get(id(root.array))
                path = None if slot is None else paths.get(id(slot.tensor))
                self.all.append(Captured(root, slot, path, binding.slot_of.get(root.node.label)))
        self.had_gradients = [
            (s.tensor, paths.get(id(s.tensor)), s.before is not None) for s in recording.grads.values() if s.read_first
        ]
        lying = any(map(recording.environment.mentions, _ASKING_HOW_IT_LIES))
        self._facts_of_gradients = [
            (s.tensor, paths.get(id(s.tensor)), facts_of_gradient(s.before, lying), lying)
            for s in recording.grads.values()
            if s.read_first and s.before is not None
        ]
        self._slots = [captured for captured in self.all if captured.slot is not None]
        for captured in self.all:
            if is_a(captured.array, Tensor):
                watch_history(captured.array)
        self._owners_of_others: frozenset[int] = frozenset()  # of captured tensors that are no gradients, once found
        self._compared = recording.questions.are_compared
        self._others = _others_over_memory_of(recording, {id(captured.slot) for captured in self._slots}, paths)
        recorded = [captured.array for captured in self.all]
        self._memory = SharedMemory([*recorded, *(tensor for tensor, _ in self._others)])
        # Which of them share memory matters where something is written, or where they did share it.
        self._written = bool(recording.grads) or any(root.region.written for root in recording.recorder.roots)
        self.written_buffers: list[Any] = []  # buffers, once for each write
        self._written_others: list[Any] = []  # those of tensors that are no gradients, once found
        self.copied: list[tuple[np.ndarray, np.ndarray]] = []
        self._shown: list[tuple[Captured, np.ndarray, Any]] | None = None  # array and buffer, where all were found
        self._cut_views = _views_that_follow_no_write([c.array for c in self.all if c.slot is None], self._others)
        # Gradients of arguments may be others at each call, views unusable, without anything having been rebound.
        self.vary = bool(self._cut_views) or any(path is not None for _, path, _ in self.had_gradients)
        self.writes_normals = any(c.written and c.array.label == "generator.cached" for c in self.all)

    @property
    def memories(self) -> set[int]:
        """The memories that arguments must not share unnoticed: all captured ones if anything is written, else none."""
        return self._memory.owners if self._written or self._compared else set()

    def tensors(self, call_arguments: Any) -> list[Any]:
        """The captured inputs that are there now."""
        there = (captured.now(call_arguments) for captured in self.all)
        return [now for now in there if is_a(now, Array)]

    def unfitting(self, call_arguments: Any) -> Iterator[tuple[Root, Any]]:
        """The captured inputs that are not as recorded, and what is there now."""
        for captured in self.all:
            now = captured.now(call_arguments)
            if not captured.fits(now):
                yield captured.root, now

    def gradients_otherwise(self, call_arguments: Any) -> Iterator[tuple[Any, bool]]:
        """The tensors whose gradient was there (True) or None when recorded, and now is not so."""
        for tensor, path, had in self.had_gradients:
            owner = tensor if path is None else at(call_arguments, path)
            if (owner._grad is not None) is not had:
                yield owner, had

    def find_gradients(self, call_arguments: Any) -> bool | None:
        """`find` where nothing but gradients has been rebound since; None if that needs a look at everything."""
        if not self._only_gradients_vary:
            return None
        owners = set(self._owners_of_others)
        if not self._gradients_are_alike(call_arguments):
            return False
        written = list(self._written_others)
        for captured in self._slots:
            now = captured.now(call_arguments)
            if now is None or not captured.fits(now):
                return False
            _, layout, address, owner = memory_of(now)
            if owner in owners or not layout.contiguous:
                return None
            owners.add(owner)
            if captured.written:
                if not layout.writeable:
                    return False
                written += [now.buffer] * captured.counted
            if captured.index is not None:
                self._binding.slots.set_address(captured.index, address)
        self.written_buffers[:] = written  # the list itself is known to others, as is this set
        self._memory.owners.clear()
        self._memory.owners.update(owners)
        return True

    def _gradients_are_alike(self, call_arguments: Any) -> bool:
        """True if those are there that were when recorded, and a program that asks what they are gets those answers."""
        for tensor, path, had in self.had_gradients:
            if ((tensor if path is None else at(call_arguments, path))._grad is not None) is not had:
                return False
        return all(
            facts_of_gradient((tensor if path is None else at(call_arguments, path))._grad, lying) == facts
            for tensor, path, facts, lying in self._facts_of_gradients
        )

    @property
    def _only_gradients_vary(self) -> bool:
        return not (self._others or self.copied or self._memory.is_shared)

    def find(self, call_arguments: Any) -> bool:
        """Point the table to where the captured tensors are now; False if one does not fit."""
        if any(view.is_ambiguous() for view in self._cut_views):
            return False
        if self.are_unmoved():
            found = self.find_gradients(call_arguments)
            if found is not None:
                return found
        self._shown = None
        if not self._gradients_are_alike(call_arguments):
            return False
        self.written_buffers.clear()
        self.copied.clear()
        tensors = [captured.now(call_arguments) for captured in self.all]
        if not all(map(self._found, self.all, tensors)):
            return False
        self._shown = [(c, c.array.ndarray, c.array.buffer) for c in self.all if c.slot is None]
        self._written_others = [buffer for captured, _, buffer in self._shown for _ in range(captured.counted)]
        if not (self._written or self._compared or self._memory.is_shared):
            return True
        as_recorded = self._memory.is_as_recorded([*tensors, *(find(call_arguments) for _, find in self._others)])
        others = [t for c, t in zip(self.all, tensors, strict=True) if c.slot is None and is_a(t, Tensor)]
        self._owners_of_others = frozenset(memory_of(tensor)[3] for tensor in others)
        if not as_recorded:
            self._shown = None
        return as_recorded

    def are_unmoved(self, but_for: Collection[Captured] = ()) -> bool:
        """True if all but gradients are as `find` has found them last, and so is where they lie."""
        if self._shown is None or self._others:
            return False
        for captured, array, buffer in self._shown:
            now = captured.array
            if (now.ndarray is not array or now.buffer is not buffer) and captured not in but_for:
                return False
            if not captured.requires_as_before(now):
                return False
            if captured.requires_grad and (now.is_leaf is not captured.is_leaf or hooks_on(now) != captured.hooks):
                return False
            if captured.written and not array.flags.writeable:
                return False
        return True

    def _found(self, captured: Captured, now: Any) -> bool:
        if not captured.fits(now):
            return False
        flags = now.ndarray.flags
        contiguous = flags.c_contiguous and flags.aligned
        if captured.written:
            if not (contiguous and flags.writeable):
                return False
            self.written_buffers += [now.buffer] * captured.counted
        if captured.index is not None:
            values = now.ndarray if contiguous else np.empty(now.ndarray.shape, now.ndarray.dtype)
            if not contiguous:
                self.copied.append((values, now.ndarray))
            self._binding.point(captured.index, values)
        return True

    def before_call(self) -> None:
        """C reads contiguous memory: copies of what is not, made at each call, since nobody tells of writes to it."""
        for copy, values in self.copied:
            np.copyto(copy, values)


def _others_over_memory_of(recording: Recording, known: set[int], paths: dict[int, Path]) -> list[tuple[Any, Any]]:
    """Tensors from outside that show the memory of captured ones, with how a call finds them: aliases, and gradients
    that are one tensor in several places. `known` are the gradients (their slots) that are inputs of the graph."""
    aliases = (captured_tensors if recording.questions.are_compared else met_as_aliases)(recording)
    inputs = {id(root.array) for root in recording.recorder.roots}
    found: list[tuple[Any, Any]] = [(t, functools.partial(_itself, t)) for t in aliases if id(t) not in inputs]
    for slot in recording.grads.values():
        if slot.before is None or id(slot) in known:
            continue
        if recording.questions.are_compared or recording.recorder.knows(slot.before):
            found.append((slot.before, functools.partial(_gradient, slot.tensor, paths.get(id(slot.tensor)))))
    return found


def _views_that_follow_no_write(captured: Iterable[Any], others: Iterable[tuple[Any, Any]]) -> list[Tensor]:
    """Those whose use is an error once the memory that they show is written to."""
    tensors = [t for t in (*captured, *(other for other, _ in others)) if is_a(t, Tensor)]
    cut_off = [t for t in tensors if t.viewed_without_grad and t.requires_grad and not t.is_tracked()]
    return cut_off + [t for t in tensors if t.view_of_several and t.requires_grad and t.base is not None]


def facts_of_gradient(gradient: Any, lying: bool) -> tuple[Any, ...]:
    """What a program may ask a gradient from outside for, whatever is computed; `lying`: its strides as well."""
    values = getattr(gradient, "ndarray", None)  # a sparse one has none
    strides = values.strides if lying and values is not None else ()
    return type(gradient), gradient.requires_grad, gradient.is_leaf, strides


def _itself(tensor: Any, call_arguments: Any) -> Any:
    return tensor


def _gradient(tensor: Any, path: Path | None, call_arguments: Any) -> Any:
    return (tensor if path is None else at(call_arguments, path))._grad
