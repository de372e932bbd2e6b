"""What the cache of programs holds, for those who look at it or clear it up."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .cache import HEADERS, open_directory
from .eviction import evict, weighed
from .files import Folder

_KEY = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Contents:
    """How many programs there are, and the bytes of them and of what they share."""

    entries: int
    nbytes: int


def contents(directory: Path) -> Contents:
    """What the cache in `directory` holds; nothing where there is none. CacheUnusable if it is not ours alone."""
    if not directory.exists():
        return Contents(0, 0)
    with open_directory(directory) as root:
        names = _keys(root)
        own = sum(nbytes for name in names for _, nbytes, _ in weighed(root, name))
        return Contents(len(names), own + _bytes_in(directory / HEADERS))


def prune(directory: Path, most: int) -> Contents:
    """Delete the programs that were not used for longest if there are more than `most` bytes; what has gone."""
    before = contents(directory)
    if before.entries:
        with open_directory(directory) as root:
            evict(root, most)
    return _gone(before, contents(directory))


def clear(directory: Path) -> Contents:
    """Delete all programs but those that a process is building or loading just now; what has gone."""
    before = contents(directory)
    if before.entries or before.nbytes:
        with open_directory(directory) as root:
            for name in _keys(root):
                with suppress(OSError):  # another process has been quicker
                    root.remove_unused(name)
            if not _keys(root):
                root.remove(HEADERS)
    return _gone(before, contents(directory))


def _keys(root: Folder) -> list[str]:
    return [name for name in os.listdir(root.handle) if _KEY.fullmatch(name)]


def _bytes_in(folder: Path) -> int:
    with suppress(OSError):
        return sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))
    return 0


def _gone(before: Contents, after: Contents) -> Contents:
    return Contents(before.entries - after.entries, before.nbytes - after.nbytes)
