"""``tracegrad.cpu``: the one device there is, under the names that other devices have."""

# ruff: noqa: F401 (what is imported is offered)

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..answers import answering
from . import amp

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike

is_available = answering("is_available", True, "True.")
is_initialized = answering("is_initialized", True, "True.")
device_count = answering("device_count", 1, "1.")
current_device = answering("current_device", "cpu", "``'cpu'``.")
synchronize = answering("synchronize", None, "Nothing to wait for.")
set_device = answering("set_device", None, "Nothing: there is one.")


class Stream:
    """A queue of work for the CPU, where all is done at once: there is nothing to wait for. `priority` is kept.

    >>> import tracegrad as tg
    >>> tg.cpu.Stream().wait_stream(tg.cpu.current_stream())
    """

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Stream) -> None:
        """Nothing to wait for."""

    def record_event(self) -> None:
        """Nothing to record."""

    def wait_event(self, event: Event) -> None:
        """Nothing to wait for."""


class Event:
    """A point in a stream's work: it has been reached. `enable_timing` is kept.

    >>> import tracegrad as tg
    >>> tg.cpu.Event().query()
    True
    """

    def __init__(self, enable_timing: bool = False, **options: Any) -> None:
        self.enable_timing = enable_timing

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Nothing to record."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing to wait for."""


_stream = Stream()


def current_stream(device: DeviceLike | None = None) -> Stream:
    """The stream that stands for work done at once; `device` is ignored.

    >>> import tracegrad as tg
    >>> type(tg.cpu.current_stream()).__name__
    'Stream'
    """
    return _stream


class StreamContext:
    """A context of work for a stream, which is done at once.

    >>> import tracegrad as tg
    >>> with tg.cpu.StreamContext(tg.cpu.current_stream()):
    ...     x = tg.ones(1)
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        return None


def stream(stream: Stream | None) -> StreamContext:
    """A context of work for a stream, a `StreamContext`: it is done at once.

    >>> import tracegrad as tg
    >>> with tg.cpu.stream(tg.cpu.current_stream()):
    ...     x = tg.ones(1)
    """
    return StreamContext(stream)


def get_capabilities() -> Mapping[str, Any]:
    """What PyTorch tells of the processor, as a mapping; empty here: tracegrad asks its compiler.

    Difference: PyTorch gives flags like "avx2".

    >>> import tracegrad as tg
    >>> len(tg.cpu.get_capabilities())
    0
    """
    return MappingProxyType({})
