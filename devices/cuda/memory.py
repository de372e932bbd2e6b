"""``tracegrad.cuda.memory``: how much memory a device has that is not there."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from ..answers import answering, deprecated, refusing

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike

_NO_DEVICE = "Torch not compiled with CUDA enabled: there is no such device. Ask tg.cuda.is_available() before."

empty_cache = answering("empty_cache", None, "Nothing to free.")
memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved = (
    answering(name, 0, "0: no memory of such a device is used.")
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
)
memory_cached = deprecated("torch.cuda.memory_cached", "torch.cuda.memory_reserved")(memory_reserved)
max_memory_cached = deprecated("torch.cuda.max_memory_cached", "torch.cuda.max_memory_reserved")(max_memory_reserved)
list_gpu_processes = answering(
    "list_gpu_processes", "pynvml module not found, please install nvidia-ml-py", "A text: nothing is known."
)
mem_get_info, caching_allocator_alloc, caching_allocator_delete, memory_usage = (
    refusing(name, AssertionError, _NO_DEVICE)
    for name in ("mem_get_info", "caching_allocator_alloc", "caching_allocator_delete", "memory_usage")
)
set_per_process_memory_fraction, get_per_process_memory_fraction = (
    refusing(name, AssertionError, _NO_DEVICE)
    for name in ("set_per_process_memory_fraction", "get_per_process_memory_fraction")
)


def _absent(name: str, title: str) -> Any:
    message = f"module 'torch._C' has no attribute '{title}': there is no CUDA device, ask is_available() before"
    return refusing(name, AttributeError, message)


reset_peak_memory_stats = _absent("reset_peak_memory_stats", "_cuda_resetPeakMemoryStats")
reset_accumulated_memory_stats = _absent("reset_accumulated_memory_stats", "_cuda_resetAccumulatedMemoryStats")
reset_accumulated_host_memory_stats = _absent(
    "reset_accumulated_host_memory_stats", "_cuda_resetAccumulatedHostMemoryStats"
)
memory_snapshot = _absent("memory_snapshot", "_cuda_memorySnapshot")
get_allocator_backend = _absent("get_allocator_backend", "_cuda_getAllocatorBackend")
reset_max_memory_allocated, reset_max_memory_cached = (
    deprecated(f"torch.cuda.{name}", "torch.cuda.reset_peak_memory_stats")(_absent(name, "_cuda_resetPeakMemoryStats"))
    for name in ("reset_max_memory_allocated", "reset_max_memory_cached")
)
memory_summary = refusing("memory_summary", KeyError, "allocated_bytes.all.current")


def memory_stats(device: DeviceLike | None = None) -> OrderedDict[str, Any]:
    """What is known of a device's memory: of one that is not there nothing, an empty dict.

    >>> import tracegrad as tg
    >>> len(tg.cuda.memory_stats())
    0
    """
    return OrderedDict()


def host_memory_stats() -> OrderedDict[str, Any]:
    """What is known of the memory that is shared with devices: nothing, an empty dict.

    >>> import tracegrad as tg
    >>> len(tg.cuda.host_memory_stats())
    0
    """
    return OrderedDict()
