"""What makes a recorded call no program of its own: tensors that outlive it, hooks whose order would be another."""

from __future__ import annotations

import gc

from ...compiler.errors import CaptureError
from ...tensors.tensor import Tensor
from ..common.autograd_graph import held_by_tape
from ..common.classes import is_a
from ..common.pytree import leaves
from ..common.tensor_memory import hooks_on
from .recording import Recording
from .validity import DONE, refusal


def refuse_leaks(recording: Recording, returned: list[Tensor]) -> None:
    """CaptureError if a tensor made during the call outlives it in a place that a replay would not fill."""
    known = returned + [s.after for s in recording.grads.values() if s.after is not None]
    known += [t for _, t in leaves(recording.result) if is_a(t, Tensor)]
    allowed = {id(t) for t in known} | {id(t.base) for t in known if t.base is not None}
    allowed.update(map(id, held_by_tape(known)))
    recording.recorder.forget_values()
    if _alive_except(recording, allowed):
        gc.collect()  # what is in cycles; a list of what was found would keep it
    leaked = _alive_except(recording, allowed)
    if leaked:
        node = recording.recorder.node(leaked[0])
        raise CaptureError(
            "a tensor that the function made is kept outside of it (in a list, an attribute or a global)\n"
            f"  made at {node.origin}\n"
            f"  A compiled step gives back what it returns: return the tensor and store it outside. {DONE}"
        )


def _alive_except(recording: Recording, allowed: set[int]) -> list[Tensor]:
    return [t for t in recording.alive() if id(t) not in allowed and id(t.base) not in allowed]


def check_order_of_hooks(recording: Recording) -> None:
    """CaptureError where leaves have hooks: one node for the whole call does not call them in the eager order."""
    results = [leaf for _, leaf in leaves(recording.result) if is_a(leaf, Tensor)]
    if any(result.requires_grad for result in results):
        for root in recording.recorder.roots:
            if root.requires_grad and hooks_on(root.array):
                raise refusal(
                    f"{root.node.label} has hooks, which run in the eager order",
                    f"in {recording.name}",
                    "Remove them to have a program: Python runs at each call as long as they are there.",
                )


def forget(recording: Recording) -> None:
    """A recording of which no program comes ends now: it is full of cycles, and would keep all that the function can
    reach alive until garbage is collected. Finalisers and weak references show that."""
    vars(recording).clear()
