"""The store of compiled programs: a private directory, one folder per program, files named by content hash.

    <cache>/<key>/tg_math.h fc1.c ...      the C, to be read and taken elsewhere
    <cache>/<key>/program-<sha256>.so      the library
    <cache>/<key>/entry.json               names the two; written last, so that an entry is there whole or not at all
    <cache>/tmp-<random>/                  one build under way

Every file arrives by an atomic rename and equal keys have equal contents, so any number of threads and processes may
build the same program at once without a lock, and a killed build leaves nothing that blocks the next.
"""

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import CacheUnusable, three_parts

FORMAT = "1"  # of the entries; another number makes all older entries unknown
MANIFEST = "entry.json"
WORK_PREFIX = "tmp-"
STALE_AFTER = 24 * 3600.0  # seconds
CHOOSE_ANOTHER = "set TRACEGRAD_CACHE_DIR to a folder that you own and that nobody else can write to"


@dataclass(frozen=True)
class Entry:
    """A program in the cache."""

    library: Path
    sources: tuple[Path, ...]


def default_directory() -> Path:
    """$TRACEGRAD_CACHE_DIR, else $XDG_CACHE_HOME/tracegrad, else ~/.cache/tracegrad."""
    if chosen := os.environ.get("TRACEGRAD_CACHE_DIR"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # the specification of XDG says to ignore a relative one
        return Path(base, "tracegrad")
    return Path(os.path.expanduser("~"), ".cache", "tracegrad").absolute()


def open_directory(directory: Path) -> Path:
    """Create the cache directory (0700) where it is missing; CacheUnusable unless it is ours alone to write to."""
    with reported_as_unusable(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.stat()
    if status.st_uid != os.geteuid():
        raise _unsafe(directory, f"it belongs to user {status.st_uid}, not to you ({os.geteuid()})")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _unsafe(directory, f"others may write to it (mode {stat.S_IMODE(status.st_mode):04o})")
    return directory


def hash_of(parts: Mapping[str, str]) -> str:
    """The key of a program: a hash of everything that its library depends on, by name."""
    return hashlib.sha256(json.dumps([FORMAT, sorted(parts.items())]).encode()).hexdigest()


def find(folder: Path) -> Entry | None:
    """The entry in `folder` if it is whole. A damaged library would kill the process, so its hash is checked."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        library = folder / manifest["library"]
        if _file_hash(library) != manifest["sha256"]:
            return None
        return Entry(library, tuple(folder / name for name in manifest["sources"]))
    except (OSError, ValueError, KeyError, TypeError):  # absent, or damaged in whatever way: built again
        return None


def publish(folder: Path, library: Path, sources: tuple[Path, ...], workspace: Path) -> Entry:
    """Make the freshly built `library` in `workspace` the entry of `folder`."""
    with reported_as_unusable(folder):
        digest = _file_hash(library)
        target = folder / f"program-{digest}{library.suffix}"
        _sync(library)
        os.replace(library, target)
        manifest = {"library": target.name, "sha256": digest, "sources": [source.name for source in sources]}
        write(folder / MANIFEST, json.dumps(manifest, indent=1), workspace)
        _sync(folder)
    return Entry(target, sources)


def write(path: Path, text: str, workspace: Path) -> None:
    """Write a file by way of `workspace`, so that `path` never holds a part of it."""
    with reported_as_unusable(path.parent):
        handle, temporary = tempfile.mkstemp(dir=workspace)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)


@contextmanager
def workspace_in(directory: Path) -> Iterator[Path]:
    """A private folder for one build, on the same file system; those that killed builds left are swept after a day."""
    with reported_as_unusable(directory):
        _sweep(directory)
        workspace = Path(tempfile.mkdtemp(prefix=WORK_PREFIX, dir=directory))
    try:
        yield workspace
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


@contextmanager
def reported_as_unusable(directory: Path) -> Iterator[None]:
    """Turn a file system's refusal (no permission, read-only, full, not a directory) into CacheUnusable."""
    try:
        yield
    except OSError as error:
        what = f"the cache of compiled programs cannot be written: {error.strerror or error}"
        raise CacheUnusable(three_parts(what, str(error.filename or directory), CHOOSE_ANOTHER)) from error


def _unsafe(directory: Path, reason: str) -> CacheUnusable:
    what = f"the cache of compiled programs is not safe to load code from: {reason}"
    return CacheUnusable(three_parts(what, str(directory), f"{CHOOSE_ANOTHER}, or chmod 700 this one if it is yours"))


def _sweep(directory: Path) -> None:
    oldest = time.time() - STALE_AFTER
    for leftover in directory.glob(f"{WORK_PREFIX}*"):
        try:
            if leftover.stat().st_mtime < oldest:
                shutil.rmtree(leftover, ignore_errors=True)
        except FileNotFoundError:  # its own build has just finished
            continue


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
