"""``x[key] = value`` in plain eager mode: numpy's own assignment, where no history is concerned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.array import repeated_axes
from ...ops.core import switch
from ...ops.types import number_in
from ...tape.direct import FLOAT32, FLOAT64, INT64, number_at_once
from ..calling.assigned import as_assigned
from ..calling.numpy_index import numpy_index, picks
from ..data import fitting
from ..in_place import is_plain
from ..operands import PLAIN_TENSORS

#: What the general way raises in words of its own.
REFUSALS = (IndexError, ValueError, RuntimeError, OverflowError, TypeError)
_USUAL = (int, float)


def write_at_once(x: Any, key: Any, value: Any) -> bool:
    """``x[key] = value`` of plain tensors, or a number, where nobody records. False, with nothing done, where it takes
    the ops: for other keys, and where these say what is wrong."""
    is_tensor = type(value) in PLAIN_TENSORS
    if switch.stack or not (is_plain(x, value) if is_tensor else is_plain(x)):
        return False
    array = x.ndarray
    flags = array.flags
    if not flags.writeable or not (flags.c_contiguous or not repeated_axes(array)):
        return False
    try:
        place = numpy_index(key)
        if type(key) is not int and picks(place):
            place = place_apart(place, array)
        array[place] = apart(value.ndarray, array) if is_tensor else as_element(value, x)
    except REFUSALS:
        return False
    x.buffer.version += 1
    return True


def as_element(value: Any, x: Any) -> Any:
    """One of Python's numbers as an element of `x`."""
    of, dtype = x.ndarray.dtype, x.dtype
    if type(value) in _USUAL and (of is FLOAT32 or of is INT64 or of is FLOAT64):
        found = number_at_once(value, of)
        if found is not None:
            return found
    return number_in(fitting(as_assigned(value, dtype), dtype), dtype)


def place_apart(place: Any, array: np.ndarray) -> Any:
    """`apart` for all that picks in a numpy index."""
    return tuple([apart(each, array) for each in place]) if type(place) is tuple else apart(place, array)


def apart(values: Any, array: np.ndarray) -> Any:
    """`values`; ValueError where they may be of array's memory: the ops tell whether that can be written."""
    if type(values) is np.ndarray and np.may_share_memory(values, array):
        raise ValueError("shared memory")
    return values
