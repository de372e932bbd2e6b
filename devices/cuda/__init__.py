"""``tracegrad.cuda``: what portable programs ask before they choose a device. There is none.

Questions are answered ("no", 0, nothing to do); what needs a device is refused with PyTorch's error.
"""

# ruff: noqa: F401 (what is imported is offered)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tensors.device import as_device
from ..answers import Refused, answering, refusing
from . import amp, memory, nccl, nvtx, random
from .memory import (
    caching_allocator_alloc,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    host_memory_stats,
    list_gpu_processes,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .tensor_types import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike

NOT_COMPILED = "Torch not compiled with CUDA enabled: there is no such device. Ask tg.cuda.is_available() before."

_initialized = False
has_half, has_magma = True, False
default_generators: tuple[Any, ...] = ()

is_available = answering("is_available", False, "False.")
is_initialized = answering("is_initialized", False, "False.")
_is_compiled = answering("_is_compiled", False, "False.")
_is_in_bad_fork = answering("_is_in_bad_fork", False, "False.")
is_bf16_supported = answering("is_bf16_supported", False, "False.")
is_tf32_supported = answering("is_tf32_supported", False, "False.")
device_count = answering("device_count", 0, "0.")
set_stream = answering("set_stream", None, "Nothing: there are no streams.")
get_gencode_flags = answering("get_gencode_flags", "", "Nothing was compiled for such devices.")


def get_arch_list() -> list[str]:
    """The kinds of devices that PyTorch was compiled for: none, [].

    >>> import tracegrad as tg
    >>> tg.cuda.get_arch_list()
    []
    """
    return []


def _refused(*names: str) -> list[Any]:
    return [refusing(name, AssertionError, NOT_COMPILED) for name in names]


current_device, synchronize, get_device_name, get_device_capability, get_device_properties = _refused(
    "current_device", "synchronize", "get_device_name", "get_device_capability", "get_device_properties"
)
current_stream, default_stream, ipc_collect, init, _lazy_init, cudart = _refused(
    "current_stream", "default_stream", "ipc_collect", "init", "_lazy_init", "cudart"
)
can_device_access_peer, set_sync_debug_mode, get_sync_debug_mode, get_stream_from_external = _refused(
    "can_device_access_peer", "set_sync_debug_mode", "get_sync_debug_mode", "get_stream_from_external"
)
_NO_TOOL = "nvidia-ml-py does not seem to be installed or it can't be imported: there is no such device to ask"
utilization, temperature, power_draw, clock_rate, memory_usage = (
    refusing(name, ModuleNotFoundError, _NO_TOOL)
    for name in ("utilization", "temperature", "power_draw", "clock_rate", "memory_usage")
)
is_current_stream_capturing, graph_pool_handle = (
    refusing(name, RuntimeError, f"Tried to instantiate dummy base class {title}: there is no such device")
    for name, title in (
        ("is_current_stream_capturing", "_cuda_isCurrentStreamCapturing"),
        ("graph_pool_handle", "_graph_pool_handle"),
    )
)


class OutOfMemoryError(RuntimeError):
    """What a device without free memory raises, a RuntimeError; nothing raises it here.

    >>> import tracegrad as tg
    >>> issubclass(tg.cuda.OutOfMemoryError, RuntimeError)
    True
    """


class AcceleratorError(RuntimeError):
    """What a failing device raises, a RuntimeError; nothing raises it here.

    >>> import tracegrad as tg
    >>> issubclass(tg.cuda.AcceleratorError, RuntimeError)
    True
    """


class CudaError(RuntimeError):
    """What a failing call of CUDA raises, a RuntimeError; nothing raises it here.

    >>> import tracegrad as tg
    >>> issubclass(tg.cuda.CudaError, RuntimeError)
    True
    """


class DeferredCudaCallError(Exception):
    """What a call that waits for CUDA to begin raises; nothing raises it here.

    >>> import tracegrad as tg
    >>> issubclass(tg.cuda.DeferredCudaCallError, Exception)
    True
    """


class Event(Refused):
    """RuntimeError when one is made: there is no device to take the time of.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.cuda.Event()
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """


class Stream(Refused):
    """RuntimeError when one is made: there is no device to queue work for.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.cuda.Stream()
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """

    _words = "Stream requires CUDA support, no"


class ExternalStream(Stream):
    """RuntimeError when one is made: there is no device to queue work for.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.cuda.ExternalStream(0)
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """


class CUDAGraph(Refused):
    """RuntimeError when one is made: there is no device to record work of.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.cuda.CUDAGraph()
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """


def _index_of(device: DeviceLike | None) -> int | None:
    """The number of a CUDA device, None if its name has none. ValueError for another kind of device."""
    if device is None or isinstance(device, int):
        return device
    of = as_device(device)
    if of.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {of}")
    return of.index


def set_device(device: DeviceLike | None) -> None:
    """AttributeError, as in PyTorch without CUDA; nothing is done for negative numbers. ValueError for others than
    CUDA.

    >>> import tracegrad as tg
    >>> tg.cuda.set_device(-1)
    """
    index = _index_of(device)
    if index is None:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    if index >= 0:
        raise AttributeError(
            f"module 'torch._C' has no attribute '_cuda_setDevice': there is no CUDA device to choose (got {device!r})"
        )


class _Unused:
    """A block that means nothing without a device."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        return None


class device(_Unused):
    """A context whose device is another one: a number, or a device's name. RuntimeError when it begins, without CUDA.

    It does nothing for -1. ValueError for another kind of device.

    >>> import tracegrad as tg
    >>> with tg.cuda.device(-1):
    ...     x = tg.ones(1)
    """

    def __init__(self, device: DeviceLike | None) -> None:
        self.idx = _index_of(device)

    def __enter__(self) -> None:
        if self.idx is None or self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support: there is no CUDA device to choose")


class device_of(_Unused):
    """A context whose device is that of a tensor; it does nothing without devices.

    >>> import tracegrad as tg
    >>> with tg.cuda.device_of(tg.ones(1)):
    ...     x = tg.ones(1)
    """


class StreamContext(_Unused):
    """A context whose work goes to a stream; it does nothing without streams.

    >>> import tracegrad as tg
    >>> with tg.cuda.StreamContext(None):
    ...     x = tg.ones(1)
    """


def stream(stream: Any) -> StreamContext:
    """A context whose work goes to a stream, a `StreamContext`; it does nothing without streams.

    >>> import tracegrad as tg
    >>> with tg.cuda.stream(None):
    ...     x = tg.ones(1)
    """
    return StreamContext(stream)
