"""Writing PyTorch's zip archives: a pickle, and the bytes of each storage, aligned."""

from __future__ import annotations

import os
import sys
import zipfile
import zlib
from typing import IO, Any

import numpy as np

from .settings import get_crc32_options, skips_data
from .storages import CLASS_OF, TypedStorage
from .untyped_storage import UntypedStorage
from .writing import Storages, pickled

ALIGNMENT = 64
_HEADER = 30  # bytes of a record's header without its name
_LONG_HEADER = 20  # bytes that say a size of more than 32 bits
_NEVER = (1980, 1, 1, 0, 0, 0)
_PIECE = 1 << 24


def archive_name(path: Any) -> str:
    """The folder in an archive: the name of the file without its ending, ``archive`` for what has no name."""
    stem = os.path.basename(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else "archive"
    return stem.rpartition(".")[0] or stem or "archive"


def write_archive(
    obj: Any, file: IO[bytes], name: str, pickle_module: Any, protocol: int, says_byte_order: bool = True
) -> None:
    """Write `obj` to an open file as PyTorch does."""
    storages = Storages(_persistent)
    data = pickled(obj, pickle_module, protocol, storages)
    with _Archive(file, name) as archive:
        archive.write("data.pkl", data)
        archive.write(".format_version", b"1")
        archive.write(".storage_alignment", b"%d" % ALIGNMENT)
        if says_byte_order:
            archive.write("byteorder", sys.byteorder.encode())
        for key, memory in storages.memory.items():
            archive.write(f"data/{key}", memory)
        archive.write("version", b"3\n")
        archive.write(".data/serialization_id", archive.identity())


def _persistent(key: str, storage: TypedStorage | UntypedStorage) -> tuple[Any, ...]:
    kind = CLASS_OF[storage.dtype] if isinstance(storage, TypedStorage) else UntypedStorage
    return "storage", kind, key, "cpu", storage.size()


class _Written:
    """A file that is only written to: archives begin where it stands, whatever was written before."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        """Write all of `data`; files of programs need not say how much they wrote."""
        self._file.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing: the file's owner does."""


class _Archive:
    """Records that are written one behind the other, each from a multiple of `ALIGNMENT` on."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        written: Any = _Written(file)
        self._zip = zipfile.ZipFile(written, "w", zipfile.ZIP_STORED)
        self._name = name
        self._checksums: list[int] = []
        self._names: list[str] = []

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is None:
            self._zip.close()
        else:  # no directory behind half of a file
            self._zip.fp = None

    def write(self, name: str, data: bytes | np.ndarray) -> None:
        """Write one record."""
        content = np.ascontiguousarray(data).data.cast("B") if isinstance(data, np.ndarray) else memoryview(data)
        record = zipfile.ZipInfo(f"{self._name}/{name}", _NEVER)
        record.file_size = content.nbytes
        record.extra = self._padding(record)
        skipped = skips_data() and name.startswith("data/")
        with self._zip.open(record, "w", force_zip64=content.nbytes > zipfile.ZIP64_LIMIT) as out:
            for begin in range(0, content.nbytes, _PIECE):
                piece = content[begin : begin + _PIECE]
                out.write(bytes(len(piece)) if skipped else piece)
        if skipped or not get_crc32_options():  # what comes in the place of skipped data has another one
            self._zip.filelist[-1].CRC = 0
        self._checksums.append(self._zip.filelist[-1].CRC)
        self._names.append(name)

    def _padding(self, record: zipfile.ZipInfo) -> bytes:
        """A field of the header that makes it so long that the content begins at a multiple of `ALIGNMENT`."""
        begin = self._zip.start_dir + _HEADER + len(record.filename.encode()) + 4
        if record.file_size > zipfile.ZIP64_LIMIT:
            begin += _LONG_HEADER
        missing = -begin % ALIGNMENT
        return b"FB" + missing.to_bytes(2, "little") + b"Z" * missing

    def identity(self) -> bytes:
        """40 digits that tell files of different contents apart: from the names, and from the checksums."""
        names = zlib.crc32("".join(self._names).encode())
        contents = zlib.crc32(np.array(self._checksums, np.uint32).tobytes())
        return b"%020d%020d" % (names, contents)
