"""Element types, devices, sizes: what a tensor is, and the same numbers as something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.identity import copy
from ..ops.pointwise import cast
from ..ops.types import DType, bool_, float32, float64, int32, int64
from ..tensors.device import CPU, device, require_cpu
from ..tensors.tensor import Tensor
from ..tracing.watch import forbid

#: The names of tensor types that ``x.type("...")`` takes and gives.
LEGACY_NAMES = {
    "FloatTensor": float32,
    "DoubleTensor": float64,
    "IntTensor": int32,
    "LongTensor": int64,
    "BoolTensor": bool_,
}


def to(input: Any, *args: Any, **kwargs: Any) -> Any:
    """`input` as another element type (``to(tg.float64)``, ``to(other)``); ``to("cpu")`` is `input` itself."""
    dtype = kwargs.get("dtype")
    places = [kwargs.get("device")]
    for argument in args:
        if isinstance(argument, DType):
            dtype = argument
        elif isinstance(argument, Tensor):
            dtype = argument.dtype
        elif isinstance(argument, (str, device)):
            places.append(argument)
    for place in places:
        require_cpu(place)
    if dtype is None or dtype is input.dtype:
        return copy(input) if kwargs.get("copy") else input
    return cast(input, dtype)


def _conversion(dtype: DType) -> Callable[[Any], Any]:
    def convert(input: Any) -> Any:
        return input if input.dtype is dtype else cast(input, dtype)

    convert.__name__ = convert.__qualname__ = f"to_{dtype.name}"
    convert.__doc__ = f"`input` as {dtype.name}; itself if it is that already."
    return convert


to_float, to_double, to_int, to_long, to_bool = map(_conversion, (float32, float64, int32, int64, bool_))


def type(input: Any, dtype: Any = None) -> Any:
    """The name of the tensor's type, or `input` converted to `dtype` (a type or such a name)."""
    if dtype is None:
        name = next(name for name, known in LEGACY_NAMES.items() if known is input.dtype)
        return f"tracegrad.{name}"
    if isinstance(dtype, str):
        name = dtype.rpartition(".")[2]
        if name not in LEGACY_NAMES:
            raise ValueError(f"invalid type: {dtype!r}; the names are {', '.join(LEGACY_NAMES)}")
        dtype = LEGACY_NAMES[name]
    return to(input, getattr(dtype, "dtype", dtype))


def type_as(input: Any, other: Any) -> Any:
    """`input` in the element type of `other`."""
    return to(input, other.dtype)


def cpu(input: Any) -> Any:
    """`input` itself: everything is on the CPU."""
    return input


def cuda(input: Any, device: Any = None) -> Any:
    """RuntimeError: there is no other device than the CPU."""
    require_cpu("cuda")


def size(input: Any, dim: int | None = None) -> Any:
    """The shape, or one extent of it."""
    shape = input.shape
    if dim is None:
        return shape
    limit = max(len(shape), 1)
    if not shape or not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return shape[dim]


def numel(input: Any) -> int:
    """How many elements there are."""
    return int(input.ndarray.size)


def dim(input: Any) -> int:
    """How many axes there are."""
    return int(input.ndarray.ndim)


def stride(input: Any, dim: int | None = None) -> Any:
    """How many elements lie between neighbours along each axis (or along `dim`)."""
    strides = tuple(s // input.ndarray.itemsize for s in input.ndarray.strides)
    return strides if dim is None else strides[dim]


def is_contiguous(input: Any, memory_format: Any = None) -> bool:
    """Whether the elements lie in row-major order without gaps."""
    return bool(input.ndarray.flags.c_contiguous)


def element_size(input: Any) -> int:
    """Bytes of one element."""
    return int(input.ndarray.itemsize)


def data_ptr(input: Any) -> int:
    """The address of the first element."""
    forbid("data_ptr()", "Read it outside.")
    return int(input.ndarray.ctypes.data)


def storage_offset(input: Any) -> int:
    """How many elements lie between the start of the memory and the first element."""
    return int(input.ndarray.ctypes.data - input.buffer.whole.ctypes.data) // int(input.ndarray.itemsize)


def is_floating_point(input: Any) -> bool:
    """Whether the element type is floating."""
    return bool(input.dtype.is_floating_point)


def get_device(input: Any) -> int:
    """-1: the CPU."""
    return -1


def device_of(input: Any) -> device:
    """The CPU."""
    return CPU
