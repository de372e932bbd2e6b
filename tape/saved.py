"""What a node keeps for its backward pass: tensors with the versions of their memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.identity import copy

INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `no_grad()` instead of `inference_mode()`."
)


class Saved:
    """A tensor kept for the backward pass, with the version of its memory at that time."""

    __slots__ = ("is_output", "tensor", "version")

    def __init__(self, tensor: Any, is_output: bool) -> None:
        self.tensor = tensor.detach() if is_output else tensor  # an output that held its own node would never be freed
        self.version = version = tensor.buffer.version
        if version < 0:
            raise RuntimeError(INFERENCE)
        self.is_output = is_output

    def unpack(self, node: Any) -> Any:
        """The tensor, as long as nobody has written to its memory since."""
        tensor = self.tensor
        if tensor.buffer.version != self.version:
            raise RuntimeError(self._modified(node))
        if not self.is_output:
            return tensor
        alias = tensor.detach()
        alias.attach(node, 0)
        return alias

    def look(self, node: Any) -> Any:
        """`unpack` where nothing is recorded: no history is of use."""
        tensor = self.tensor
        if tensor.buffer.version != self.version:
            raise RuntimeError(self._modified(node))
        return tensor

    def keep_own_copy(self) -> None:
        """Let the memory go: keep a copy with the same history."""
        edge = self.tensor.gradient_edge()
        copied = copy(self.tensor.detach())
        if edge.node is not None:
            copied.attach(edge.node, edge.output)
        self.tensor, self.version = copied, copied.buffer.version

    def _modified(self, node: Any) -> str:
        shape, now = self.tensor.ndarray.shape, self.tensor.buffer.version
        return modified(node, shape, self.is_output, now, self.version)


def modified(node: Any, shape: Sequence[int], is_output: bool, now: int, expected: int) -> str:
    """The message for memory that a node has kept, and that has been written to since: versions now and then."""
    output = f", which is output 0 of {node.title}," if is_output else ""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[tensor of shape {list(shape)}]{output} is at version {now}; expected version {expected} instead. Hint: it "
        f"was saved by {node.title}; clone() it before the in-place write, or write to a copy."
    )
