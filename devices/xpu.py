"""``tracegrad.xpu``: Intel's devices, of which there are none."""

from __future__ import annotations

from typing import Any

from .answers import Refused, answering, refusing

_NO_DEVICE = "Torch not compiled with XPU enabled: there is no such device. Ask tg.xpu.is_available() before."

is_available, is_initialized, is_bf16_supported, is_tf32_supported, _is_compiled = (
    answering(name, False, "False.")
    for name in ("is_available", "is_initialized", "is_bf16_supported", "is_tf32_supported", "_is_compiled")
)
device_count, memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved = (
    answering(name, 0, "0.")
    for name in ("device_count", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
)
empty_cache, manual_seed, manual_seed_all, seed, seed_all, set_rng_state, set_stream = (
    answering(name, None, "Nothing: there is no such device.")
    for name in ("empty_cache", "manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state", "set_stream")
)
(
    synchronize, current_device, get_device_name, get_device_properties, get_device_capability, set_device,
    current_stream, init, initial_seed, get_rng_state, mem_get_info,
) = (
    refusing(name, AssertionError, _NO_DEVICE)
    for name in (
        "synchronize", "current_device", "get_device_name", "get_device_properties", "get_device_capability",
        "set_device", "current_stream", "init", "initial_seed", "get_rng_state", "mem_get_info",
    )
)  # fmt: skip
reset_peak_memory_stats, reset_accumulated_memory_stats = (
    refusing(
        name, AttributeError, "module 'torch._C' has no such attribute: there is no XPU device, ask is_available()"
    )
    for name in ("reset_peak_memory_stats", "reset_accumulated_memory_stats")
)


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all devices: none, [].

    >>> import tracegrad as tg
    >>> tg.xpu.get_rng_state_all()
    []
    """
    return []


class Event(Refused):
    """RuntimeError when one is made: there is no device to take the time of.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.xpu.Event()
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """


class Stream(Refused):
    """RuntimeError when one is made: there is no device to queue work for.

    >>> import tracegrad as tg
    >>> try:
    ...     tg.xpu.Stream()
    ... except RuntimeError:
    ...     print("no such device")
    no such device
    """
