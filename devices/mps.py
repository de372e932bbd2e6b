"""``tracegrad.mps``: Apple's devices, of which there are none."""

from __future__ import annotations

from ..tensors.device import NO_ACCELERATOR
from .answers import answering, refusing

is_available = answering("is_available", False, "False.")
device_count = answering("device_count", 0, "0.")
manual_seed = answering("manual_seed", None, "Nothing: no device draws numbers.")

_TITLES = {
    "synchronize": "deviceSynchronize",
    "empty_cache": "emptyCache",
    "seed": "getDefaultGenerator",
    "get_rng_state": "getDefaultGenerator",
    "set_rng_state": "getDefaultGenerator",
    "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory",
    "recommended_max_memory": "getRecommendedMaxMemory",
    "set_per_process_memory_fraction": "setMemoryFraction",
}
(
    synchronize, empty_cache, seed, get_rng_state, set_rng_state, current_allocated_memory, driver_allocated_memory,
    recommended_max_memory, set_per_process_memory_fraction,
) = (
    refusing(name, RuntimeError, f"Cannot execute {title}() without MPS backend. {NO_ACCELERATOR}")
    for name, title in _TITLES.items()
)  # fmt: skip


class Event:
    """RuntimeError when one is made: there is no device to take the time of.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.mps.Event()
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """

    def __init__(self, enable_timing: bool = False) -> None:
        raise RuntimeError(f"Cannot execute acquireEvent() without MPS backend. {NO_ACCELERATOR}")
