"""The store of compiled programs: a private directory, one folder per program.

    <cache>/<key>/step.c tg_math.h ...     the C, to be read and taken elsewhere; the headers are links into `headers`
    <cache>/<key>/program-<sha256>.so      the library
    <cache>/<key>/entry.json               the key and a hash of each file; written last: an entry is there whole or not
    <cache>/headers/<sha256>.h             each header once, however many programs include it
    <cache>/tmp-<random>/                  one build under way

What an entry's manifest has to say follows from its key, its C and its library, so it is written anew in memory and
compared: an entry of another key, or one that is damaged in any way, is no entry, and is built again.

Every file arrives by an atomic rename and equal keys have equal contents, so any number of threads and processes may
build the same program at once without a lock, and a killed build leaves nothing that blocks the next.
"""

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import CacheUnusable, printable, three_parts
from .files import Folder, NotOurs, opened

FORMAT = "2"  # of the entries; another number makes all older entries unknown
MANIFEST = "entry.json"
HEADERS = "headers"
WORK_PREFIX = "tmp-"
STALE_AFTER = 24 * 3600.0  # seconds
NOTED_EVERY = 600.0  # seconds: an entry's last use is known as exactly as this
CHOOSE_ANOTHER = "set TRACEGRAD_CACHE_DIR to a folder that you own and that nobody else can write to"

_LARGEST_MANIFEST = 1 << 20
_LIBRARY = re.compile(r'"library": "([0-9a-f]{64})", "bytes": ([0-9]{1,15})')


@dataclass(frozen=True)
class Program:
    """What an entry is to hold: its key, its C, and its headers, each by file name."""

    key: str
    sources: Mapping[str, bytes]
    headers: Mapping[str, bytes]

    def manifest(self, digest: str, nbytes: int) -> bytes:
        """What the manifest says if the library has this hash and this length."""
        head = f'"format": "{FORMAT}", "key": "{self.key}", "library": "{digest}", "bytes": {nbytes}'
        files = {name: hash_of_bytes(text) for name, text in sorted({**self.sources, **self.headers}.items())}
        return f'{{{head}, "files": {json.dumps(files, indent=1)}}}\n'.encode()


def default_directory() -> Path:
    """$TRACEGRAD_CACHE_DIR, else $XDG_CACHE_HOME/tracegrad, else ~/.cache/tracegrad."""
    if chosen := os.environ.get("TRACEGRAD_CACHE_DIR"):
        return absolute(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # the specification of XDG says to ignore a relative one
        return Path(base, "tracegrad")
    return absolute("~/.cache/tracegrad")


def absolute(path: str | os.PathLike[str]) -> Path:
    """The path from the root, with `~` expanded; CacheUnusable where there is no home or no current folder."""
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):
        raise CacheUnusable(three_parts("there is no home folder", f"in the path {printable(path)}", CHOOSE_ANOTHER))
    with reported_as_unusable(Path(path)):
        return Path(expanded).absolute()


@contextmanager
def open_directory(directory: Path) -> Iterator[Folder]:
    """Create the cache directory (0700) where it is missing; CacheUnusable unless it is ours alone to write to."""
    with reported_as_unusable(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with reported_as_unusable(directory), opened(directory) as folder:
        yield folder


def hash_of(parts: Mapping[str, str]) -> str:
    """The key of a program: a hash of everything that its library depends on, by name."""
    content = hashlib.sha256(f"{FORMAT}".encode())
    for name, text in sorted(parts.items()):
        for each in (name.encode("utf-8", "surrogatepass"), text.encode("utf-8", "surrogatepass")):
            content.update(b"\0%d\0" % len(each))  # where one ends and the next one begins
            content.update(each)
    return content.hexdigest()


def hash_of_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@contextmanager
def found(root: Folder, program: Program) -> Iterator[tuple[Folder, str] | None]:
    """The folder of a program and its library's name if the entry is whole, None otherwise, whatever is the matter.

    A damaged library would kill the process, so every file's content is compared.
    """
    with ExitStack() as opening:
        try:
            folder = opening.enter_context(root.folder(program.key, use=True))
        except OSError:
            yield None
            return
        library = _library_of(folder, program)
        yield None if library is None else (folder, library)


def _library_of(folder: Folder, program: Program) -> str | None:
    try:
        manifest = folder.read(MANIFEST, min(folder.size_of(MANIFEST), _LARGEST_MANIFEST))
        named = _LIBRARY.search(manifest.decode("ascii", "replace"))
        if named is None:
            return None
        library = f"program-{named[1]}.so"
        digest = hash_of_bytes(folder.read(library, int(named[2])))
    except OSError:
        return None
    if manifest != program.manifest(digest, int(named[2])) or digest != named[1]:
        return None
    if not all(folder.holds(name, text) for name, text in {**program.sources, **program.headers}.items()):
        return None
    note_use(folder)
    return library


def note_use(folder: Folder) -> None:
    """Evicted is what was not used for longest; so the manifest's time is that of the last use."""
    with suppress(OSError):  # a cache that is only read has no eviction either
        if time.time() - os.stat(MANIFEST, dir_fd=folder.handle, follow_symlinks=False).st_mtime > NOTED_EVERY:
            os.utime(MANIFEST, dir_fd=folder.handle, follow_symlinks=False)


@contextmanager
def begun(root: Folder, program: Program, workspace: Folder) -> Iterator[Folder]:
    """The program's folder with its C in it, but not yet an entry.

    The C stays there, so that a failing compile and a debugger name files that exist.
    """
    with reported_as_unusable(root.path), root.made(program.key) as folder:
        withdraw(folder)
        for name, text in program.headers.items():
            if not folder.holds(name, text):
                _share(root, folder, name, text, workspace)
        for name, text in program.sources.items():
            if not folder.holds(name, text):
                folder.place(name, text, workspace)
        yield folder


def withdraw(folder: Folder) -> None:
    """Make the entry in `folder` none."""
    folder.remove(MANIFEST)


def publish(folder: Folder, program: Program, digest: str, nbytes: int, workspace: Folder) -> None:
    """Make `folder`, which holds the C and the library, the entry of `program`."""
    with reported_as_unusable(folder.path):
        folder.place(MANIFEST, program.manifest(digest, nbytes), workspace)
        os.fsync(folder.handle)


def _share(root: Folder, folder: Folder, name: str, text: bytes, workspace: Folder) -> None:
    """A header as a link to the one copy of it; as a copy where the file system has no links, or no more of them."""
    stored = f"{hash_of_bytes(text)}.h"
    try:
        with root.made(HEADERS) as store:
            if not store.holds(stored, text):
                store.place(stored, text, workspace)
            folder.link(name, store, stored, workspace)
    except (OSError, NotImplementedError):  # if the reason is another one, the copy meets it, too
        folder.place(name, text, workspace)


@contextmanager
def workspace_in(root: Folder) -> Iterator[Folder]:
    """A private folder for one build, on the same file system; those that killed builds left are swept after a day."""
    with reported_as_unusable(root.path):
        _sweep(root)
        name = WORK_PREFIX + secrets.token_hex(8)
        os.mkdir(name, 0o700, dir_fd=root.handle)
    try:
        with reported_as_unusable(root.path), root.folder(name) as workspace:
            yield workspace
    finally:
        root.delete(name)


@contextmanager
def reported_as_unusable(directory: Path) -> Iterator[None]:
    """Turn a file system's refusal (no permission, read-only, full, not a directory) into CacheUnusable."""
    try:
        yield
    except NotOurs as error:
        what = f"the cache of compiled programs is not safe to load code from: {error}"
        remedy = f"{CHOOSE_ANOTHER}, or chmod 700 this one if it is yours"
        raise CacheUnusable(three_parts(what, printable(directory), remedy)) from error
    except OSError as error:
        what = f"the cache of compiled programs cannot be written: {error.strerror or error}"
        raise CacheUnusable(three_parts(what, printable(directory), CHOOSE_ANOTHER)) from error


def _sweep(root: Folder) -> None:
    """Delete what builds left that were killed: older than a day, since others are under way in other processes."""
    now = time.time()
    for name in os.listdir(root.handle):
        if name.startswith(WORK_PREFIX):
            with suppress(OSError):  # its own build has just finished
                if abs(now - os.stat(name, dir_fd=root.handle, follow_symlinks=False).st_mtime) > STALE_AFTER:
                    root.delete(name)
