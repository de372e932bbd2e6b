"""``x[key] = value`` in plain eager mode where a history is concerned: numpy's own assignment and one node, where the
ops would make all of `x` anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.array import Buffer, repeated_axes
from ...ops.core import at_once, switch
from ...ops.identity import copy
from ...ops.indexing import put_primitive
from ...ops.movement import reshape, update_slice_primitive
from ...ops.vjp import unbroadcast
from ...tape.direct import FLOAT32, FLOAT64
from ...tape.grad_mode import switches
from ...tape.placed import PlacedNode
from ...tape.saved import packing
from ...tape.tangents import levels
from ...tracing.watch import local
from ..calling.numpy_index import index_tensors, numpy_index, picks, region_and_picks
from ..operands import PLAIN_TENSORS
from ..tensor import make
from .at_once import REFUSALS, apart, as_element
from .picked import with_tensors


def write_followed(x: Any, key: Any, value: Any) -> bool:
    """``x[key] = value`` of plain tensors, or a number, where `x` or `value` has a history and nobody records. False,
    with nothing done, where it takes the ops: for other keys, for views, and where these say what is wrong."""
    is_tensor = type(value) in PLAIN_TENSORS
    follows_x, follows_value = x._node is not None, is_tensor and value.requires_grad
    if not (follows_x or follows_value) or not _is_followed(x):
        return False
    array = x.ndarray
    if is_tensor and value.ndarray.dtype is not array.dtype:
        return False
    try:
        place = numpy_index(key)
        node = _node_of(x, key, value, place, (0,) * follows_x + (1,) * follows_value)
        array[place] = apart(value.ndarray, array) if is_tensor else as_element(value, x)
    except REFUSALS:
        return False
    x.buffer.version += 1
    whole = make(array)
    whole._node = node
    x.rebase(whole)
    return True


def _is_followed(x: Any) -> bool:
    """Whether writes to `x`, in which a history is concerned, are one node: of what is no view, no leaf, and has
    elements of its own."""
    if switch.stack or not switches.enabled or type(x) not in PLAIN_TENSORS or x._base is not None or x.view_of_several:
        return False
    array = x.ndarray
    if x._requires and x._node is None or array.dtype is not FLOAT32 and array.dtype is not FLOAT64:
        return False
    if local.watcher is not None or levels.open is not None or packing.hooks:
        return False
    flags = array.flags
    if not flags.writeable or not (flags.c_contiguous or not repeated_axes(array)):
        return False
    return type(x.buffer) is Buffer and x.buffer.version >= 0


def _node_of(x: Any, key: Any, value: Any, place: Any, on: tuple[int, ...]) -> PlacedNode:
    """The node of `x` after the write; IndexError for indices that the write would change."""
    is_put = type(key) is not int and picks(place)
    indices = index_tensors(key) if is_put else ()
    for index in indices:
        if index.buffer is x.buffer:
            raise IndexError
    is_whole = is_put and region_and_picks(place, x.ndarray.shape)[0] is None
    title, primitive = ("IndexPutBackward0", put_primitive) if is_whole else ("CopySlices", update_slice_primitive)
    shape = value.ndarray.shape if 1 in on else ()
    return PlacedNode.at(indices, title, primitive, (x, value), x, on, _before_write, place, shape)


def _before_write(
    g: Any, wanted: Sequence[bool], indices: Sequence[Any], place: Any, shape: tuple[int, ...]
) -> list[Any]:
    """The cotangents of what was written to, which has none where it was overwritten, and of what was written there."""
    interpreter = at_once(g)
    of_x = of_value = None
    if interpreter is None:
        key = with_tensors(place, indices)
        if wanted[0]:
            of_x = copy(g)
            of_x[key] = 0.0
        part = g[key] if wanted[1] else None
    else:
        if wanted[0]:
            zeroed = np.array(g.ndarray, order="K")
            zeroed[place] = 0
            of_x = interpreter.literal(zeroed)
        part = interpreter.literal(np.array(g.ndarray[place], order="C")) if wanted[1] else None
    if part is not None:
        extra = max(len(shape) - part.ndarray.ndim, 0)
        of_value = unbroadcast(part, shape[extra:])
        of_value = reshape(of_value, shape) if extra else of_value
    return [of_x, of_value]
