"""PyTorch's old constructors, one for each element type: ``FloatTensor([1, 2])``, ``LongTensor(2, 3)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.types import DType, bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, uint8
from .creation import empty, tensor
from .device import as_device
from .tensor import Size, Tensor

if TYPE_CHECKING:
    from .calling.annotations import DeviceLike


class _OfType(type):
    """Instances are tensors of the type, so that ``isinstance(x, tg.LongTensor)`` tells it."""

    dtype: DType

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


class _Legacy(metaclass=_OfType):
    dtype = float32

    def __new__(cls, *args: Any, device: DeviceLike | None = None) -> Tensor:  # type: ignore[misc]
        if device is not None and as_device(device).type != "cpu":
            raise RuntimeError(
                f"legacy constructor expects device type: cpu but device type: {as_device(device).type} was passed. "
                "Leave it out."
            )
        if len(args) != 1 or isinstance(args[0], (int, np.integer, Size)):
            return empty(*(args or (0,)), dtype=cls.dtype)
        data = args[0]
        if not isinstance(data, Tensor):
            return tensor(data, dtype=cls.dtype)
        if data.dtype is not cls.dtype:
            raise TypeError(f"{cls.__name__} expected a tensor of {cls.dtype!r}, got {data.dtype!r}; use .to() instead")
        return data.detach()


class FloatTensor(_Legacy):
    """PyTorch's old constructor for float32: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.FloatTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.FloatTensor([1, 0])
    >>> x.dtype, tg.FloatTensor(2, 3).shape, isinstance(x, tg.FloatTensor)
    (tracegrad.float32, tracegrad.Size([2, 3]), True)
    """

    dtype = float32


class DoubleTensor(_Legacy):
    """PyTorch's old constructor for float64: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.DoubleTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.DoubleTensor([1, 0])
    >>> x.dtype, tg.DoubleTensor(2, 3).shape, isinstance(x, tg.DoubleTensor)
    (tracegrad.float64, tracegrad.Size([2, 3]), True)
    """

    dtype = float64


class IntTensor(_Legacy):
    """PyTorch's old constructor for int32: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.IntTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.IntTensor([1, 0])
    >>> x.dtype, tg.IntTensor(2, 3).shape, isinstance(x, tg.IntTensor)
    (tracegrad.int32, tracegrad.Size([2, 3]), True)
    """

    dtype = int32


class LongTensor(_Legacy):
    """PyTorch's old constructor for int64: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.LongTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.LongTensor([1, 0])
    >>> x.dtype, tg.LongTensor(2, 3).shape, isinstance(x, tg.LongTensor)
    (tracegrad.int64, tracegrad.Size([2, 3]), True)
    """

    dtype = int64


class ByteTensor(_Legacy):
    """PyTorch's old constructor for uint8: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.ByteTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.ByteTensor([1, 0])
    >>> x.dtype, tg.ByteTensor(2, 3).shape, isinstance(x, tg.ByteTensor)
    (tracegrad.uint8, tracegrad.Size([2, 3]), True)
    """

    dtype = uint8


class CharTensor(_Legacy):
    """PyTorch's old constructor for int8: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.CharTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.CharTensor([1, 0])
    >>> x.dtype, tg.CharTensor(2, 3).shape, isinstance(x, tg.CharTensor)
    (tracegrad.int8, tracegrad.Size([2, 3]), True)
    """

    dtype = int8


class ShortTensor(_Legacy):
    """PyTorch's old constructor for int16: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.ShortTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.ShortTensor([1, 0])
    >>> x.dtype, tg.ShortTensor(2, 3).shape, isinstance(x, tg.ShortTensor)
    (tracegrad.int16, tracegrad.Size([2, 3]), True)
    """

    dtype = int16


class HalfTensor(_Legacy):
    """PyTorch's old constructor for float16: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.HalfTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.HalfTensor([1, 0])
    >>> x.dtype, tg.HalfTensor(2, 3).shape, isinstance(x, tg.HalfTensor)
    (tracegrad.float16, tracegrad.Size([2, 3]), True)
    """

    dtype = float16


class BFloat16Tensor(_Legacy):
    """PyTorch's old constructor for bfloat16: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.BFloat16Tensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what
    is meant.

    >>> import tracegrad as tg
    >>> x = tg.BFloat16Tensor([1, 0])
    >>> x.dtype, tg.BFloat16Tensor(2, 3).shape, isinstance(x, tg.BFloat16Tensor)
    (tracegrad.bfloat16, tracegrad.Size([2, 3]), True)
    """

    dtype = bfloat16


class BoolTensor(_Legacy):
    """PyTorch's old constructor for bool: of data in a list or an array, or of sizes (zeros here).

    ``isinstance(x, tg.BoolTensor)`` asks for the type. TypeError for a tensor of another type; `tensor` says what is
    meant.

    >>> import tracegrad as tg
    >>> x = tg.BoolTensor([1, 0])
    >>> x.dtype, tg.BoolTensor(2, 3).shape, isinstance(x, tg.BoolTensor)
    (tracegrad.bool, tracegrad.Size([2, 3]), True)
    """

    dtype = bool_


#: The constructors' types by their names.
LEGACY_TENSORS = {kind.__name__: kind.dtype for kind in _Legacy.__subclasses__()}
