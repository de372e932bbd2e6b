"""Branches of ``tg.cond`` that have read a tensor, and writes to it before their derivatives are computed.

In a recording a tensor from outside enters a branch through a gate, which has memory of its own. What the tape keeps of
the branch is therefore the gate, in eager mode it is the tensor itself: writes to the one concern the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiler.capture import Recorder
from ...ops.array import Array
from ...tensors.tensor import Tensor


def follow_writes(recorder: Recorder, tensor: Tensor, inside: Tensor, taken: bool) -> None:
    """Let `inside`, the gate of `tensor`, see what is written to the tensor as long as its derivative may be needed.

    Such a recording is refused: its graph reads the gate.
    """

    def follow(target: Array) -> None:
        gate: Any = inside.grad_fn
        if gate.released:
            return
        if taken and target.buffer is tensor.buffer:
            inside.buffer.version += 1  # the backward pass fails, as in eager mode
        elif taken:
            np.copyto(inside.ndarray, tensor.ndarray)
        recorder.refuse(
            "a tensor is written that a branch of tg.cond may need for its derivative\n"
            f"  at {recorder.whereabouts.now()}\n"
            "  Write to it after backward(), or pass a clone() of it to the branch."
        )

    recorder.after_write.setdefault(id(tensor.buffer.whole), []).append(follow)
