"""In-place writes to tensors: the memory, its version, and what they mean for the tape.

The value is computed as a new tensor first; then it is stored, and the tape goes on from it: for a view, from the base
with the viewed part replaced, so that the gradient reaches the base and every other view of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.array import UNTRACKED, Buffer, eager, require_writable
from ..ops.comparison import where
from ..ops.core import current, is_plain_now, writes_now
from ..ops.identity import copy
from ..ops.memory import read_first
from ..ops.movement import broadcast
from ..ops.pointwise import cast, converted
from ..ops.types import NUMBERS, DType, Type, bool_, broadcast_shapes
from ..ops.views import write_through
from ..tape.grad_mode import is_recording, switches
from ..tape.nodes import PrimitiveNode
from ..tape.selected import declare_write_to_picked
from ..tape.tangents import levels
from ..tape.through import is_one_node, written_in_one
from ..tracing.watch import declare_write, watcher
from .data import fitting
from .operands import PLAIN_TENSORS, number_of
from .written.unfollowed import is_of_custom_function, written_to


def assign(target: Any, value: Any, title: str = "", copies: bool = False) -> Any:
    """Store `value` (a tensor, or a numpy scalar of target's type) in `target`'s memory; returns `target`.

    `title` is what the node of a target that has a history is called then. A target that `copies` a value with a
    history gets a node of its own.
    """
    if _is_plain_write(target, value):
        return _written_plainly(target, value)
    declare_write_to_picked(target.buffer)
    of: Type = target.type_
    value = _fitting(value, of)
    require_writable(target)
    refuse_inference(target)
    tracked = is_recording() and (target.requires_grad or getattr(value, "requires_grad", False))
    if is_recording():
        _refuse_leaves(target, tracked)
    base = target.base
    whole = None
    if tracked and (base is not None or title and (copies or not getattr(value, "requires_grad", False))):
        whole = written_in_one(target, value, title)
    if tracked and whole is None:
        if not getattr(value, "requires_grad", False):
            value = _read_for_nothing(target, value)  # a constant overwrites a value that had a history
        if value.type_.shape != of.shape:
            value = broadcast(value, of.shape)
        if base is not None:
            whole = write_through(base, target.steps_from_base(), value)
            whole.grad_fn.rename("CopySlices")
    declare_write(target, (target if base is None else base) if tracked else None)
    eager().write(target, value)
    if whole is not None:
        (target if base is None else base).rebase(whole)
    elif tracked:
        if title and value.grad_fn is not None:
            value.grad_fn.rename(title)
        target.rebase(value)
    return target


def _written_plainly(target: Any, value: Any) -> Any:
    values = () if isinstance(value, np.generic) else (value,)
    if writes_now(target, *values):
        require_writable(target)
        np.copyto(to := target.ndarray, read_first(value.ndarray, to) if values else value)
        target.buffer.version += 1
    else:
        eager().write(target, value)
    return target


def _is_plain_write(target: Any, value: Any) -> bool:
    """Whether `value`, a number or a tensor of target's shape, is of its type, and nobody records what is written."""
    if isinstance(value, np.generic):
        return value.dtype is target.ndarray.dtype and is_plain(target)
    if type(value) not in PLAIN_TENSORS or value.ndarray.shape != target.ndarray.shape:
        return False
    return is_plain(target, value)


def writes_plainly(target: Any, *values: Any) -> bool:
    """Whether to compute with tensors `values` and write to `target` is no more than that: all are plain ones of one
    type, nobody records, and no history is concerned."""
    return is_plain(target, *values) and is_plain_now(target, *values)


def is_plain(target: Any, *values: Any) -> bool:
    """Whether no history is concerned by a write to `target` of what is made of tensors `values`, all of its type, and
    nobody records it."""
    if watcher() is not None or target.buffer.version < 0 or type(target) not in PLAIN_TENSORS:
        return False
    if type(target.buffer) is not Buffer:  # with conjugates, see `ops.complex_numbers.conjugated`
        return False
    dtype, recorded = target.ndarray.dtype, switches.enabled
    for value in values:
        if type(value) not in PLAIN_TENSORS or value.ndarray.dtype is not dtype or (recorded and value.requires_grad):
            return False
    base = target._base
    return not (recorded and (target.requires_grad or (base is not None and base.requires_grad)))


def refuse_inference(target: Any) -> None:
    """RuntimeError for a tensor of inference mode, outside of that, unless it was detached there and is no view."""
    version = target.buffer.version
    if version < 0 and not switches.inference and (version == UNTRACKED or target.base is not None):
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
            "normal tensor before doing inplace update."
        )


def _read_for_nothing(target: Any, value: Any) -> Any:
    """`value`; the old value of `target` is read with weight zero, so that its gradient is zero, as in PyTorch."""
    return where(current().constant(False, bool_), target, value)


def store(target: Any, value: Any, others: Sequence[Any] = ()) -> Any:
    """`assign` for a `value` computed from `target` and `others`.

    What its derivative needs of the old target is copied first, unless one of the others shows the same memory: then
    the backward pass is an error, as in PyTorch (``y *= y``).
    """
    tracked = is_recording() and value.requires_grad
    tangent = None if levels.open is None else levels.open.tangent_of(value)
    if not tracked and tangent is None:
        return assign(target, value)
    node = value.grad_fn if tracked else None
    if not any(getattr(other, "buffer", None) is target.buffer for other in others):
        _keep_old_value(node, target, others)
        _keep_old_value(None if tangent is None else tangent.grad_fn, target, others)
    assign(target, value)
    if isinstance(node, PrimitiveNode) and target.type_ == value.type_:
        node.moved(value, target)
    return target


def _keep_old_value(node: Any, target: Any, others: Sequence[Any]) -> None:
    """Copy the saved operands that show target's memory in the nodes of this operation: those that came after the nodes
    of all its operands. What the program has computed of `target` before is written to, as in PyTorch."""
    stack, seen = [node], set()
    nodes = [x.grad_fn for x in (target, *others) if hasattr(x, "grad_fn")]
    before = max((each.sequence for each in nodes if each is not None), default=-1)
    while stack:
        node = stack.pop()
        if node is None or node in seen or node.sequence <= before or not isinstance(node, PrimitiveNode):
            continue
        seen.add(node)
        node.let_go(target)
        stack += [edge.node for edge in node.edges if edge.node is not None]


def copy_into(target: Any, source: Any, title: str = "") -> Any:
    """Store `source`, a tensor or a number of any type, in `target`'s memory; returns `target`. `title` as in
    `assign`."""
    if _is_plain_write(target, source):
        return _written_plainly(target, source)
    dtype = target.type_.dtype
    source = number_of(source) if isinstance(source, np.generic) else source
    if isinstance(source, NUMBERS):
        return assign(target, current().constant(fitting(source, dtype), dtype), title or "FillBackward2")
    title = title or "CopyBackwards"
    if not (is_recording() and source.requires_grad):
        return assign(target, converted(source, dtype), title)
    if is_one_node(target):
        return assign(target, converted(source, dtype), title, copies=True)
    # A node of its own: the target must not share hooks and retained gradients with its source.
    value = copy(source) if source.type_.dtype is dtype else converted(source, dtype)
    has_history = target.requires_grad and not target.is_leaf
    return assign(target, _read_for_nothing(target, value) if has_history else value, title)


def require_castable(got: DType, of: DType) -> None:
    """RuntimeError unless results of type `got` may be stored in tensors of type `of`."""
    if got.category > of.category:
        raise RuntimeError(
            f"result type {got.title} can't be cast to the desired output type {of.title}. "
            "Convert explicitly, or write the out-of-place form."
        )


def _fitting(value: Any, of: Type) -> Any:
    """`value` in target's type; errors in PyTorch's words where it cannot be stored."""
    got = current().type_of(value)
    require_castable(got.dtype, of.dtype)
    if broadcast_shapes(of.shape, got.shape) != of.shape:
        raise RuntimeError(
            f"output with shape {list(of.shape)} doesn't match the broadcast shape "
            f"{list(broadcast_shapes(of.shape, got.shape))}. In-place results keep their shape; write x = x + y."
        )
    return value if got.dtype is of.dtype else cast(value, of.dtype)


def _refuse_leaves(target: Any, tracked: bool) -> None:
    """RuntimeError for a write that the tape could not follow; `tracked` if it has a history."""
    base, requires = target.base, target.requires_grad
    if base is not None and (tracked or base.requires_grad):
        if target.viewed_without_grad or target.view_of_several:
            raise written_to(target)
        if base.is_leaf and (requires or base.requires_grad):
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation. "
                "Write to it inside `with tg.no_grad():`, or to a view of a clone()."
            )
    if requires and target.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "Write to it inside `with tg.no_grad():`, or to a clone()."
        )
    if is_of_custom_function(target):  # which has no base, although it shares memory
        raise written_to(target)
