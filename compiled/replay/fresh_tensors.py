"""How a leaf of the result becomes one of the tensors that a call has made, in the grad mode of the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...ops.array import UNTRACKED
from ...tensors.tensor import Tensor


@dataclass(frozen=True, eq=False)
class FreshTensor:
    """Fills a leaf with the new tensor of that number."""

    index: int

    @property
    def is_as_made(self) -> bool:
        """True if it is the tensor as it was made."""
        return True

    def __call__(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        return fresh[self.index]


@dataclass(frozen=True, eq=False)
class MarkedTensor(FreshTensor):
    """The same where inference mode has been on: it is an inference tensor, or it is not."""

    is_inference: bool

    @property
    def is_as_made(self) -> bool:
        return False

    def __call__(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        tensor = fresh[self.index]
        if self.is_inference is not (tensor.buffer.version < 0):
            tensor.buffer.version = UNTRACKED if self.is_inference else 0
            tensor.memory = None  # what is remembered of it says whether it is one
        return tensor


def fresh_tensor(index: int, tensor: Tensor, inference: bool) -> FreshTensor:
    """What fills a leaf that was `tensor` in the recording, whose call began in inference mode or not."""
    is_inference = tensor.buffer.version < 0  # asked of no subclass
    return MarkedTensor(index, is_inference) if inference or is_inference else FreshTensor(index)
