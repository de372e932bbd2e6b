"""Where the elements of a product lie in an array that only moves them: heads side by side, queries beside keys."""

from __future__ import annotations

import numpy as np

from ....ops.movement import concatenate_primitive, reshape_primitive, transpose_primitive
from ...graph import Node

MOVING = (reshape_primitive, transpose_primitive, concatenate_primitive)
Strides = tuple[int, tuple[int, ...]]


def moved(node: Node) -> set[Node]:
    """What `node` is made of by movement alone."""
    found: set[Node] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.op in MOVING:
            pending.extend(current.args)
        else:
            found.add(current)
    return found


def placed_in(node: Node, part: Node) -> Strides | None:
    """Offset and strides, in elements, of all of `part` in the memory of `node`; None where it lies in no such order,
    or more than once."""
    # An array that nobody reads: numpy knows which reshapes of a part of memory are strides.
    whole = np.empty(node.type.shape, np.int8)
    found = list(_places(node, part, whole))
    if len(found) != 1 or found[0] is None:
        return None
    return found[0].ctypes.data - whole.ctypes.data, found[0].strides


def _places(node: Node, part: Node, memory: np.ndarray) -> list[np.ndarray | None]:
    if node is part:
        return [memory]
    if node.op is transpose_primitive:
        permutation = node.param("permutation")
        return _places(node.args[0], part, memory.transpose(np.argsort(permutation)))
    if node.op is reshape_primitive:
        shown = memory.reshape(node.args[0].type.shape)
        if np.may_share_memory(shown, memory):
            return _places(node.args[0], part, shown)
        return [None] if part in moved(node) else []
    if node.op is not concatenate_primitive:
        return []
    axis, start, found = node.param("axis"), 0, []
    for arg in node.args:
        extent = arg.type.shape[axis]
        part_of = (*[slice(None)] * axis, slice(start, start + extent))
        found += _places(arg, part, memory[part_of])
        start += extent
    return found
