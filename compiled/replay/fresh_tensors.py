"""How a leaf of the result becomes one of the tensors that a call has made, in the grad mode of the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...ops.array import UNTRACKED
from ...tape.grad_mode import switches
from ...tensors.tensor import Tensor


@dataclass(frozen=True, eq=False)
class FreshTensor:
    """Fills a leaf with the new tensor of that number."""

    index: int

    @property
    def is_as_made(self) -> bool:
        """True if it is the tensor as it was made, wherever no inference mode is on."""
        return True

    def __call__(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        return fresh[self.index]


@dataclass(frozen=True, eq=False)
class UngradedTensor(FreshTensor):
    """The same of a function that is called, or has computed it, without gradients: it is an inference tensor or not,
    always (`is_inference`) or as the caller's mode says (None)."""

    is_inference: bool | None

    @property
    def is_as_made(self) -> bool:
        return not self.is_inference

    def __call__(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        tensor = fresh[self.index]
        wanted = switches.inference if self.is_inference is None else self.is_inference
        if wanted is not (tensor.buffer.version < 0):
            tensor.buffer.version = UNTRACKED if wanted else 0
        return tensor


def fresh_tensor(index: int, tensor: Tensor, grad_enabled: bool, inference: bool) -> FreshTensor:
    """What fills a leaf that was `tensor` in the recording, whose call began in these modes."""
    is_inference = tensor.buffer.version < 0  # asked of no subclass
    if grad_enabled and not inference and not is_inference:
        return FreshTensor(index)
    return UngradedTensor(index, None if is_inference is inference else is_inference)
