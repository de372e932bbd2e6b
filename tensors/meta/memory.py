"""What stands for the memory of tensors without numbers: addresses that nothing is ever written to or read from."""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..device import remaking

NO_DATA = "Cannot copy out of meta tensor; no data!"
#: Where the system takes it: the pages are not counted as memory, however many tensors there are.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000) if hasattr(mmap, "MAP_PRIVATE") else 0
#: Smaller pieces come from numpy: the number of mappings of a process is limited.
_LEAST = 1 << 20
#: What numpy may do with such arrays: functions that look at their layout alone.
_OF_LAYOUT = frozenset(
    "broadcast_to can_cast diagonal expand_dims flip may_share_memory moveaxis ndim permute_dims ravel real imag "
    "reshape result_type rollaxis shape shares_memory size squeeze swapaxes transpose as_strided".split()
)


def refuse(purpose: str) -> NoReturn:
    """NotImplementedError for what needs numbers."""
    raise NotImplementedError(f"{NO_DATA} {purpose} needs numbers, and tensors on the device meta have none.")


class Blank(np.ndarray):
    """An array with a layout, and no numbers: whoever computes with it gets an error, and writes to it do nothing."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        refuse(ufunc.__name__)

    def __array_function__(  # type: ignore[override]
        self, func: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        name = func.__name__
        if name == "copyto" and isinstance(args[0], Blank):
            np.broadcast_to(np.empty(np.shape(args[1]), bool), args[0].shape)  # ValueError as of other arrays
            return None
        if name == "empty_like" and isinstance(args[0], Blank):
            return blank_like(args[0], np.dtype(kwargs.get("dtype") or (args[1:] or (args[0].dtype,))[0]))
        if name in _OF_LAYOUT:
            return super().__array_function__(func, types, args, kwargs)
        refuse(name)

    def item(self, *args: Any) -> NoReturn:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors: they have no numbers.")

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if not isinstance(found, Blank):  # one number
            refuse("indexing")
        return found


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(self: Blank, *args: Any, **kwargs: Any) -> NoReturn:
        refuse(f"{name}()")

    return method


#: Methods of arrays in C, which ask no `__array_function__`.
_READING = (
    "argmax argmin argpartition argsort astype byteswap choose compress copy cumprod cumsum dot dump dumps nonzero "
    "partition put repeat round searchsorted sort take tobytes tofile tolist trace __bool__ __complex__ __contains__ "
    "__float__ __index__ __int__ __iter__"
)
for _name in _READING.split():
    setattr(Blank, _name, _refusing(_name))


def blank_array(shape: tuple[int, ...], dtype: np.dtype) -> Blank:
    """An array of that shape in row-major order."""
    size = math.prod(shape) * dtype.itemsize
    if size < _LEAST:
        memory = np.empty(shape, dtype)
        remaking.without_numbers(memory)  # which all views keep alive
    else:
        addresses = _addresses(size)
        memory = np.frombuffer(addresses, dtype).reshape(shape)
        remaking.without_numbers(addresses)
    return memory.view(Blank)


def blank_like(array: np.ndarray, dtype: np.dtype) -> Blank:
    """An array that lies as `array` does where that has its elements side by side, else in row-major order."""
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    laid_out = array.transpose(order)
    if array.flags.c_contiguous or not laid_out.flags.c_contiguous:
        return blank_array(array.shape, dtype)
    back = sorted(range(array.ndim), key=order.__getitem__)
    return blank_array(laid_out.shape, dtype).transpose(back)


def _addresses(size: int) -> mmap.mmap:
    if not _NO_RESERVE:
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
