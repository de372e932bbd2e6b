"""What must not lie behind a result that can still be differentiated: each a CaptureError that says what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...compiler.errors import CaptureError
from ...tape.nodes import AccumulateGrad, PrimitiveNode, Saved
from ...tape.nodes import Node as TapeNode
from ...tape.saved import Packed
from ..common.classes import is_a
from .validity import refusal


def check_history(behind: Iterable[TapeNode]) -> None:
    """CaptureError if the history of a result is more than derivatives of primitives: hooks, a user's backward."""
    for node in behind:
        check_hooks(node)
        if not (node.of_primitives or is_a(node, AccumulateGrad)):
            raise _refused_history(f"a backward of its own ({node.title})", node)
        if is_a(node, PrimitiveNode):
            for kept in node.known.values():
                if is_a(kept, Packed):
                    raise _refused_history("tensors that hooks have saved (saved_tensors_hooks, checkpoint)", node)
                if is_a(kept, Saved) and kept.version != kept.tensor.buffer.version:
                    raise refusal(
                        "one of the variables needed for gradient computation has been modified by an inplace "
                        "operation",
                        f"used at {node.origin}",
                        "Its backward() would fail: clone() the tensor before it is modified.",
                    )


def check_hooks(node: TapeNode) -> None:
    """CaptureError if somebody is told of the gradients of an operation behind a result."""
    if node.tensor_hooks or node.retained or node.pre_hooks or node.post_hooks:
        raise _refused_history("a hook or retain_grad()", node)


def _refused_history(what: str, node: TapeNode) -> CaptureError:
    return refusal(
        f"the history of a result has {what}",
        f"made at {node.origin}",
        "Call backward() inside the compiled function: compile the whole training step.",
    )


def check_ends(behind: Iterable[TapeNode], recording: Any) -> None:
    """CaptureError if the history of a result leads to tensors for which the recorded graph has no input."""
    inputs = {id(root.array) for root in recording.recorder.roots if root.requires_grad}
    for node in behind:
        if is_a(node, AccumulateGrad):
            if id(node.variable) in inputs:
                continue
            name = node.variable.label or "a leaf"
            what = f"the history of a result leads to {name}, whose memory the function has met as another tensor"
            if recording.is_own(node.variable):
                what = "a result can be differentiated with respect to a tensor that the function makes"
        elif recording.is_from_outside(node):
            what = "the history of a result leads to operations that were done before the call"
        else:
            continue
        users = (user for user in behind if any(edge.node is node for edge in user.edges))
        place = next((str(user.origin) for user in users if user.origin is not None), "")
        where = f"at {place}" if place else recording.place_of_result
        raise refusal(what, where, "Call backward() inside, detach() the result, or make the tensor outside.")
