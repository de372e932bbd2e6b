"""One recorded graph, compiled: when it applies, and what a call of it does.

A call compares the arguments with what was recorded, fills the table of addresses, calls C once, and hands out results
and gradients. Anything else that the recording depended on is guarded by one counter (autograd/watch.py): only when it
has moved are the guards looked at and the addresses of captured tensors found again.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from ..autograd.grad_mode import is_grad_enabled
from ..autograd.nodes import SECOND_BACKWARD
from ..autograd.nodes import Node as TapeNode
from ..autograd.tensor import Tensor, make
from ..autograd.watch import changes
from ..compiler.errors import CaptureError
from ..compiler.pipeline import Program, compile_graph
from ..ops.types import Type
from ..runtime.program import SlotTable, address_of, allocate
from .recording import GradSlot, Recording
from .structure import Path, at, leaves, rebuilt, skeleton

ARENA, DETAIL, FIRST = 0, 1, 2  # the fixed slots of the table; graph inputs follow, then results


class Spent(TapeNode):
    """The history of a result whose graph was already used by ``backward()`` inside the compiled call."""

    def __init__(self, title: str) -> None:
        super().__init__(title, ())

    def backward(self, cotangents: Any, wanted: Any) -> list[Any]:
        raise RuntimeError(SECOND_BACKWARD)


class TensorArgument:
    """What a tensor argument must be like, and its place in the table (None if the program does not read it)."""

    __slots__ = ("contiguous", "dtype", "requires_grad", "shape", "slot")

    def __init__(self, tensor: Tensor, slot: int | None) -> None:
        self.shape = tensor.ndarray.shape
        self.dtype = tensor.ndarray.dtype
        self.contiguous = tensor.ndarray.flags.c_contiguous
        self.requires_grad = tensor.requires_grad
        self.slot = slot

    def fits(self, tensor: Any) -> bool:
        if not isinstance(tensor, Tensor):
            return False
        array = tensor.ndarray
        return (
            array.shape == self.shape
            and array.dtype == self.dtype
            and array.flags.c_contiguous == self.contiguous
            and tensor.requires_grad == self.requires_grad
        )


class GradOutput:
    """A ``.grad`` that each call stores anew. Its memory is reused when nobody else can see it."""

    def __init__(self, slot: GradSlot, of: Type, index: int, path: Path | None, always_new: bool) -> None:
        self.tensor = slot.tensor
        self.type = of
        self.index = index
        self.path = path
        self.always_new = always_new
        self.bound: Tensor | None = None

    def ready(self, call_arguments: Any, slots: SlotTable) -> None:
        """See to it that the tensor has a gradient of its own memory, and that the table points to it."""
        tensor = self.tensor if self.path is None else at(call_arguments, self.path)
        grad = tensor._grad
        if grad is not None and grad is self.bound and not self.always_new:
            # References to the gradient: the slot, `bound`, `grad`, the argument of getrefcount; to its memory: the
            # tensor, its buffer, the argument. One more of either means that somebody keeps it.
            if sys.getrefcount(grad) == 4 and sys.getrefcount(grad.ndarray) == 3:
                grad.buffer.version += 1
                return
        fresh = make(np.empty(self.type.shape, self.type.dtype.numpy))
        slots.set_address(self.index, address_of(fresh.ndarray))
        tensor._grad = self.bound = fresh
        changes.count += 1


class Specialisation:
    """One recording and its program."""

    def __init__(self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recording = recording
        graph = recording.graph()
        self.result_tree, self.fresh_outputs = _results(recording)
        recording.refuse_leaks()
        self.program: Program = compile_graph(graph)
        self.grad_enabled = recording.grad_enabled
        self._bind(args, kwargs)

    # ----------------------------------------------------------------------------------------------------- binding

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        graph = self.program.graph
        self._slot_of = {node.label: FIRST + i for i, node in enumerate(graph.inputs)}
        returned = [r for r in graph.results if r.into is None]
        self._first_result = FIRST + len(graph.inputs)
        self.slots = SlotTable(self._first_result + len(returned))
        self._arena = allocate(max(1, self.program.schedule.arena_bytes))
        self._detail = np.zeros(4, np.int64)
        self.slots.set_array(ARENA, self._arena)
        self.slots.set_array(DETAIL, self._detail)
        self._result_types = [r.node.type for r in returned]
        self._bind_arguments(args, kwargs)
        self._bind_numbers()
        self._bind_captured()
        self._bind_grads()
        self._lock = threading.Lock()
        self._call = self.program.library.call
        self._pointer = self.slots.pointer
        self._seen = -1

    def _bind_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        by_path = {path: root for path, root in self.recording.arguments}
        self._skeleton = skeleton((args, kwargs))
        self._arguments: list[tuple[Path, Any]] = []
        for path, leaf in leaves((args, kwargs)):
            if isinstance(leaf, Tensor):
                slot = self._slot_of.get(by_path[path].node.label) if path in by_path else None
                self._arguments.append((path, TensorArgument(leaf, slot)))
            else:
                self._arguments.append((path, leaf))
        # The common call: tensors only, by position. It needs no walk over trees.
        simple = not kwargs and all(isinstance(spec, TensorArgument) and len(path) == 2 for path, spec in self._arguments)
        self._simple = [spec for _, spec in self._arguments] if simple else None
        self._aliases = _alias_pattern(args, kwargs)

    def _bind_numbers(self) -> None:
        self._numbers = np.zeros(max(1, len(self.recording.numbers)), np.float64)
        self._number_inputs = []
        for i, number in enumerate(self.recording.numbers):
            slot = self._slot_of.get(number.root.node.label)
            if slot is not None:
                self.slots.set_address(slot, address_of(self._numbers) + 8 * i)
            self._number_inputs.append((i, number))

    def _bind_captured(self) -> None:
        known = {id(root) for _, root in self.recording.arguments} | {id(n.root) for n in self.recording.numbers}
        before = {id(s.before): s for s in self.recording.grads.values() if s.before is not None}
        self._captured = []
        for root in self.recording.recorder.roots:
            slot = self._slot_of.get(root.node.label)
            if id(root) not in known and slot is not None:
                self._captured.append((root.array, before.get(id(root.array)), slot, root.node.type, root.region.written))
        self._written = [root for root in self.recording.recorder.roots if root.region.written]
        self._argument_writes = [(p, r) for p, r in self.recording.arguments if r.region.written]
        self._captured_writes: list[Any] = []
        for root in self._written:
            if not root.array.ndarray.flags.c_contiguous:
                raise CaptureError(
                    f"an in-place write to {root.node.label}, whose memory is not contiguous\n  in {self.recording.name}\n"
                    "  Pass the tensor that it is a view of, and take the view inside the compiled function."
                )

    def _bind_grads(self) -> None:
        paths = {id(root.array): path for path, root in self.recording.arguments}
        inputs = {id(array) for array, *_ in self._captured}
        self._grad_outputs = []
        for i, slot in enumerate(self.recording.fresh_grads()):
            index = len(self.fresh_outputs) + i
            always_new = slot.before is not None and id(slot.before) in inputs
            self._grad_outputs.append(
                GradOutput(slot, self._result_types[index], self._first_result + index, paths.get(id(slot.tensor)), always_new)
            )
        self._grads_to_none = [
            (slot.tensor, paths.get(id(slot.tensor))) for slot in self.recording.grads.values() if slot.after is None
        ]

    # ---------------------------------------------------------------------------------------------------- applying

    def matches(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """True if this program is the right one for a call with these arguments, in the world as it is."""
        if is_grad_enabled() is not self.grad_enabled or not self._arguments_fit(args, kwargs):
            return False
        return changes.count == self._seen or self._look_again()

    def _arguments_fit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if self._simple is not None:
            if kwargs or len(args) != len(self._simple):
                return False
            if not all(spec.fits(arg) for spec, arg in zip(self._simple, args, strict=True)):
                return False
        else:
            if skeleton((args, kwargs)) != self._skeleton:
                return False
            tree = (args, kwargs)
            if not all(_fits(spec, at(tree, path)) for path, spec in self._arguments):
                return False
        return _alias_pattern(args, kwargs) == self._aliases

    def _look_again(self) -> bool:
        """Guards, addresses and numbers, after something has been rebound somewhere."""
        count = changes.count
        if not all(guard.holds() for guard in self.recording.guards):
            return False
        for slot in self.recording.grads.values():
            if slot.read_first and (slot.tensor._grad is None) != (slot.before is None):
                return False
        if not self._find_captured():
            return False
        for i, number in self._number_inputs:
            self._numbers[i] = number.get()
        self._seen = count
        return True

    def _find_captured(self) -> bool:
        self._captured_writes.clear()
        for array, grad_slot, slot, of, written in self._captured:
            now = array if grad_slot is None else grad_slot.tensor._grad
            if now is None or now.type_ != of or now.requires_grad != array.requires_grad:
                return False
            values = now.ndarray
            if not values.flags.c_contiguous:
                return False
            self.slots.set_address(slot, address_of(values))
            if written:
                self._captured_writes.append(now.buffer)
        return True

    # ----------------------------------------------------------------------------------------------------- calling

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the step once; the caller has made sure that it matches."""
        with self._lock:
            kept = self._point_to_arguments(args, kwargs)
            for grad in self._grad_outputs:
                grad.ready((args, kwargs), self.slots)
            fresh = self._fresh_results()
            code = self._call(self._pointer)
            del kept
            if code:
                raise self._failure(code)
            for buffer in self._captured_writes:
                buffer.version += 1
        for path, _ in self._argument_writes:
            at((args, kwargs), path).buffer.version += 1
        for tensor, path in self._grads_to_none:
            self._clear_grad(tensor if path is None else at((args, kwargs), path))
        return self._hand_out(fresh, args, kwargs)

    def _point_to_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[np.ndarray]:
        tensors = zip(args, self._simple, strict=True) if self._simple is not None else self._tensor_arguments(args, kwargs)
        kept = []
        for tensor, spec in tensors:
            if spec.slot is not None:
                values = tensor.ndarray if spec.contiguous else np.ascontiguousarray(tensor.ndarray)
                kept.append(values)
                self.slots.set_address(spec.slot, address_of(values))
        return kept

    def _tensor_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Tensor, TensorArgument]]:
        tree = (args, kwargs)
        return [(at(tree, path), spec) for path, spec in self._arguments if isinstance(spec, TensorArgument)]

    def _fresh_results(self) -> list[Tensor]:
        made = []
        for i, title in enumerate(self.fresh_outputs):
            of = self._result_types[i]
            tensor = make(np.empty(of.shape, of.dtype.numpy))
            self.slots.set_address(self._first_result + i, address_of(tensor.ndarray))
            if title:
                tensor.attach(Spent(title), 0)
            made.append(tensor)
        return made

    def _hand_out(self, fresh: list[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tree = self.result_tree
        if isinstance(tree, _Fresh):
            return fresh[tree.index]
        return rebuilt(tree, lambda leaf: leaf.given(fresh, (args, kwargs)) if isinstance(leaf, _Placed) else leaf)

    def _clear_grad(self, tensor: Tensor) -> None:
        if tensor._grad is not None:
            tensor.grad = None

    def _failure(self, code: int) -> Exception:
        check = self.program.schedule.checks[code - 1]
        value = int(self._detail[0])
        return IndexError(
            f"index {value} is out of bounds for dimension {check.axis} with size {check.size}\n  at {check.origin}\n"
            "  Nothing was changed by this call; pass indices within the size."
        )


# ------------------------------------------------------------------------------------------------------------ results


class _Placed:
    """A leaf of the result that is filled at each call."""

    def given(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        raise NotImplementedError


class _Fresh(_Placed):
    def __init__(self, index: int) -> None:
        self.index = index

    def given(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        return fresh[self.index]


class _Argument(_Placed):
    def __init__(self, path: Path) -> None:
        self.path = path

    def given(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        return at(call_arguments, self.path)


def _results(recording: Recording) -> tuple[Any, list[str]]:
    """The result's tree with placed leaves, and the grad_fn title ("" for none) of each fresh tensor in it."""
    paths = {id(root.array): path for path, root in recording.arguments}
    fresh: dict[int, _Fresh] = {}
    titles: list[str] = []

    def placed(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) in paths:
            return _Argument(paths[id(leaf)])
        if recording.is_root(leaf):
            return leaf
        if id(leaf) not in fresh:
            fresh[id(leaf)] = _Fresh(len(titles))
            titles.append(leaf.grad_fn.name() if leaf.grad_fn is not None else "")
        return fresh[id(leaf)]

    return rebuilt(recording.result, placed), titles


def _fits(spec: Any, value: Any) -> bool:
    if isinstance(spec, TensorArgument):
        return spec.fits(value)
    return value is spec or (type(value) is type(spec) and isinstance(value, (bool, int, float, str)) and value == spec)


def _alias_pattern(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Which tensor arguments share memory: None if none do, else the first position of each memory."""
    tensors = args if not kwargs and all(type(a) is Tensor for a in args) else [t for _, t in leaves((args, kwargs))]
    memories = [id(t.buffer.whole) for t in tensors if isinstance(t, Tensor)]
    if len(set(memories)) == len(memories):
        return None
    return tuple(memories.index(m) for m in memories)
