"""Batches in page-locked memory, for a device: without one there is none to copy to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....tensors.tensor import Tensor
from .containers import is_namedtuple, like_mapping, like_sequence


def pin_memory(data: Any, device: Any = None) -> Any:
    """``pin_memory()`` of each tensor inside `data`, and of whatever else has such a method; containers keep their
    class. RuntimeError where a tensor is found, since there is no accelerator. Loaders call it never: with
    ``pin_memory=True`` they warn.

    >>> from tracegrad.utils.data._utils.pin_memory import pin_memory
    >>> pin_memory({"name": "a", "sizes": (1, 2)})
    {'name': 'a', 'sizes': (1, 2)}
    """
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return like_mapping(data, lambda: {key: pin_memory(item, device) for key, item in data.items()})
    if is_namedtuple(data):
        return type(data)(*(pin_memory(item, device) for item in data))
    if isinstance(data, tuple):
        return type(data)(pin_memory(item, device) for item in data)
    if isinstance(data, Sequence):
        return like_sequence(data, lambda: [pin_memory(item, device) for item in data])
    return data
