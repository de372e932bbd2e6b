"""Whether two tensors share elements in memory, by PyTorch's rule, and the refusal of writes where they do.

The rule knows tensors without gaps alone: these overlap in full where they begin and end at one place and have the same
strides, and in part where their ranges meet otherwise. Of others it tells nothing, and they pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..array import Array

_MESSAGE = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


def refuse_overlap(target: Any, operands: Iterable[Any], also_in_full: bool = False) -> None:
    """RuntimeError where one of the operands that are tensors shows a part of target's memory.

    A view of the very elements may be read while they are written, unless `also_in_full`.
    """
    whole = target.buffer.whole
    for other in operands:
        if isinstance(other, Array) and other.buffer.whole is whole:
            if also_in_full if other is target else overlaps(target.ndarray, other.ndarray, also_in_full):
                raise RuntimeError(_MESSAGE)


def overlaps(array: np.ndarray, other: np.ndarray, also_in_full: bool = False) -> bool:
    """Whether two views of one memory overlap in part, or (where that counts) in full."""
    if not (array.size and other.size and _is_dense(array) and _is_dense(other)):
        return False
    mine, theirs = (x.__array_interface__["data"][0] for x in (array, other))
    if mine == theirs and array.nbytes == other.nbytes:
        return also_in_full or _strides(array) != _strides(other)
    return bool(mine < theirs + other.nbytes and theirs < mine + array.nbytes)


def _is_dense(array: np.ndarray) -> bool:
    """Whether each element between the first and the last one in memory is shown, once."""
    expected = array.itemsize
    for stride, extent in sorted(zip(array.strides, array.shape, strict=True)):
        if extent > 1:
            if stride != expected:
                return False
            expected *= extent
    return True


def _strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple([stride // array.itemsize for stride in array.strides])
