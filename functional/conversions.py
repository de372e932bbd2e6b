"""Element types, devices, sizes: what a tensor is, and the same numbers as something else."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..ops.complex_numbers.conjugated import memory_behind
from ..ops.types import (
    ALL_DTYPES,
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    public_name,
    uint8,
)
from ..tensors.calling.conversions import conversion
from ..tensors.device import CPU, NO_ACCELERATOR, device, require_cpu, require_cuda_name
from ..tensors.layouts.formats import contiguous_format, in_format, is_in_format, memory_format, suggests
from ..tensors.meta.meta_tensor import is_meta, loses_numbers, meta_like
from ..tensors.tensor import Tensor
from ..tracing.watch import forbid
from .elementwise.casting import converted
from .shapes import clone

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike, DTypeLike
    from ..tensors.size import Size

#: The names of tensor types that ``x.type("...")`` takes and gives.
LEGACY_NAMES = {f"{dtype.title}Tensor": dtype for dtype in ALL_DTYPES}


def to(input: Tensor, *args: DTypeLike | DeviceLike | Tensor | bool | memory_format | None, **kwargs: object) -> Tensor:
    """`input` with another element type: ``to(dtype)``, ``to(other)`` for that of a tensor, ``to(device, dtype)``.

    `input` itself where nothing changes, unless ``copy=True``; its gradient is converted back. Keywords: `dtype`,
    `device`, `non_blocking`, `copy`, `memory_format`. TypeError for arguments of other types, RuntimeError for devices.

    >>> import tracegrad as tg
    >>> tg.tensor([1.7, -1.7]).to(tg.int64)
    tensor([ 1, -1])
    """
    wanted = conversion(args, kwargs)
    of = wanted.tensor
    dtype = wanted.dtype if of is None else of.dtype
    place = wanted.device if of is None else "meta" if is_meta(of) else None
    if loses_numbers(input, [place]):
        return meta_like(input, dtype)
    if dtype is None or dtype is input.dtype:
        out = clone(input) if wanted.copy else input
    else:
        out = converted(input, dtype)
    format = wanted.memory_format
    if format is None or (out is input and suggests(input, format)):
        return out
    return in_format(out, format)


#: What conversions to bool, integers and other numbers do, by category.
_ROUNDING = (
    "Numbers other than 0, and NaN, are True",
    "Floating numbers are cut off towards 0, integers beyond the range wrap around",
    "Numbers are rounded to the nearest, beyond the range to infinity; gradients are converted back",
)


def _conversion(dtype: DType, method: str) -> Callable[..., Tensor]:
    def convert(input: Tensor, memory_format: memory_format | None = None) -> Tensor:
        out = input if input.dtype is dtype else converted(input, dtype)
        return out if memory_format is None else in_format(out, memory_format)

    convert.__name__ = convert.__qualname__ = f"to_{dtype.name}"
    convert.__doc__ = f"""`input` with the element type {dtype.name}: itself if it has that, else a copy.

    {_ROUNDING[min(dtype.category, 2)]}. `memory_format` says how the elements of the result lie.

    >>> import tracegrad as tg
    >>> tg.ones(2, dtype=tg.{"int32" if dtype is float32 else "float32"}).{method}().dtype
    tracegrad.{dtype.name}
    """
    return convert


to_float, to_double = _conversion(float32, "float"), _conversion(float64, "double")
to_half, to_bfloat16 = _conversion(float16, "half"), _conversion(bfloat16, "bfloat16")
to_byte, to_char, to_short = _conversion(uint8, "byte"), _conversion(int8, "char"), _conversion(int16, "short")
to_int, to_long, to_bool = _conversion(int32, "int"), _conversion(int64, "long"), _conversion(bool_, "bool")
to_cfloat, to_cdouble = _conversion(complex64, "cfloat"), _conversion(complex128, "cdouble")


def type(input: Tensor, dtype: DTypeLike | str | None = None) -> str | Tensor:
    """The name of the tensor's type, or `input` converted to `dtype` (a type, such a name, or a class of tensors).

    ValueError for a name that no type has, RuntimeError for tensors on CUDA devices.

    >>> import tracegrad as tg
    >>> tg.tensor([1.0]).type(), tg.tensor([1.0]).type("torch.LongTensor")
    ('tracegrad.FloatTensor', tensor([1]))
    """
    if dtype is None:
        name = next(name for name, known in LEGACY_NAMES.items() if known is input.dtype)
        return f"{public_name.package}.{name}"
    if isinstance(dtype, str):
        name = dtype.rpartition(".")[2]
        _refuse_other_devices(dtype)
        if name not in LEGACY_NAMES:
            raise ValueError(f"invalid type: {dtype!r}; the names are {', '.join(LEGACY_NAMES)}")
        dtype = LEGACY_NAMES[name]
    _refuse_other_devices(f"{getattr(dtype, '__module__', '')}.")
    if isinstance(dtype, builtins.type) and issubclass(dtype, np.generic):
        raise ValueError(f"invalid type: 'numpy.{dtype.__name__}'; the names are {', '.join(LEGACY_NAMES)}")
    return to(input, getattr(dtype, "dtype", dtype))


def _refuse_other_devices(name: str) -> None:
    """RuntimeError for the name of a type of tensors on CUDA devices."""
    if ".cuda." in name:
        raise RuntimeError(
            "Cannot initialize CUDA without ATen_cuda library: there is no such device, use tracegrad.FloatTensor or "
            "another type on the CPU"
        )


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` in the element type of `other`: ``input.to(other.dtype)``, itself if it has that already.

    >>> import tracegrad as tg
    >>> tg.tensor([1.7]).type_as(tg.tensor(0))
    tensor([1])
    """
    return to(input, other)


def cpu(input: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """`input` itself: everything is on the CPU.

    >>> import tracegrad as tg
    >>> tg.ones(2).cpu()
    tensor([1., 1.])
    """
    return input


def _refuse_device(kind: str) -> NoReturn:
    """What PyTorch raises where there is no such device."""
    require_cpu(kind)
    raise AssertionError(f"{kind} is not the CPU")


def cuda(
    input: Tensor,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
) -> NoReturn:
    """AssertionError, as in a CPU build of PyTorch: there is no other device than the CPU.

    RuntimeError for another kind of device, or a number.

    >>> import tracegrad as tg
    >>> tg.ones(2).cuda()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: Torch not compiled with CUDA enabled...
    """
    require_cuda_name(device)
    _refuse_device("cuda")


def xpu(
    input: Tensor,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
) -> NoReturn:
    """AssertionError, as in a CPU build of PyTorch: there is no other device than the CPU.

    >>> import tracegrad as tg
    >>> tg.ones(2).xpu()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: Torch not compiled with XPU enabled...
    """
    _refuse_device("xpu")


def mtia(
    input: Tensor,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
) -> NoReturn:
    """AssertionError, as in a CPU build of PyTorch: there is no other device than the CPU.

    >>> import tracegrad as tg
    >>> tg.ones(2).mtia()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: Torch not compiled with MTIA enabled...
    """
    _refuse_device("mtia")


def ipu(
    input: Tensor,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
) -> NoReturn:
    """RuntimeError, as in a CPU build of PyTorch: there is no other device than the CPU.

    >>> import tracegrad as tg
    >>> tg.ones(2).ipu()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: PyTorch is not linked with support for ipu devices...
    """
    _refuse_device("ipu")


def pin_memory(input: Tensor, device: DeviceLike | None = None) -> NoReturn:
    """RuntimeError, as in a CPU build of PyTorch: memory is pinned for accelerators, and there is none.

    >>> import tracegrad as tg
    >>> tg.ones(2).pin_memory()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available...
    """
    raise RuntimeError(f"{NO_ACCELERATOR} Memory is pinned for one: leave pin_memory() out.")


def record_stream(input: Tensor, stream: object) -> NoReturn:
    """RuntimeError: accelerators have streams, and there is none.

    >>> import tracegrad as tg
    >>> tg.ones(2).record_stream(None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: unknown parameter type...
    """
    raise RuntimeError(f"unknown parameter type: record_stream() takes a stream, got {stream!r}; there are none here")


def size(input: Tensor, dim: int | None = None) -> Size | int:
    """The shape, a tuple of ints; with `dim` one extent of it. IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.ones(2, 3).size(), tg.ones(2, 3).size(-1)
    (tracegrad.Size([2, 3]), 3)
    """
    return input.shape if dim is None else input.shape[_existing_axis(dim, input.ndim)]


def _existing_axis(dim: int, ndim: int) -> int:
    """`dim`, an axis that is there: IndexError for others, and where there is none."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim


def numel(input: Tensor) -> int:
    """How many elements there are: the product of the extents, 1 for a 0-d tensor.

    >>> import tracegrad as tg
    >>> tg.numel(tg.ones(2, 3))
    6
    """
    return int(input.ndarray.size)


def dim(input: Tensor) -> int:
    """How many axes there are, 0 for a single number: ``input.ndim``.

    >>> import tracegrad as tg
    >>> tg.ones(2, 3).dim()
    2
    """
    return int(input.ndarray.ndim)


def stride(input: Tensor, dim: int | None = None) -> tuple[int, ...] | int:
    """How many elements of memory lie between neighbours along each axis, a tuple; with `dim` along this one.

    IndexError for an axis that is not there. Difference: an axis of extent 1, or of no elements, may have another
    stride than in PyTorch.

    >>> import tracegrad as tg
    >>> tg.ones(2, 3).stride(), tg.ones(2, 3).t().stride()
    ((3, 1), (1, 3))
    """
    array = input.ndarray
    if array.size or any(array.strides):
        strides = tuple(s // array.itemsize for s in array.strides)
    else:  # numpy has no strides for new arrays without elements
        strides = tuple(math.prod(max(extent, 1) for extent in array.shape[i + 1 :]) for i in range(array.ndim))
    return strides if dim is None else strides[_existing_axis(dim, len(strides))]


def is_contiguous(input: Tensor, memory_format: memory_format = contiguous_format) -> bool:
    """Whether the elements lie in row-major order (or as `memory_format` says) without gaps.

    TypeError for what is no memory format.

    >>> import tracegrad as tg
    >>> tg.ones(2, 3).is_contiguous(), tg.ones(2, 3).t().is_contiguous()
    (True, False)
    """
    return is_in_format(input, memory_format)


def element_size(input: Tensor) -> int:
    """How many bytes one element takes.

    >>> import tracegrad as tg
    >>> tg.ones(2).element_size(), tg.ones(2, dtype=tg.int64).element_size()
    (4, 8)
    """
    return int(input.ndarray.itemsize)


def storage_offset(input: Tensor) -> int:
    """How many elements of its memory lie before the first one of `input`. A compiled function must not ask for it.

    >>> import tracegrad as tg
    >>> tg.arange(6)[2:].storage_offset()
    2
    """
    forbid("storage_offset()", "Read it outside.")
    shown = memory_behind(input.ndarray, input.buffer)
    return int(shown.ctypes.data - input.buffer.whole.ctypes.data) // shown.itemsize


def is_floating_point(input: Tensor) -> bool:
    """Whether the element type is a floating one: float16, bfloat16, float32 or float64.

    >>> import tracegrad as tg
    >>> tg.is_floating_point(tg.ones(2)), tg.is_floating_point(tg.tensor(1))
    (True, False)
    """
    return bool(input.dtype.is_floating_point)


def is_complex(input: Tensor) -> bool:
    """Whether the element type is a complex one: complex64 or complex128.

    >>> import tracegrad as tg
    >>> tg.is_complex(tg.tensor([1 + 2j]))
    True
    """
    return bool(input.dtype.is_complex)


def get_device(input: Tensor) -> int:
    """The number of the tensor's device: -1, which stands for the CPU.

    >>> import tracegrad as tg
    >>> tg.ones(2).get_device()
    -1
    """
    return -1


def device_of(input: Tensor) -> device:
    """Where the elements are: on the CPU, always.

    >>> import tracegrad as tg
    >>> tg.ones(2).device
    device(type='cpu')
    """
    return CPU
