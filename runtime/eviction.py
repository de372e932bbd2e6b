"""The size of the cache: what was not used for longest goes first.

`TRACEGRAD_CACHE_SIZE` is the bound, as a number of bytes or with K, M or G behind it; 1G if it is not set. It is looked
at after a build, at the latest when this process has built a sixteenth of the bound, and otherwise once an hour.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .cache import HEADERS, MANIFEST
from .errors import CacheUnusable, three_parts
from .files import Folder

DEFAULT_BOUND = 1 << 30
KEPT = 0.9  # of the bound: so that the next build does not have to evict again
LOOK_EVERY = 3600.0  # seconds
UNDER_WAY = 3600.0  # seconds: no build takes longer, so an older header is not one that is about to be linked to
STAMP = "looked"  # an empty file whose time is that of the latest look, of any process

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_built: dict[Path, int] = {}  # bytes that this process has added since it looked


def bound() -> int:
    """$TRACEGRAD_CACHE_SIZE in bytes; CacheUnusable if it is no size."""
    text = os.environ.get("TRACEGRAD_CACHE_SIZE", "").strip()
    if not text:
        return DEFAULT_BOUND
    read = re.fullmatch(r"([0-9]{1,18})([KMG]?)B?", text, re.IGNORECASE)
    if read is None:
        what = f"the bound of the cache cannot be read: {text!r}"
        raise CacheUnusable(three_parts(what, "in TRACEGRAD_CACHE_SIZE", "set it to a size such as 500M or 2G"))
    return int(read[1]) * _UNITS[read[2].upper()]


def note_built(root: Folder, key: str, nbytes: int, most: int) -> None:
    """After the entry `key` was published: evict others beyond `most` bytes, if it is time to look."""
    _built[root.path] = _built.get(root.path, 0) + nbytes
    if _built[root.path] * 16 < most and not _is_time(root):
        return
    _built[root.path] = 0
    with suppress(OSError):  # what cannot be deleted stays
        _stamp(root)
        evict(root, most, key)


def evict(root: Folder, most: int, kept: str = "") -> None:
    """Delete entries but `kept`, those used longest ago first, until 0.9 of `most` bytes remain, if there are more."""
    names = [name for name in os.listdir(root.handle) if re.fullmatch("[0-9a-f]{64}", name)]
    entries = [entry for name in names for entry in weighed(root, name)]
    total = sum(nbytes for _, nbytes, _ in entries)
    if total <= most:
        return
    for _, nbytes, name in sorted(entries):
        if total <= most * KEPT:
            break
        with suppress(OSError):  # another process has been quicker
            if name != kept and root.remove_unused(name):
                total -= nbytes
    with suppress(OSError):  # no program here has headers
        _drop_headers(root)


def weighed(root: Folder, name: str) -> Iterator[tuple[float, int, str]]:
    """When an entry was used, how large it is without the shared headers, its name."""
    with suppress(OSError), root.folder(name) as folder:  # gone, or not ours: the next build of it sees to that
        files = {f: os.stat(f, dir_fd=folder.handle, follow_symlinks=False) for f in os.listdir(folder.handle)}
        own = [f.st_size for f in files.values() if f.st_nlink == 1 and stat.S_ISREG(f.st_mode)]
        yield files.get(MANIFEST, os.fstat(folder.handle)).st_mtime, sum(own), name


def _drop_headers(root: Folder) -> None:
    """Delete headers that no entry links to, but for new ones, which an entry under way is about to link to."""
    with root.folder(HEADERS) as store:
        for name in os.listdir(store.handle):
            status = os.stat(name, dir_fd=store.handle, follow_symlinks=False)
            if status.st_nlink == 1 and time.time() - status.st_mtime > UNDER_WAY:
                store.delete(name)


def _is_time(root: Folder) -> bool:
    try:
        looked = os.stat(STAMP, dir_fd=root.handle, follow_symlinks=False).st_mtime
    except FileNotFoundError:
        _stamp(root)
        return False
    return abs(time.time() - looked) > LOOK_EVERY


def _stamp(root: Folder) -> None:
    root.remove(STAMP)
    with suppress(FileExistsError):
        root.write(STAMP, b"")
