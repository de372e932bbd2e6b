"""What programs set for all files: byte order, checksums, how files are mapped, whether data is skipped."""

from __future__ import annotations

import mmap
import sys
import threading
from enum import Enum
from typing import Any

from ..tracing.watch import forbid

MAP_PRIVATE: int | None = getattr(mmap, "MAP_PRIVATE", None)
MAP_SHARED: int | None = getattr(mmap, "MAP_SHARED", None)


class LoadEndianness(Enum):
    """The byte order of a file that does not say it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Settings:
    endianness: LoadEndianness | None = None
    compute_crc32 = True
    mmap_flags: int | None = MAP_PRIVATE


class _OfThread(threading.local):
    skip_data = False


_settings, _of_thread = _Settings(), _OfThread()


def _refuse_reading() -> None:
    forbid("reading settings of files", "Read them outside.")


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files that do not say it; None unless set, which counts as little."""
    _refuse_reading()
    return _settings.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order of files that do not say it. TypeError for anything but a LoadEndianness or None.

    >>> import tracegrad as tg
    >>> tg.serialization.set_default_load_endianness(tg.serialization.LoadEndianness.LITTLE)
    >>> tg.serialization.get_default_load_endianness()
    <LoadEndianness.LITTLE: 2>
    >>> tg.serialization.set_default_load_endianness(None)
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _settings.endianness = endianness


def default_byte_order() -> str:
    """``"little"`` or ``"big"``, for a file that does not say it."""
    if _settings.endianness is LoadEndianness.NATIVE:
        return sys.byteorder
    return "big" if _settings.endianness is LoadEndianness.BIG else "little"


def get_crc32_options() -> bool:
    """Whether ``save`` writes checksums, and ``load`` compares them."""
    _refuse_reading()
    return _settings.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Let ``save`` write checksums (the default), or 0 in their place, which is faster. ``load`` takes both.

    Difference: ``load`` compares checksums that are there, which PyTorch never does; with False it does not, which
    is for files whose bytes were changed on purpose, such as through a shared mapping.

    >>> import tracegrad as tg
    >>> tg.serialization.set_crc32_options(True)
    """
    _settings.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """How ``load(..., mmap=True)`` maps files: ``mmap.MAP_PRIVATE`` unless set."""
    _refuse_reading()
    return _settings.mmap_flags


class set_default_mmap_options:
    """Let ``load(..., mmap=True)`` map files privately (``mmap.MAP_PRIVATE``, the default: writes stay in memory) or
    shared (``mmap.MAP_SHARED``: writes reach the file). A function, and a context that sets back what was before.

    ValueError for other flags, RuntimeError on Windows.

    >>> import mmap, tracegrad as tg
    >>> with tg.serialization.set_default_mmap_options(mmap.MAP_SHARED):
    ...     tg.serialization.get_default_mmap_options() == mmap.MAP_SHARED
    True
    """

    def __init__(self, flags: int) -> None:
        if MAP_PRIVATE is None:
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self._before = _settings.mmap_flags
        _settings.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        _settings.mmap_flags = self._before


def maps_shared() -> bool:
    """Whether writes to mapped files reach them."""
    return _settings.mmap_flags is not None and _settings.mmap_flags == MAP_SHARED


class skip_data:
    """While it is open, ``save`` leaves room for the numbers of tensors without writing them, and ``load`` gives
    tensors of zeros without reading them.

    >>> import io, tracegrad as tg
    >>> file = io.BytesIO()
    >>> with tg.serialization.skip_data():
    ...     tg.save(tg.ones(2), file)
    >>> _ = file.seek(0)
    >>> tg.load(file)
    tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = _of_thread.skip_data
        _of_thread.skip_data = True

    def __exit__(self, *error: Any) -> None:
        _of_thread.skip_data = self._before


def skips_data() -> bool:
    """Whether `skip_data` is open in this thread."""
    return _of_thread.skip_data
