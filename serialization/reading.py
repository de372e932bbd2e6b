"""What stands behind the pickle of a file: how a persistent id becomes a storage."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..ops.types import DType, bool_
from .archive import Archive, ArchiveError
from .locations import Restore, require_storage
from .settings import default_byte_order, skips_data
from .storages import TypedStorage
from .untyped_storage import UntypedStorage


class CallersError(Exception):
    """Around an error of the caller's own, which is no fault of the file."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def restored(restore: Restore, storage: UntypedStorage, location: str) -> UntypedStorage:
    """The storage in its place."""
    try:
        return require_storage(restore(storage, location))
    except Exception as error:
        raise CallersError(error) from error


def claimed(given: Any) -> tuple[DType | None, str, str, int]:
    """Element type (None for bytes), key, location and length of a storage. ValueError for what names none."""
    fields = [part.decode("ascii") if type(part) is bytes else part for part in given] if type(given) is tuple else []
    if len(fields) < 5 or fields[0] != "storage":
        raise ValueError("Only persistent_load of storage is allowed")
    _, kind, key, location, count, *_ = fields
    texts = type(key) is str and type(location) is str
    if not isinstance(kind, type) or not issubclass(kind, (TypedStorage, UntypedStorage)) or not texts:
        raise ValueError("a storage without a kind, a key, or a location")
    if type(count) is not int or count < 0:
        raise ValueError("a storage without a length")
    return kind.dtype if issubclass(kind, TypedStorage) else None, key, location, count


def settle(memory: np.ndarray, dtype: DType | None, byte_order: str) -> None:
    """Let bytes of a file be numbers of this machine: in its order, booleans 0 or 1."""
    if dtype is bool_:
        np.not_equal(memory, 0, out=memory.view(np.bool_))
    elif dtype is not None and byte_order != sys.byteorder:
        np.copyto(memory.view(dtype.numpy), memory.view(dtype.numpy).byteswap())


class ArchivedStorages:
    """The storages of one archive, each read when it is first named."""

    def __init__(self, archive: Archive, restore: Restore) -> None:
        self._archive, self._restore = archive, restore
        self._known: dict[str, tuple[UntypedStorage, DType | None, int]] = {}
        self._order = default_byte_order()
        if archive.has("byteorder"):
            self._order = archive.bytes_of("byteorder", 100).decode("latin1")
            if self._order not in ("little", "big"):
                raise ArchiveError(f"Unknown endianness type: {self._order!r}")

    def load(self, given: Any) -> TypedStorage | UntypedStorage:
        """The storage that a persistent id names."""
        dtype, key, location, count = claimed(given)
        if key not in self._known:
            self._known[key] = self._read(dtype, key, location, count), dtype, count
        storage, known, length = self._known[key]
        if known is not dtype or length != count:
            raise ValueError(f"the storage {key!r} is named with two types or lengths")
        return storage if dtype is None else TypedStorage(wrap_storage=storage, dtype=dtype)

    def _read(self, dtype: DType | None, key: str, location: str, count: int) -> UntypedStorage:
        record = f"data/{key}"
        size = self._archive.size(record)
        if size != count * (1 if dtype is None else dtype.itemsize):
            raise ValueError(f"the storage {key!r} has {size} bytes, and should have {count} elements")
        if skips_data():
            begin, end = self._archive.place(record)
            return restored(self._restore, UntypedStorage(end - begin), location)
        storage = self._archive.storage(record)
        settle(storage.bytes, dtype, self._order)
        return restored(self._restore, storage, location)
