"""DLPack: tensors and the arrays of other libraries over one memory, without a copy.

numpy makes the capsules and reads them, so lifetimes are those of numpy's arrays: a capsule keeps the tensor's memory
alive, and a tensor made of one keeps the other library's. bfloat16, which numpy lacks, passes it by as uint16.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.types import bfloat16, int16
from ...tracing.watch import forbid
from ..device import require_cpu
from ..tensor import Tensor
from .arrays import refuse_layout
from .capsules import Bfloat16AsUint16, call_bfloat16, is_unread, is_versioned
from .numpy_arrays import over

if TYPE_CHECKING:
    from ..calling.annotations import DeviceLike


class DLDeviceType(enum.IntEnum):
    """The kinds of devices, by DLPack's numbers."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def dlpack(
    self: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule over the tensor's memory (over a copy of it if `copy` is True), for other libraries to read.

    It is a versioned one where `max_version` is 1.0 or higher. BufferError for a tensor that requires grad, for another
    device than the CPU, for a lazy conjugate, and for read-only memory in an unversioned capsule, which could not say
    so. numpy refuses capsules of bfloat16.

    >>> import numpy as np, tracegrad as tg
    >>> np.from_dlpack(tg.ones(2))
    array([1., 1.], dtype=float32)
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    if dl_device is not None and tuple(dl_device) != (DLDeviceType.kDLCPU, 0):
        raise BufferError(f"Can't export a tensor on the CPU to the device {tuple(dl_device)}. Leave out dl_device.")
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set. Use tensor.resolve_conj().")
    if self.dtype is bfloat16:
        bits = self.view(int16).numpy().view(np.uint16)
        return call_bfloat16(bits.__dlpack__(max_version=max_version, copy=copy))
    return self.numpy().__dlpack__(max_version=max_version, copy=copy)


def dlpack_device(self: Tensor) -> tuple[DLDeviceType, int]:
    """Where the memory is: on the CPU."""
    return (DLDeviceType.kDLCPU, 0)


def to_dlpack(tensor: Tensor) -> object:
    """An unversioned DLPack capsule over the tensor's memory, to be read once: for libraries without ``__dlpack__``.

    Errors are those of `Tensor.numpy`, as for tensors that require grad.

    >>> import tracegrad as tg
    >>> x = tg.ones(2)
    >>> tg.from_dlpack(tg.to_dlpack(x)).data_ptr() == x.data_ptr()
    True
    """
    return dlpack(tensor)


def from_dlpack(ext_tensor: object, *, device: DeviceLike | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an array of another library (``__dlpack__``), or of a DLPack capsule.

    Writes are seen on both sides; memory that its library marks as read-only makes a read-only tensor. `copy` True
    copies, False refuses to. RuntimeError for a capsule that has been read before, BufferError or ValueError for
    memory, types and devices that tensors cannot show.

    >>> import numpy as np, tracegrad as tg
    >>> a = np.zeros(2)
    >>> tg.from_dlpack(a)[0] = 1.0
    >>> a
    array([1., 0.])
    """
    require_cpu(device)
    forbid("from_dlpack()", "Make the tensor outside and pass it as an argument.")
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError(
                "device and copy kwargs not supported when ext_tensor is already a DLPack capsule. Leave them out."
            )
        return over(_array_of(_Reader(_capsule(ext_tensor))))
    array_like: Any = ext_tensor
    kind, index = array_like.__dlpack_device__()
    if kind != DLDeviceType.kDLCPU:
        raise BufferError(f"from_dlpack(): the memory is on the device ({kind}, {index}). Copy it to the CPU first.")
    capsule, copied = _exported(ext_tensor, copy)
    array = _array_of(_Reader(capsule))
    return over(array.copy() if copy and not copied else array)


class _Reader:
    """What numpy is handed: an object whose ``__dlpack__`` gives a capsule that is already there."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (int(DLDeviceType.kDLCPU), 0)


def _capsule(given: Any) -> Any:
    if not is_unread(given):
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
            f"might have already constructed a tensor from it once. Got {type(given).__name__}; pass an array."
        )
    return given


def _exported(ext_tensor: Any, copy: bool | None) -> tuple[Any, bool]:
    """The capsule, and whether its library has heeded `copy`: older ones know fewer arguments."""
    options: dict[str, Any] = {"max_version": (1, 0)}
    for attempt in ({**options, "copy": copy}, {"copy": copy}) if copy is not None else (options,):
        try:
            return _capsule(ext_tensor.__dlpack__(**attempt)), True
        except TypeError:
            continue
    return _capsule(ext_tensor.__dlpack__()), copy is None


def _array_of(reader: _Reader) -> np.ndarray:
    """numpy's array over a capsule's memory, writable unless the capsule says that it must not be."""
    says_read_only = is_versioned(reader.capsule)
    with Bfloat16AsUint16(reader.capsule) as is_bfloat16:
        array = np.from_dlpack(reader)
    refuse_layout(array)
    array = array if says_read_only or array.flags.writeable else np.asarray(_Writable(array))
    return array.view(bfloat16.numpy) if is_bfloat16 else array


class _Writable:
    """Memory that numpy takes for read-only because an unversioned capsule cannot say what it is."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array  # which keeps the memory
        described = array.__array_interface__
        self.__array_interface__ = {**described, "data": (described["data"][0], False)}
