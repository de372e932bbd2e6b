"""Whose what a call returns is: the call's own, its arguments', or what the function finds without them."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from ..common.classes import is_a
from ..common.pytree import leaves
from ..recording.plain_results import is_plain
from ..recording.recording import Recording
from ..recording.scalar_outputs import MARKED
from ..symbolic.number import Computed


def gives_its_own(recording: Recording) -> bool:
    """True if a call returns what it was recorded with besides its arguments: a captured tensor, a view or a number of
    one, or an object that is found by the function."""
    arguments = {id(root.array) for _, root in recording.arguments}
    captured = {id(root.array.buffer.whole) for root in recording.recorder.roots if id(root.array) not in arguments}
    for _, leaf in leaves(recording.outcome):
        tensor = leaf.tensor if is_a(leaf, MARKED) else leaf
        if not is_a(tensor, Tensor):
            if not (is_a(leaf, Computed) or is_plain(leaf)):
                return True
        elif id(tensor) not in arguments:
            if id(tensor.buffer.whole) in captured or not recording.is_own(tensor):
                return True
    return False
