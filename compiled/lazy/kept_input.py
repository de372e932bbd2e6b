"""The inputs of a compiled call that its node on the tape keeps for the backward pass."""

from __future__ import annotations

import numpy as np

from ...ops.array import Buffer
from ...ops.core import Step
from ...tape.nodes import Node
from ...tape.saved import Saved
from ...tensors.tensor import Tensor, make
from .eager_tape import EagerTape

# An input that the backward pass reads, as it was at the call: its label, the tensor, and the memory that it showed.
Snapshot = tuple[str, Tensor, np.ndarray, Buffer, tuple[Step, ...]]


class KeptInput(Saved):
    """An input that the backward pass reads, and the memory that it showed at the call.

    ``tensor.data = other`` gives a tensor other memory. Eager mode then goes on with that where its tape has saved the
    tensor itself, and with the old memory where it has saved a view (a weight, transposed).
    """

    __slots__ = ("_array", "_buffer", "_label", "_steps")

    def __init__(self, kept: Snapshot, version: float) -> None:
        self._label, self.tensor, self._array, self._buffer, self._steps = kept
        self.version, self.is_output = version, False

    def as_in_eager_mode(self, node: Node, tape: EagerTape) -> Tensor:
        """What eager mode's tape would read now."""
        tensor: Tensor = self.tensor
        if tensor.ndarray is self._array or self._label not in tape.views:
            if (tensor.ndarray.shape, tensor.ndarray.dtype) != (self._array.shape, self._array.dtype):
                raise self.rebound(node)
            return self.unpack(node)
        if self._label in tape.themselves:
            raise self.rebound(node)
        if self._buffer.version != self.version:
            raise RuntimeError(self._modified(node))
        return self.unchecked()

    def unchecked(self) -> Tensor:
        """What is in the memory that it showed at the call, whoever has written there."""
        return make(self._array, self._buffer, self._steps)

    def unpack_again(self, node: Node) -> Tensor:
        """The tensor with its history, for gradients that are differentiated again."""
        if self.tensor.ndarray is not self._array:
            raise self.rebound(node)
        return self.unpack(node)

    def rebound(self, node: Node) -> RuntimeError:
        """The error for a tensor whose old and new memory the backward pass would have to tell apart."""
        return RuntimeError(
            f"{self._label} has been given other memory (.data = ...) since {node.title}, a compiled call, read it\n"
            "  in backward()\n"
            "  Assign to .data after the backward pass, or write in place under no_grad()."
        )
