"""Which compiler this is: a hash of the source that decides what a graph becomes, as this process has loaded it.

The files are read once for each state that they are found in: what their hash is stands in the cache, under what the
file system says of them. Where they may have changed since they were loaded, nobody can say what this process runs,
and there is no hash.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from . import records
from .cache import hash_of_bytes

#: Folders of the package: nothing else is imported by what compiles a graph (tests/test_architecture.py).
FOLDERS = ("compiler", "ops", "runtime", "templates")
ROOT = Path(__file__).resolve().parents[1]

_ENDINGS = (".py", ".h", ".j2")
_COARSEST = 0.1  # seconds: clocks of files and processes tick in hundredths

File = tuple[str, int, int, int, int]


def source_hash() -> str | None:
    """The hash; None where source and process may differ, or there is no source."""
    with suppress(OSError):
        files = tuple(_files(ROOT))
        if files and max(changed for *_, changed in files) < (_started - _COARSEST) * 1e9:
            return _hash_of(files)
    return None


@cache
def source_hash_at_first() -> str | None:
    """The same when it was first asked for: what the cache has under it is what this process would have made then.
    What it makes later is kept only under a hash that is still the same."""
    return source_hash()


@lru_cache(maxsize=2)
def _hash_of(files: tuple[File, ...]) -> str | None:
    state = hash_of_bytes(repr((os.fspath(ROOT), files)).encode("utf-8", "surrogateescape"))
    known = records.find(state)
    if isinstance(known, str):
        return known
    content = hashlib.sha256()
    for name, *_ in files:
        content.update(f"{name} {hash_of_bytes((ROOT / name).read_bytes())}\n".encode("utf-8", "surrogateescape"))
    if tuple(_files(ROOT)) != files:
        return None
    records.keep(state, content.hexdigest())
    return content.hexdigest()


def _files(root: Path) -> Iterator[File]:
    """What the file system says of each file of source: name, number, length, and when it was changed, twice."""
    waiting = [*FOLDERS]
    while waiting:
        folder = waiting.pop()
        for entry in sorted(os.scandir(root / folder), key=lambda entry: entry.name):
            name = f"{folder}/{entry.name}"
            if entry.is_dir():
                waiting += [name] * (entry.name != "__pycache__")
            elif name.endswith(_ENDINGS):
                status = entry.stat()
                changed = max(status.st_mtime_ns, status.st_ctime_ns)
                yield name, status.st_ino, status.st_size, status.st_mtime_ns, changed


def _start_of_process() -> float:
    """When this process began, in seconds since 1970, by the kernel's words; 0 where it does not say."""
    if sys.platform.startswith("linux"):
        with suppress(OSError, ValueError, IndexError):
            fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
            ticks = int(fields[19])
            age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
            return time.time() - age
    return 0.0


_started = _start_of_process()
