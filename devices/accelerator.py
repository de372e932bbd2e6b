"""``tracegrad.accelerator``: the accelerator that a program would use. There is none."""

from __future__ import annotations

from ..tensors.device import NO_ACCELERATOR
from .answers import answering, deprecated, refusing

_MESSAGE = f"{NO_ACCELERATOR} Ask tg.accelerator.is_available() before."

is_available = answering("is_available", False, "False.")
device_count = answering("device_count", 0, "0.")
current_accelerator = answering("current_accelerator", None, "None.")
(
    current_device_index, set_device_index, synchronize, current_stream, set_stream, memory_allocated, empty_cache,
    max_memory_allocated, reset_peak_memory_stats, memory_stats, memory_reserved, max_memory_reserved, get_memory_info,
    reset_accumulated_memory_stats,
) = (
    refusing(name, RuntimeError, _MESSAGE)
    for name in (
        "current_device_index", "set_device_index", "synchronize", "current_stream", "set_stream", "memory_allocated",
        "empty_cache", "max_memory_allocated", "reset_peak_memory_stats", "memory_stats", "memory_reserved",
        "max_memory_reserved", "get_memory_info", "reset_accumulated_memory_stats",
    )
)  # fmt: skip
current_device_idx = deprecated("current_device_idx", "current_device_index")(current_device_index)
set_device_idx = deprecated("set_device_idx", "set_device_index")(set_device_index)


class device_index:
    """A context whose accelerator is another one: RuntimeError, but for None.

    >>> import tracegrad as tg
    >>> with tg.accelerator.device_index(None):
    ...     x = tg.ones(1)
    """

    def __init__(self, device: int | None) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise RuntimeError(_MESSAGE)

    def __exit__(self, *exc_info: object) -> None:
        return None
