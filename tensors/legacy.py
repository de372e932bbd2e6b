"""PyTorch's old constructors, one for each element type: ``FloatTensor([1, 2])``, ``LongTensor(2, 3)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.types import DType, bool_, float32, float64, int32, int64
from .creation import empty, tensor
from .tensor import Size, Tensor


class _OfType(type):
    """Instances are tensors of the type, so that ``isinstance(x, tg.LongTensor)`` tells it."""

    dtype: DType

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


class _Legacy(metaclass=_OfType):
    dtype = float32

    def __new__(cls, *args: Any) -> Any:
        if len(args) != 1 or isinstance(args[0], (int, np.integer, Size)):
            return empty(*(args or (0,)), dtype=cls.dtype)
        data = args[0]
        if not isinstance(data, Tensor):
            return tensor(data, dtype=cls.dtype)
        if data.dtype is not cls.dtype:
            raise TypeError(f"{cls.__name__} expected a tensor of {cls.dtype!r}, got {data.dtype!r}; use .to() instead")
        return data.detach()


class FloatTensor(_Legacy):
    """float32 from a list or of given sizes."""

    dtype = float32


class DoubleTensor(_Legacy):
    """float64 from a list or of given sizes."""

    dtype = float64


class IntTensor(_Legacy):
    """int32 from a list or of given sizes."""

    dtype = int32


class LongTensor(_Legacy):
    """int64 from a list or of given sizes."""

    dtype = int64


class BoolTensor(_Legacy):
    """bool from a list or of given sizes."""

    dtype = bool_
