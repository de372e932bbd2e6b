"""PyTorch's zip archives: records by name, stored as they are, each with its own range of the file's bytes."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import IO, Any, NoReturn

import numpy as np

from ..ops.memory import aligned_empty
from .settings import get_crc32_options
from .untyped_storage import UntypedStorage, mapped

MAGIC = b"PK\x03\x04"
_HEADER = struct.Struct("<4s22xHH")  # of a record: signature, lengths of its name and of what is behind that
_VERSIONS = range(1, 11)
_CORRUPTED = (
    " If you are seeing this error, there is a high likelihood that your checkpoint file is corrupted. This can happen "
    "if the checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving."
)
#: What the library of zip files raises for a directory that makes no sense.
_DIRECTORY_ERRORS = (
    zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, struct.error, ValueError, OverflowError, OSError,
    EOFError, LookupError,
)  # fmt: skip


class ArchiveError(RuntimeError):
    """An archive that is damaged, or no archive of PyTorch's."""


def is_archive(file: Any) -> bool:
    """Whether the bytes that come next are those of an archive; they stay unread."""
    start = file.tell()
    begins = file.read(len(MAGIC))
    file.seek(start)
    return bool(begins == MAGIC)


class Archive:
    """The records of an open file from where it stands to its end. RuntimeError for what is no archive."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        start = file.tell()
        self._end = file.seek(0, os.SEEK_END)
        try:
            entries = zipfile.ZipFile(file).infolist()
        except _DIRECTORY_ERRORS as error:
            _fail(f"failed reading zip archive: failed finding central directory ({error})")
        if not entries or min(entry.header_offset for entry in entries) != start:
            _fail("failed reading zip archive: it does not begin where the file was read")
        self._unread = self._end - start
        self.name = entries[0].filename.partition("/")[0]
        self._entries = {entry.filename: entry for entry in entries}
        if len(self._entries) != len(entries):
            _fail("failed reading zip archive: two records have one name")
        self._require_version()

    def _require_version(self) -> None:
        place = "version" if self.has("version") else ".data/version"
        text = self.bytes_of(place, 100).strip()
        if not text.isdigit():
            _fail(f"failed reading file {place}: it holds no number")
        if int(text) not in _VERSIONS:
            raise ArchiveError(
                f"Attempted to read a PyTorch file with version {int(text)}, but the maximum supported version for "
                f"reading is {_VERSIONS[-1]}. Your PyTorch installation may be too old."
            )

    def has(self, name: str) -> bool:
        """Whether there is a record of that name."""
        return f"{self.name}/{name}" in self._entries

    def size(self, name: str) -> int:
        """How many bytes the record has."""
        return int(self._entry(name).file_size)

    def bytes_of(self, name: str, limit: int | None = None) -> bytes:
        """A record, of at most `limit` bytes."""
        if limit is not None and self.size(name) > limit:
            _fail(f"failed reading file {name}: it is too long")
        return self._read(name).tobytes()

    def storage(self, name: str) -> UntypedStorage:
        """A record in memory of its own, aligned."""
        return UntypedStorage(self._read(name))

    def place(self, name: str) -> tuple[int, int]:
        """Where the record's bytes begin and end in the file; all records together claim no more than it has."""
        entry = self._entry(name)
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            _fail(f"failed reading file {name}: it is compressed or encrypted; pack it anew without")
        self._file.seek(entry.header_offset)
        header = self._file.read(_HEADER.size)
        if len(header) != _HEADER.size or not header.startswith(MAGIC):
            _fail(f"failed reading file {name}: its header is damaged")
        begin = entry.header_offset + _HEADER.size + sum(_HEADER.unpack(header)[1:])
        self._unread -= entry.file_size
        if begin + entry.file_size > self._end or self._unread < 0 or entry.compress_size != entry.file_size:
            _fail(f"failed reading file {name}: it claims {entry.file_size} bytes, which the file does not have")
        return begin, begin + entry.file_size

    def _read(self, name: str) -> np.ndarray:
        begin, end = self.place(name)
        self._file.seek(begin)
        memory = aligned_empty((end - begin,), np.dtype(np.uint8))
        fill(memory, self._file)
        checksum = self._entry(name).CRC  # 0 where the writer was told to leave it out
        if checksum and get_crc32_options() and zlib.crc32(memory.data) != checksum:
            _fail(
                f"failed reading file {name}: its CRC-32 is not that of its bytes. Where they were changed on purpose, "
                "load after serialization.set_crc32_options(False)"
            )
        return memory

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self._entries.get(f"{self.name}/{name}")
        if entry is None:
            _fail(f"failed locating file {name}: file not found")
        return entry


class MappedArchive(Archive):
    """An archive whose storages are parts of the mapped file."""

    def __init__(self, file: IO[bytes], path: Any, shared: bool) -> None:
        super().__init__(file)
        self._map = mapped(path, shared, self._end)

    def storage(self, name: str) -> UntypedStorage:
        """The record's part of the mapped file; its checksum is not looked at, which would read all of it."""
        begin, end = self.place(name)
        part: UntypedStorage = self._map[begin:end]
        return part


def fill(memory: np.ndarray, file: Any) -> None:
    """Read bytes until `memory` is full. EOFError where the file ends before."""
    left = memory.data
    while left:
        part = file.read(min(len(left), 1 << 24)) if not hasattr(file, "readinto") else None
        if part is not None:
            left[: len(part)] = part
        count = file.readinto(left) if part is None else len(part)
        if not count:
            raise EOFError("Ran out of input: the file is cut off.")
        left = left[count:]


def _fail(what: str) -> NoReturn:
    raise ArchiveError(f"PytorchStreamReader {what}.{_CORRUPTED}")
