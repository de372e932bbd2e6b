"""Which objects are sequences as an index: all of Python's protocol, as PyTorch asks ``PySequence_Check``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..tensor import Tensor

#: What an index is made of besides, by class; what other libraries give as an array is no sequence either.
_KNOWN = (int, float, complex, list, tuple, range, slice, str, Tensor, np.ndarray, np.generic, Mapping)


def is_other_sequence(value: Any) -> bool:
    """Whether `value` is a sequence of a class that is none of the usual ones: a deque, a UserList, a program's own.

    Such an object is one before it is a number, whether it has ``__index__`` or not.
    """
    kind = type(value)
    if isinstance(value, _KNOWN) or value is None or value is Ellipsis:
        return False
    return hasattr(kind, "__getitem__") and hasattr(kind, "__len__") and not hasattr(kind, "__array__")


def as_list(value: Any) -> Any:
    """Such a sequence as a list, whatever else as it is."""
    if not is_other_sequence(value):
        return value
    if isinstance(value, (bytes, bytearray)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    return [value[i] for i in range(len(value))]
