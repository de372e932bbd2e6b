"""PyTorch's format before 1.6: pickles one behind the other, then the bytes of each storage."""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from ..ops.memory import aligned_empty
from ..ops.types import DType
from .archive import fill
from .locations import Restore
from .meta_storage import MetaStorage
from .reading import claimed, restored, settle
from .rebuilding import refresh
from .settings import skips_data
from .storages import CLASS_OF, TypedStorage
from .untyped_storage import UntypedStorage
from .writing import Storages, pickled

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_SYSTEM = {
    "protocol_version": PROTOCOL_VERSION,
    "little_endian": True,
    "type_sizes": {"short": 2, "int": 4, "long": struct.calcsize("=l")},
}

#: Reads one pickle of a file, with what makes storages of persistent ids (None where there are none).
ReadPickle = Callable[[Any, Any], Any]


def read_legacy(file: Any, restore: Restore, read: ReadPickle) -> Any:
    """What follows the magic number."""
    version = read(file, None)
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    read(file, None)  # sizes of C's types, which mean nothing any more
    storages = _LegacyStorages(_left(file), restore)
    result = read(file, storages.load)
    storages.fill(file, read(file, None))
    return result


def _left(file: Any) -> int:
    """How many bytes are left to read."""
    position = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(position)
    return int(end - position)


class _LegacyStorages:
    """Storages that are named before their bytes come; together they claim no more than the file has."""

    def __init__(self, left: int, restore: Restore) -> None:
        self._left, self._restore = left, restore
        self._known: dict[str, tuple[UntypedStorage, np.ndarray, DType | None]] = {}
        self._parts: dict[str, UntypedStorage] = {}

    def load(self, given: Any) -> Any:
        """The storage that a persistent id names, or the class that it holds with its source."""
        if type(given) is tuple and given[:1] == ("module",) and len(given) == 4 and isinstance(given[1], type):
            return given[1]
        dtype, key, location, count = claimed(given)
        if key not in self._known:
            size = count * (1 if dtype is None else dtype.itemsize)
            self._left -= size
            if self._left < 0:
                raise ValueError(f"the storages claim {-self._left} bytes more than the file has")
            memory = aligned_empty((size,), np.dtype(np.uint8))
            memory[...] = 0
            self._known[key] = restored(self._restore, UntypedStorage(memory), location), memory, dtype
        storage, _, known = self._known[key]
        if known is not dtype:
            raise ValueError(f"the storage {key!r} is named with two types")
        if len(given) > 5 and given[5] is not None:
            storage = self._part(storage, given[5], dtype)
        return storage if dtype is None else TypedStorage(wrap_storage=storage, dtype=dtype)

    def _part(self, storage: UntypedStorage, view: Any, dtype: DType | None) -> UntypedStorage:
        """A part of a storage that counts as one, as versions before 0.4 wrote."""
        if type(view) is not tuple or len(view) != 3 or not all(type(part) in (int, str) for part in view):
            raise ValueError("a view of a storage that is no tuple of key, offset and size")
        key, offset, size = view
        itemsize = 1 if dtype is None else dtype.itemsize
        if str(key) not in self._parts:
            if type(offset) is not int or type(size) is not int or not 0 <= offset <= offset + size:
                raise ValueError("a view of a storage that lies outside")
            self._parts[str(key)] = storage[offset * itemsize : (offset + size) * itemsize]
        return self._parts[str(key)]

    def fill(self, file: Any, keys: Any) -> None:
        """Read the bytes of the storages, in the order of `keys`."""
        if skips_data():
            return
        if type(keys) is not list or not all(type(key) is str for key in keys) or set(keys) != self._known.keys():
            raise pickle.UnpicklingError("the storages behind the pickle are not those that it names")
        for key in keys:
            storage, memory, dtype = self._known[key]
            length = np.empty(8, np.uint8)
            fill(length, file)
            if int(length.view("<i8")[0]) * (1 if dtype is None else dtype.itemsize) != memory.size:
                raise pickle.UnpicklingError(f"the storage {key!r} has another length than its tensors need")
            fill(memory, file)
            settle(memory, dtype, "little")
            if isinstance(storage, MetaStorage):
                continue
            if storage.bytes is not memory:
                storage.copy_(UntypedStorage(memory))
            refresh(storage)


def write_legacy(obj: Any, file: IO[bytes], pickle_module: Any, protocol: int) -> None:
    """Write `obj` in this format."""
    if skips_data():
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    storages = Storages(_persistent)
    body = pickled(obj, pickle_module, protocol, storages)
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, _SYSTEM):
        pickle_module.dump(head, file, protocol=protocol)
    file.write(body)
    pickle_module.dump(list(storages.memory), file, protocol=protocol)
    for key, memory in storages.memory.items():
        dtype = storages.types[key]
        if sys.byteorder != "little":
            memory = memory.copy()
            settle(memory, dtype, "little")
        file.write(struct.pack("<q", memory.size // (1 if dtype is None else dtype.itemsize)))
        file.write(memory.data)


def _persistent(key: str, storage: TypedStorage | UntypedStorage) -> tuple[Any, ...]:
    kind = CLASS_OF[storage.dtype] if isinstance(storage, TypedStorage) else UntypedStorage
    return "storage", kind, key, "cpu", storage.size(), None
