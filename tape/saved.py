"""What a node keeps for its backward pass: tensors with the versions of their memory."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..ops.core import current, switch
from ..ops.identity import copy
from ..ops.views import replay
from ..tracing.blocks import Block
from ..tracing.watch import local
from .grad_mode import no_grad, switches
from .tangents import alias_of, levels

INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `no_grad()` instead of `inference_mode()`."
)


class _Local(threading.local):
    #: Pairs of functions, the innermost last: what is kept in the place of a tensor, and the tensor for that.
    hooks: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = ()


packing = _Local()


class without_hooks(Block):
    """A block whose operations keep tensors themselves, whatever hooks of saved tensors there are around it."""

    wanted = ()

    def now(self) -> Any:
        return packing.hooks

    def put(self, state: Any) -> None:
        packing.hooks = state


class SavedTensor:
    """A tensor kept for the backward pass, in one of two ways: `Saved`, or `Packed`."""

    __slots__ = ("is_output",)

    is_output: bool

    def unpack(self, node: Any) -> Any:
        """The tensor, with its history; `node` has saved it."""
        raise NotImplementedError

    def look(self, node: Any) -> Any:
        """`unpack` where nothing is recorded: no history is of use."""
        raise NotImplementedError

    def shows(self, buffer: Any) -> bool:
        """Whether it is in the memory `buffer`."""
        raise NotImplementedError

    def keep_own_copy(self, target: Any) -> None:
        """Let the memory of `target` go, which is about to be written to: keep a copy with the same history."""
        raise NotImplementedError


def _without_history(tensor: Any) -> Any:
    if levels.open is not None:
        return alias_of(tensor)
    if switch.stack or local.watcher is not None or tensor.buffer.version < 0:
        return tensor.detach()
    make: Any = current().make  # type: ignore[attr-defined]
    return make(tensor.ndarray, tensor.buffer, tensor.steps)


class Saved(SavedTensor):
    """A tensor itself, with the version of its memory at that time."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor: Any, is_output: bool) -> None:
        # An output that held its own node would never be freed.
        self.tensor = _without_history(tensor) if is_output else tensor
        self.version = version = tensor.buffer.version
        if version < 0 and not switches.in_transform:
            raise RuntimeError(INFERENCE)
        self.is_output = is_output

    @staticmethod
    def unread(x: Any) -> Saved:
        """An operand that no derivative reads, only the operation when it is done again: any tensor may be it."""
        kept: Saved = object.__new__(Saved)
        kept.tensor, kept.version, kept.is_output = x, x.buffer.version, False
        return kept

    def unpack(self, node: Any) -> Any:
        """The tensor, as long as nobody has written to its memory since."""
        tensor = self.tensor
        if tensor.buffer.version != self.version:
            raise RuntimeError(self._modified(node))
        if not self.is_output:
            return tensor
        alias = _without_history(tensor)
        alias.attach(node, 0)
        return alias

    def look(self, node: Any) -> Any:
        tensor = self.tensor
        if tensor.buffer.version != self.version:
            raise RuntimeError(self._modified(node))
        return tensor

    def shows(self, buffer: Any) -> bool:
        return self.tensor.buffer is buffer

    def keep_own_copy(self, target: Any) -> None:
        edge = self.tensor.gradient_edge()
        with no_grad():
            copied = copy(self.tensor)
        if edge.node is not None:
            copied.attach(edge.node, edge.output)
        self.tensor, self.version = copied, copied.buffer.version

    def move_to(self, target: Any) -> None:
        """The numbers have been stored in the memory of `target`: it is there that they are kept."""
        self.tensor, self.version = alias_of(target), target.buffer.version

    def _modified(self, node: Any) -> str:
        shape, now = self.tensor.ndarray.shape, self.tensor.buffer.version
        return modified(node, shape, self.is_output, now, self.version)


class PastVersions(SavedTensor):
    """A result's memory under versions of its own (``.data``), where a write would make other gradients in numpy's
    form of a composite than in its primitives, of which this is a node."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: Any) -> None:
        self.buffer, self.is_output = buffer, True

    def unpack(self, node: Any) -> Any:
        return self.look(node)

    @property
    def is_written(self) -> bool:
        """Whether it has been written to since."""
        return bool(self.buffer.version > 0)

    def has_numbers_of(self, buffer: Any) -> bool:
        """Whether it knows what was in the memory of `buffer`."""
        return False

    def look(self, node: Any) -> Any:
        """RuntimeError where it has been written to."""
        if self.is_written:
            raise RuntimeError(self._message(node))

    def shows(self, buffer: Any) -> bool:
        return False

    def _message(self, node: Any) -> str:
        return (
            f"a result of {node.title} has been written to through .data: in eager mode the gradients are those of the "
            "numbers written\n  in backward()\n  Write to .data after the backward pass, or to a clone()."
        )


class HandedOut(PastVersions):
    """The same of memory that code outside has been given (``numpy()``), which counts no versions: its numbers then."""

    __slots__ = ("numbers",)

    def __init__(self, buffer: Any) -> None:
        super().__init__(buffer)
        self.numbers = buffer.whole.tobytes()

    @property
    def is_written(self) -> bool:
        return bool(self.buffer.whole.tobytes() != self.numbers)

    def has_numbers_of(self, buffer: Any) -> bool:
        return self.buffer.whole is buffer.whole

    def _message(self, node: Any) -> str:
        return (
            f"a result of {node.title} has been written to through its memory, which numpy() or the like has given "
            "out: in eager mode the gradients are those of the numbers written\n  in backward()\n"
            "  Write to it after the backward pass, or to a clone()."
        )


def modified(node: Any, shape: Sequence[int], is_output: bool, now: int, expected: int) -> str:
    """The message for memory that a node has kept, and that has been written to since: versions now and then."""
    output = f", which is output 0 of {node.title}," if is_output else ""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[tensor of shape {list(shape)}]{output} is at version {now}; expected version {expected} instead. Hint: it "
        f"was saved by {node.title}; clone() it before the in-place write, or write to a copy."
    )


class Packed(SavedTensor):
    """A tensor that a program keeps in its own way (``autograd.graph.saved_tensors_hooks``). To have it is to call the
    program, which nobody does but the derivative, once."""

    __slots__ = ("buffer", "edge", "packed", "steps", "unpack_hook")

    def __init__(self, tensor: Any, is_output: bool) -> None:
        if tensor.buffer.version < 0 and not switches.in_transform:
            raise RuntimeError(INFERENCE)
        self.is_output = is_output
        self.edge: Any = None if is_output else tensor.gradient_edge()
        self._pack(tensor)

    def _pack(self, tensor: Any) -> None:
        pack, self.unpack_hook = packing.hooks[-1]
        self.buffer, self.steps = weakref.ref(tensor.buffer), tensor.steps
        version = tensor.buffer.version
        with no_grad():
            # An operand is handed over itself, so that a program can tell parameters by their class or identity.
            self.packed = pack(alias_of(tensor) if self.is_output else tensor)
        if tensor.buffer.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects."
            )

    def shows(self, buffer: Any) -> bool:
        return self.buffer() is buffer

    def keep_own_copy(self, target: Any) -> None:
        root = target if target.base is None else target.base
        with no_grad():
            copied = copy(replay(root, self.steps[len(root.steps) :]))
        self._pack(copied)

    def unpack(self, node: Any) -> Any:
        tensor = self.look(node)
        if self.is_output:
            tensor.attach(node, 0)
        elif self.edge.node is not None:
            tensor.attach(self.edge.node, self.edge.output)
        return tensor

    def look(self, node: Any) -> Any:
        with no_grad():
            tensor = self.unpack_hook(self.packed)
        if not hasattr(tensor, "buffer"):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return alias_of(tensor)


def saved(tensor: Any, is_output: bool) -> SavedTensor:
    """`tensor` as a node keeps it. A number that is data of a recording is a tensor there, and none for hooks."""
    is_packed = packing.hooks and not current().is_number(tensor)
    return Packed(tensor, is_output) if is_packed else Saved(tensor, is_output)
