"""One recorded graph, compiled: when it applies, and what a call of it does.

A call compares the arguments with what was recorded, fills the table of addresses, calls C once, and hands out results
and gradients. Anything else that the recording depended on is guarded by one counter (autograd/watch.py): only when it
has moved are the guards looked at and the addresses of captured tensors found again.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..autograd.tensor import Tensor
from ..autograd.watch import changes
from ..compiler.errors import CaptureError
from ..compiler.graph import Graph
from ..compiler.pipeline import Program, compile_graph
from ..runtime.program import address_of
from .arguments import Args, Arguments, Kwargs
from .binding import Binding
from .grads import Grads
from .joined import Backward, CompiledNode
from .recording import Recording, is_spent
from .results import Results
from .structure import at


class Specialisation:
    """One recording and its program."""

    def __init__(self, recording: Recording, args: Args, kwargs: Kwargs) -> None:
        self.recording = recording
        graph = recording.graph()
        _refuse_strided_writes(recording)
        self.results = Results(recording)
        self.backward = _backward_of(recording, graph)
        recording.refuse_leaks()
        self.program: Program = compile_graph(graph if self.backward is None else self.backward.parts.forward)
        self.binding = Binding(self.program)
        self._lock = threading.Lock()
        self._seen = -1  # the value of `changes` for which all guards are known to hold
        self._arguments = Arguments(recording, self.binding, args, kwargs)
        self._grads = Grads(recording, self.binding, len(self.results.fresh))
        self._written_arguments = [path for path, root in recording.arguments if root.region.written]
        self._written_buffers: list[Any] = []
        self._bind_numbers()
        self._bind_captured()

    def _bind_numbers(self) -> None:
        inputs = self.recording.numbers
        self._numbers = np.zeros(max(1, len(inputs)), np.float64)
        for i, number in enumerate(inputs):
            slot = self.binding.slot_of.get(number.root.node.label)
            if slot is not None:
                self.binding.slots.set_address(slot, address_of(self._numbers) + self._numbers.itemsize * i)

    def _bind_captured(self) -> None:
        known = {id(root) for _, root in self.recording.arguments} | {id(n.root) for n in self.recording.numbers}
        gradients = {id(s.before): s for s in self.recording.grads.values() if s.before is not None}
        self._captured = [
            (root, gradients.get(id(root.array)), self.binding.slot_of[root.node.label])
            for root in self.recording.recorder.roots
            if id(root) not in known and root.node.label in self.binding.slot_of
        ]

        # Whether the generator holds a second normal number is a guard that drawing normals itself can change.
        self._writes_normals = any(root.region.written and root.array.label == "generator.cached" for root, *_ in self._captured)

    # ---------------------------------------------------------------------------------------------------- applying

    def matches(self, args: Args, kwargs: Kwargs) -> bool:
        """True if this program is the right one for a call with these arguments, in the world as it is."""
        if not self.recording.modes.hold() or not self._arguments.fit(args, kwargs):
            return False
        if not self.recording.surroundings.hold():
            return False
        return changes.count == self._seen or self._look_again()

    def _look_again(self) -> bool:
        """Guards, addresses and numbers, after something has been rebound somewhere."""
        count = changes.count
        recording = self.recording
        if not all(guard.holds() for guard in recording.guards):
            return False
        read = [slot for slot in recording.grads.values() if slot.read_first]
        if any((slot.tensor._grad is None) != (slot.before is None) for slot in read):
            return False
        if not self._find_captured():
            return False
        for i, number in enumerate(recording.numbers):
            self._numbers[i] = number.get()
        self._seen = count
        return True

    def _find_captured(self) -> bool:
        self._written_buffers.clear()
        for root, grad_slot, slot in self._captured:
            now: Any = root.array if grad_slot is None else grad_slot.tensor._grad
            if now is None or now.type_ != root.node.type or getattr(now, "requires_grad", False) != root.requires_grad:
                return False
            if not now.ndarray.flags.c_contiguous:
                return False
            self.binding.point(slot, now.ndarray)
            if root.region.written:
                self._written_buffers.append(now.buffer)
        return True

    # ----------------------------------------------------------------------------------------------------- calling

    def call(self, args: Args, kwargs: Kwargs) -> Any:
        """Run the step once; the caller has made sure that it matches."""
        call_arguments = (args, kwargs)
        with self._lock:
            kept = self._arguments.point(args, kwargs)
            self._grads.prepare(call_arguments)
            fresh = [self.binding.fresh_result(i) for i in range(len(self.results.fresh))]
            saved = self._saved_results()
            self.binding.run()
            del kept
            for buffer in self._written_buffers:
                buffer.version += 1
            changes.count += self._writes_normals
        for path in self._written_arguments:
            at(call_arguments, path).buffer.version += 1
        self._grads.clear(call_arguments)
        self._join_tape(fresh, saved, call_arguments)
        return self.results.hand_out(fresh, call_arguments)

    def _saved_results(self) -> list[Tensor]:
        """Memory for what the backward program will need of this call."""
        if self.backward is None:
            return []
        first = len(self.results.fresh) + len(self._grads)
        return [self.binding.fresh_result(first + i) for i in range(len(self.backward.parts.saved))]

    def _join_tape(self, fresh: list[Tensor], saved: list[Tensor], call_arguments: Any) -> None:
        """Give the results the history that they have in eager mode."""
        outputs = self.results.fresh
        if self.backward is not None:
            live = [tensor for tensor, output in zip(fresh, outputs, strict=True) if output.live]
            title = f"{self.recording.name}Backward"
            node = CompiledNode(title, self.backward, self._sources(call_arguments), saved, live)
            for i, tensor in enumerate(live):
                tensor.attach(node, i)
        for tensor, output in zip(fresh, outputs, strict=True):
            if output.spent is not None:
                tensor.attach(output.spent, 0)

    def _sources(self, call_arguments: Any) -> dict[str, Any]:
        """The tensors behind the graph's inputs in this call."""
        sources = {root.node.label: root.array for root in self.recording.recorder.roots}
        sources.update({root.node.label: at(call_arguments, path) for path, root in self.recording.arguments})
        return sources


def _backward_of(recording: Recording, graph: Graph) -> Backward | None:
    """The backward program for results that can still be differentiated; None if there are none."""
    fresh = recording.fresh_outputs()
    live = [recording.result_name(t) for t in fresh if t.grad_fn is not None and not is_spent(t.grad_fn)]
    wrt = [root.node.label for root in recording.recorder.roots if root.requires_grad]
    return Backward(graph, live, wrt) if live and wrt else None


def _refuse_strided_writes(recording: Recording) -> None:
    for root in recording.recorder.roots:
        if root.region.written and not root.array.ndarray.flags.c_contiguous:
            raise CaptureError(
                f"an in-place write to {root.node.label}, whose memory is not contiguous\n  in {recording.name}\n"
                "  Pass the tensor that it is a view of, and take the view inside the compiled function."
            )
