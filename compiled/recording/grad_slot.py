"""What a recorded call does to the gradient of one tensor."""

from __future__ import annotations

from dataclasses import dataclass

from ...tensors.tensor import Tensor


@dataclass(eq=False)
class GradSlot:
    """A tensor's ``.grad`` before and after the call; whether it was read before it was written."""

    tensor: Tensor
    before: Tensor | None
    read_first: bool
    after: Tensor | None = None
