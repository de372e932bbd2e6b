"""PyTorch's legacy constructor: ``Tensor(2, 3)``, ``Tensor([1, 2])``, and subclasses called alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..ops.array import eager
from ..ops.types import DType, get_default_dtype
from .device import require_cpu
from .foreign.arrays import refuse_layout
from .overriding import forbid_in_recording
from .size import Size
from .subclass import alias_of, in_class

S = TypeVar("S")  # a class of tensors, as editors see it


class _Reading:
    """How sequences are read: by `data`, which knows tensors, and puts itself here."""

    values_of: Callable[[Any, DType], np.ndarray]


reading = _Reading()


def constructed(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """PyTorch's legacy constructor of `Tensor` and its subclasses."""
    require_cpu(kwargs.pop("device", None))
    args = (*args, *(kwargs.pop(name) for name in ("data", "size") if name in kwargs))
    if kwargs:
        raise TypeError(
            f"new() received an invalid combination of arguments: {', '.join(kwargs)}. "
            "Use tracegrad.tensor(data, dtype=..., requires_grad=...), and .as_subclass(cls) for a class."
        )
    if cls is not cls.tensor_class:
        forbid_in_recording(cls, "the constructor")
    if len(args) == 1 and isinstance(args[0], cls.tensor_class):
        return in_class(alias_of(args[0]), cls)
    return in_class(eager().literal(_constructor_data(args)), cls)


def _constructor_data(args: tuple[Any, ...]) -> np.ndarray:
    if len(args) == 1 and isinstance(args[0], Size):
        args = tuple(args[0])
    if len(args) == 1 and isinstance(args[0], (list, tuple, range, np.ndarray)):
        refuse_layout(args[0])
        if not isinstance(args[0], np.ndarray):
            values: np.ndarray = reading.values_of(args[0], get_default_dtype())
            return values
        return np.array(args[0], dtype=get_default_dtype().numpy)
    if all(isinstance(a, (int, np.integer)) and not isinstance(a, bool) for a in args):
        return np.empty(args if args else (0,), get_default_dtype().numpy)
    kinds = ", ".join(type(a).__name__ for a in args)
    if len(args) > 1:
        problem = f"new() received an invalid combination of arguments - got ({kinds})"
    elif isinstance(args[0], str):
        problem = f"new(): invalid data type {kinds!r}"
    else:
        problem = f"new(): data must be a sequence (got {kinds})"
    raise TypeError(
        f"{problem}. Tensor(...) takes sizes or a list; "
        "use tracegrad.tensor(data, requires_grad=True) for a tensor that holds this value."
    )
