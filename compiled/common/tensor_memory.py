"""A tensor as compiled calls see it: layout and address, found once for each numpy array; owner; hooks; attributes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...ops.array import Array
from ...ops.exposure import owner_of
from ...ops.layouts.orders import own_strides, suggested_order
from ...runtime.program import address_of
from ...tensors.tensor import Tensor


class Layout(NamedTuple):
    """Equal layouts are one object, so they are compared with ``is``."""

    shape: tuple[int, ...]
    dtype: np.dtype
    contiguous: bool  # and aligned
    writeable: bool
    strides: tuple[int, ...]  # unless they are a new array's, which suggests no other format: results' show them
    inference: bool  # made in inference mode: autograd saves no such tensor


_layouts: dict[Layout, Layout] = {}

Memory = tuple[np.ndarray, Layout, int, int]


def memory_of(tensor: Tensor) -> Memory:
    """The numpy array, its layout, its address, its owner; remembered while the tensor shows the same array."""
    known: Memory | None = tensor.memory
    if known is not None and known[0] is tensor.ndarray:
        return known
    array = tensor.ndarray
    flags = array.flags
    contiguous = flags.c_contiguous and flags.aligned
    strides = () if contiguous and 1 not in array.shape else own_strides(array) or ()
    if array.ndim > 3 and suggested_order(array) is not None:
        strides = array.strides
    is_inference = tensor.buffer.version < 0  # asked of no subclass
    layout = Layout(array.shape, array.dtype, contiguous, flags.writeable, strides, is_inference)
    tensor.memory = found = (array, _layouts.setdefault(layout, layout), address_of(array), owner_of(array))
    return found


def watch_history(tensor: Tensor) -> None:
    """Let writes that give `tensor` a history be counted: they are where something is remembered of its memory, or of
    its base's, through which it may get one as well."""
    if type(tensor).ndarray is not Array.ndarray:  # type: ignore[misc]
        return  # it has no memory yet, and is of another class once it has
    memory_of(tensor)
    if tensor.base is not None:
        memory_of(tensor.base)


def hooks_on(tensor: Any) -> tuple[int, ...]:
    """The hooks of a leaf, by number."""
    return (*tensor.leaf_hooks, *tensor.post_accumulate_hooks)


def users_attributes(tensor: Any) -> dict[str, Any]:
    """What users have set on a tensor: all that is not the library's own, which has no methods among it."""
    kind, own = type(tensor), getattr(tensor, "__dict__", {})
    return {name: value for name, value in own.items() if not hasattr(kind, name) or callable(getattr(kind, name))}
