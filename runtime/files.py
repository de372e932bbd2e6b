"""Files that nobody else has a hand in.

What lies in the cache is code that will run. So every file and folder is opened first, without following a symbolic
link and without waiting for a FIFO; what was opened is looked at by its descriptor; and it is used by that descriptor.
Between the look and the use nothing can be put in its place.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_NO_LINKS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # opening a FIFO to read returns at once
_TRASH = "tmp-removed-"
_ATTEMPTS = 5  # at a folder that others remove or make at the same time


class NotOurs(OSError):
    """What lies there is of another kind, belongs to somebody else, or others may write to it."""


def fault_of(status: os.stat_result) -> str | None:
    """Why what `status` describes is not safe to load code from; None if it is."""
    if status.st_uid != os.geteuid():
        return f"it belongs to user {status.st_uid}, not to you ({os.geteuid()})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it (mode {stat.S_IMODE(status.st_mode):04o})"
    return None


@dataclass(frozen=True)
class Folder:
    """A folder that is ours alone to write to, by its descriptor; `path` is where it was found."""

    path: Path
    handle: int

    def stands_at(self, name: str) -> str:
        """A path to a file in this very folder, whatever is put in its place meanwhile (where the system has /proc)."""
        by_descriptor = f"/proc/self/fd/{self.handle}"
        return f"{by_descriptor}/{name}" if os.path.exists(by_descriptor) else os.fspath(self.path / name)

    def read(self, name: str, nbytes: int) -> bytes:
        """The content of a file that has `nbytes`. OSError if it is absent, of another length, or not ours alone."""
        with self._regular(name) as handle:
            status = os.fstat(handle)
            if status.st_size != nbytes or fault_of(status):
                raise NotOurs(f"{name} is not the file that was written")
            with open(handle, "rb", closefd=False) as file:
                return file.read(nbytes + 1)

    @contextmanager
    def _regular(self, name: str) -> Iterator[int]:
        handle = os.open(name, os.O_RDONLY | _NO_LINKS, dir_fd=self.handle)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise NotOurs(f"{name} is no regular file")
            yield handle
        finally:
            os.close(handle)

    def read_any(self, name: str) -> bytes:
        """The content of a regular file that a program of ours wrote, with whatever length and mode."""
        with self._regular(name) as handle, open(handle, "rb", closefd=False) as file:
            return file.read()

    def has(self, name: str) -> bool:
        """True if there is anything of this name, whatever it is."""
        return os.access(name, os.F_OK, dir_fd=self.handle)

    def holds(self, name: str, content: bytes) -> bool:
        """True if the file `name` is there with just this content."""
        try:
            return self.read(name, len(content)) == content
        except OSError:
            return False

    def size_of(self, name: str) -> int:
        """The length of a regular file. OSError if there is none of this name."""
        status = os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise NotOurs(f"{name} is no regular file")
        return status.st_size

    def write(self, name: str, content: bytes, mode: int = 0o600) -> None:
        """A new file; FileExistsError if there is anything of this name."""
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, mode, dir_fd=self.handle)
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def place(self, name: str, content: bytes, workspace: Folder) -> None:
        """Write a file by way of `workspace`: `name` never holds a part of it, and whatever stood there is gone."""
        temporary = secrets.token_hex(8)
        workspace.write(temporary, content)
        self.take(temporary, name, workspace)

    def take(self, temporary: str, name: str, workspace: Folder) -> None:
        """Move a file of `workspace` to `name`, in the place of whatever stood there."""
        try:
            os.replace(temporary, name, src_dir_fd=workspace.handle, dst_dir_fd=self.handle)
        except IsADirectoryError:
            os.rename(name, secrets.token_hex(8), src_dir_fd=self.handle, dst_dir_fd=workspace.handle)
            os.replace(temporary, name, src_dir_fd=workspace.handle, dst_dir_fd=self.handle)

    def link(self, name: str, store: Folder, stored: str, workspace: Folder) -> None:
        """Let `name` be the file `stored` of `store`, in the place of whatever stood there."""
        temporary = secrets.token_hex(8)
        os.link(stored, temporary, src_dir_fd=store.handle, dst_dir_fd=workspace.handle, follow_symlinks=False)
        self.take(temporary, name, workspace)
        with suppress(FileNotFoundError):  # two names of one file: then `replace` has left both
            os.unlink(temporary, dir_fd=workspace.handle)

    @contextmanager
    def folder(self, name: str, use: bool = False) -> Iterator[Folder]:
        """The folder `name` in this one. OSError if it is absent; NotOurs if it is not ours alone, or no folder.

        With `use` nobody takes it away meanwhile by `remove_unused`.
        """
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS, dir_fd=self.handle)
        try:
            fault = fault_of(os.fstat(handle))
            if fault:
                raise NotOurs(f"{name}: {fault}")
            if use and not (_locked(handle, fcntl.LOCK_SH) and self._shows(name, handle)):
                raise FileNotFoundError(f"{name} has just been removed")
            yield Folder(self.path / name, handle)
        finally:
            os.close(handle)

    @contextmanager
    def made(self, name: str) -> Iterator[Folder]:
        """Like `folder` in use, but made where it is missing; what is not ours alone is put out of the way."""
        with ExitStack() as opening:
            for attempt in range(_ATTEMPTS):
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=self.handle)
                try:
                    folder = opening.enter_context(self.folder(name, use=True))
                    break
                except OSError as error:
                    if attempt == _ATTEMPTS - 1:
                        raise
                    if not isinstance(error, FileNotFoundError):  # of another kind, or not ours; else just removed
                        self.remove(name)
            yield folder

    def remove_unused(self, name: str) -> bool:
        """Take away the folder `name` unless it is in use; True if it is gone."""
        with self.folder(name) as folder:
            unused = _locked(folder.handle, fcntl.LOCK_EX | fcntl.LOCK_NB) and self._shows(name, folder.handle)
            if unused:
                self.remove(name)
            return unused

    def _shows(self, name: str, handle: int) -> bool:
        """True if `name` is still what `handle` was opened as."""
        try:
            return os.path.samestat(os.fstat(handle), os.stat(name, dir_fd=self.handle, follow_symlinks=False))
        except FileNotFoundError:
            return False

    def remove(self, name: str) -> None:
        """Take away whatever is called `name`, in one step for all who look."""
        trash = _TRASH + secrets.token_hex(8)
        with suppress(FileNotFoundError):
            os.rename(name, trash, src_dir_fd=self.handle, dst_dir_fd=self.handle)
            self.delete(trash)

    def delete(self, name: str) -> None:
        """Delete a file, or a folder with all that is in it, as far as it can be deleted."""
        with suppress(OSError):
            if stat.S_ISDIR(os.stat(name, dir_fd=self.handle, follow_symlinks=False).st_mode):
                shutil.rmtree(self.path / name, ignore_errors=True)  # follows no links
            else:
                os.unlink(name, dir_fd=self.handle)


def _locked(handle: int, how: int) -> bool:
    """True unless others are in the way. A file system without locks has only this process's word for it."""
    try:
        fcntl.flock(handle, how)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """The folder at `path`, to which links may lead. OSError if it is absent; NotOurs if it is not ours alone."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fault = fault_of(os.fstat(handle))
        if fault:
            raise NotOurs(fault)
        yield Folder(path, handle)
    finally:
        os.close(handle)
