"""How a tensor stands in files of tracegrad's own former format: its storage (element type, shape, bytes), and the
view steps that lead from it.

Tensors that show the same memory name the same storage, so they share memory again after loading. The functions here
are what such a file names; they check all that they are given, since a file may hold anything.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ops.array import Buffer, shows
from ..ops.core import Primitive, Step
from ..ops.memory import aligned_empty
from ..ops.movement import reshape_primitive, slice_primitive, transpose_primitive
from ..ops.types import Type, dtype_named, dtype_of
from ..tensors.tensor import Tensor, make

#: The view operations that a file may name, with the parameters in their order.
VIEWS: dict[str, tuple[Primitive, tuple[str, ...]]] = {
    "reshape": (reshape_primitive, ("shape",)),
    "transpose": (transpose_primitive, ("permutation",)),
    "slice": (slice_primitive, ("starts", "stops", "steps")),
}

#: The classes of tensors that a file may name, by the name that stands in it.
CLASSES: dict[str, type[Tensor]] = {}


def restorable(kind: type[Tensor]) -> None:
    """Let files name `kind`, which is Tensor itself or is made by ``kind(tensor, requires_grad)``."""
    CLASSES[f"{kind.__module__}.{kind.__qualname__}"] = kind


restorable(Tensor)


class Storage:
    """One piece of memory, while it is loaded: the buffer that all its tensors share."""

    __slots__ = ("buffer",)

    def __init__(self, whole: np.ndarray) -> None:
        self.buffer = Buffer(whole)


def storage(dtype: str, shape: tuple[int, ...], order: tuple[int, ...], data: bytes) -> Storage:
    """Memory of that type and shape with `data` in it; `order` lists the axes from the largest stride to the smallest.

    ValueError if the shape does not need exactly these bytes.
    """
    kind = dtype_named(dtype).numpy
    _require_sizes(shape)
    if sorted(order) != list(range(len(shape))):
        raise ValueError(f"a storage of shape {shape} has its axes in the order {order}")
    needed = math.prod(shape) * kind.itemsize
    if needed != len(data):
        raise ValueError(f"a storage of type {dtype} and shape {shape} needs {needed} bytes, the file has {len(data)}")
    dense = aligned_empty(tuple(shape[axis] for axis in order), kind)
    given = np.frombuffer(data, np.uint8) != 0 if kind == np.bool_ else np.frombuffer(data, kind.newbyteorder("<"))
    np.copyto(dense, given.reshape(dense.shape))
    return Storage(dense.transpose(np.argsort(order)) if order else dense)


def tensor(kind: type[Tensor], memory: Storage, steps: tuple[Any, ...], requires_grad: bool) -> Tensor:
    """A leaf of class `kind` that shows `memory` through view `steps`: tuples of a name and its parameters.

    ValueError or what the view itself raises for steps that are no view of this memory.
    """
    shown, done = memory.buffer.whole, []
    for name, *values in steps:
        primitive, names = VIEWS[name]
        for value in values:
            _require_sizes(value)
        params = dict(zip(names, values, strict=True))
        primitive.type_rule(Type(dtype_of(shown), shown.shape), **params)
        view = primitive.evaluate(shown, **params)
        if not shows(view, shown):
            raise ValueError(f"{name}{tuple(values)} is no view of a tensor of shape {shown.shape}")
        shown = view
        done.append(Step(primitive, tuple(params.items())))
    made = make(shown, memory.buffer, tuple(done))
    if kind is not Tensor:
        return kind(made, bool(requires_grad))
    return made.requires_grad_() if requires_grad else made


def _require_sizes(sizes: Any) -> None:
    if type(sizes) is not tuple or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError(f"sizes are a tuple of integers from 0 on, the file has {sizes!r}")
