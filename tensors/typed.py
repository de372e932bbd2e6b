"""What tensors are, asked by programs: their types' categories, what may be converted; and tensors from raw memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.types import DType, array_in, get_default_dtype, set_default_dtype
from ..tracing.user_warning import warn_once, warn_user
from .creation import from_numpy, full, tensor
from .data import as_element, refuse_recording
from .device import require_cpu
from .layouts.formats import factory
from .legacy import LEGACY_TENSORS
from .tensor import Tensor

if TYPE_CHECKING:
    from .calling.annotations import DeviceLike, Number


def can_cast(from_: DType, to: DType) -> bool:
    """Whether PyTorch converts results of one type to another by itself: never to a lower category (float to int).

    >>> import tracegrad as tg
    >>> tg.can_cast(tg.float64, tg.float32), tg.can_cast(tg.float32, tg.int64)
    (True, False)
    """
    return not from_.category > to.category


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element of `input` is not zero. RuntimeError if there is not one element.

    >>> import tracegrad as tg
    >>> tg.is_nonzero(tg.tensor([0.5]))
    True
    """
    if input.ndarray.size != 1:
        what = "no values" if input.ndarray.size == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous. Use .any() or .all().")
    return bool(input)


def is_signed(input: Tensor) -> bool:
    """Whether the element type has negative numbers: not bool and uint8.

    >>> import tracegrad as tg
    >>> tg.is_signed(tg.ones(2)), tg.is_signed(tg.ones(2, dtype=tg.uint8))
    (True, False)
    """
    return bool(input.dtype.is_signed)


def typename(obj: object) -> str:
    """The name of a tensor's type, as ``tensor.type()`` has it, or of a class or any other object's class.

    >>> import tracegrad as tg
    >>> tg.typename(tg.ones(2)), tg.typename(1.5)
    ('tracegrad.FloatTensor', 'float')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    of = obj if isinstance(obj, type) else type(obj)
    module = of.__module__
    return of.__qualname__ if module in ("builtins", None) else f"{module}.{of.__qualname__}"


@factory
def scalar_tensor(
    s: Number, *, dtype: DType | None = None, device: DeviceLike | None = None, requires_grad: bool = False
) -> Tensor:
    """A 0-d tensor that holds a number, of the default floating type unless `dtype` is given.

    RuntimeError for a number that the type cannot hold.

    >>> import tracegrad as tg
    >>> tg.scalar_tensor(3)
    tensor(3.)
    """
    of = dtype or get_default_dtype()
    return full((), as_element(s, of), dtype=of, device=device, requires_grad=requires_grad)


@factory
def asarray(
    obj: object,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """`obj` (a tensor, a numpy array, a buffer, numbers) as a tensor, sharing its memory where `copy` is None or False.

    `dtype` converts, which takes a copy. It requires grad as `obj` does, unless `requires_grad` says otherwise.
    ValueError where `copy` is False and sharing is not possible.

    >>> import tracegrad as tg
    >>> x = tg.ones(2)
    >>> tg.asarray(x).data_ptr() == x.data_ptr(), tg.asarray([1, 2])
    (True, tensor([1, 2]))
    """
    require_cpu(device)
    shared = _sharing(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor. Leave out copy=False.")
        return tensor(obj, dtype=dtype, requires_grad=bool(requires_grad))
    if dtype is not None and shared.dtype is not dtype:
        if copy is False:
            types = f"'{shared.dtype.title}' into dtype '{dtype.title}'"
            raise ValueError(f"can't alias tensor with dtype {types}. Leave out copy=False.")
        out = shared.to(dtype)
    else:
        out = shared.clone() if copy else shared
    if requires_grad is None or requires_grad == out.requires_grad:
        return out
    return out.requires_grad_() if requires_grad else out.detach()


def _sharing(obj: Any, dtype: DType | None) -> Any:
    """A tensor over the memory of `obj`; None if that has no memory of numbers."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, (np.ndarray, np.generic)):
        return from_numpy(np.asarray(obj))
    if isinstance(obj, (bytes, bytearray, memoryview)):
        return frombuffer(obj, dtype=dtype or get_default_dtype())
    return None


@factory
def frombuffer(
    buffer: object, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-d tensor over the memory of an object with a buffer (bytes, an array), from byte `offset` on.

    `count` elements of the type `dtype`, or all that there are. ValueError for sizes that do not fit. Over read-only
    memory such as bytes the tensor is read-only, with a warning.

    >>> import tracegrad as tg
    >>> tg.frombuffer(bytearray([1, 2, 3]), dtype=tg.uint8, offset=1)
    tensor([2, 3], dtype=tracegrad.uint8)
    """
    refuse_recording("frombuffer()")
    given: Any = buffer
    try:
        memory = memoryview(given).cast("B")
    except TypeError:
        kind = type(buffer).__name__
        raise ValueError(f"object does not implement Python buffer protocol. Got {kind}; use tensor().") from None
    length, size = len(memory), dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
            f"size ({size})"
        )
    if count > 0 and offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    values = np.frombuffer(memory, np.uint8, count * size if count > 0 else -1, offset).view(dtype.numpy)
    out = from_numpy(values)
    return out._begin_as_leaf() if requires_grad else out


@factory
def range_(
    start: float,
    end: float,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` up to and including `end`, of the default floating type unless `dtype` is given.

    Deprecated in PyTorch: `arange` leaves the end out, as Python does. RuntimeError for a `step` of 0 or one that leads
    away from `end`.

    >>> import tracegrad as tg
    >>> tg.range(1, 3)
    tensor([1., 2., 3.])
    """
    require_cpu(device)
    warn_user(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    of = dtype or get_default_dtype()
    count = math.floor((end - start) / step) + 1
    values = start + np.arange(count) * step
    out = tensor(array_in(values, of).tolist(), dtype=of)
    return out._begin_as_leaf() if requires_grad else out


range_.__name__ = range_.__qualname__ = "range"


def set_default_tensor_type(t: type | str) -> None:
    """`set_default_dtype` by the name of a tensor type (``"DoubleTensor"``, with or without a module), or by a class.

    TypeError for what is no such type, and for types on other devices.

    >>> import tracegrad as tg
    >>> tg.set_default_tensor_type(tg.DoubleTensor)
    >>> tg.ones(1).dtype
    tracegrad.float64
    >>> tg.set_default_tensor_type("torch.FloatTensor")
    """
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    name = t.rpartition(".")[2] if isinstance(t, str) else getattr(t, "__name__", str(t))
    if ".cuda" in (t if isinstance(t, str) else str(getattr(t, "__module__", ""))):
        raise TypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")
    if name not in LEGACY_TENSORS:
        raise TypeError(f"invalid type object: {t!r}; the types are {', '.join(LEGACY_TENSORS)}")
    set_default_dtype(LEGACY_TENSORS[name])
