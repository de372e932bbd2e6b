"""Writing a file so that its name never shows half of it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A file open for writing that takes the place of `path` when the block is done, and is gone when it fails.

    A new file has the mode that the umask leaves, one that replaces another the mode and the owner of that. Links are
    followed. What is no file with a name in a folder (a pipe, a device, an open file's number) is written directly.
    RuntimeError for a folder, a missing folder, or a place that may not be written.
    """
    target = _followed(path)
    try:
        before = _stat(target)
        direct = _is_of_a_process(target) or (before is not None and not stat.S_ISREG(before.st_mode))
        if before is not None and not direct:
            open(target, "r+b").close()  # a file that may not be written must not be replaced
        temporary = target if direct else os.path.join(os.path.dirname(target), f".save-{secrets.token_hex(8)}.tmp")
        file = open(temporary, "wb") if direct else open(temporary, "xb", opener=_private if before else None)
    except OSError as error:
        raise RuntimeError(_refusal(path, target, error)) from error
    with file:
        if direct:
            yield file
            return
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            _become_like(temporary, before)
            file.close()
            os.replace(temporary, target)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _private(path: str, flags: int) -> int:
    """Nobody else reads the data before the file has the mode of the one that it replaces."""
    return os.open(path, flags, 0o600)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _followed(path: str) -> str:
    """Where the links at `path` lead; the links to open files below /proc have no text to follow."""
    for _ in range(40):
        folder, name = os.path.split(path)
        path = os.path.join(os.path.realpath(folder), name)
        if _is_of_a_process(path) or not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return path


def _is_of_a_process(path: str) -> bool:
    return path.startswith("/proc/")


def _become_like(path: str, before: os.stat_result | None) -> None:
    """Give the file the owner and the mode of the one that it replaces, as far as this user may."""
    if before is None:
        return
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(path, before.st_uid, before.st_gid)
    os.chmod(path, stat.S_IMODE(before.st_mode) & 0o777)


def _refusal(path: str, target: str, error: OSError) -> str:
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        return f"Parent directory {os.path.dirname(path)} does not exist. Make it first: os.makedirs(folder)."
    return f"File {path} cannot be opened for writing ({error.strerror}). Choose another path, or allow writing there."
