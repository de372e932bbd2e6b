"""Records: what is known under a key, in a few lines of JSON beside the compiled programs.

    <cache>/<key>/entry.json   the format, the key and a hash of the record, then the record itself

A record is a folder of the cache like a program, found, used and evicted by the same rules. It is data, read as JSON
only once it is known to be what was written, whole: anything else (damaged, of another key or format, not ours alone)
is no record, and nothing is said about it, since what it tells can be found out again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import cache
from .build import Built
from .errors import CacheUnusable
from .eviction import bound, note_built

FORMAT = "1"
LARGEST = 1 << 26  # bytes


@dataclass(frozen=True)
class Text:
    """A C file of a program in the cache: the program's key, the file's name, its length and a hash of it."""

    program: str
    name: str
    nbytes: int
    digest: str

    def read(self) -> str | None:
        """The text; None if it is not there as it was."""
        with suppress(OSError, CacheUnusable, ValueError), cache.open_directory(cache.default_directory()) as root:
            with root.folder(self.program, use=True) as folder:
                content = folder.read(self.name, self.nbytes)
            return content.decode() if cache.hash_of_bytes(content) == self.digest else None
        return None


def texts_of(built: Built) -> list[Text] | None:
    """The C of a program that has been built, to be read later; None if it is not in the cache."""
    folder = built.path.parent
    if not _is_in_cache(folder):
        return None
    with suppress(OSError):
        contents = {path.name: path.read_bytes() for path in built.sources}
        return [Text(folder.name, name, len(text), cache.hash_of_bytes(text)) for name, text in contents.items()]
    return None


def find(key: str) -> Any:
    """The record under `key`, None if there is none."""
    with suppress(OSError, CacheUnusable), cache.open_directory(cache.default_directory()) as root:
        # Not by an exception: from Python 3.12 on, one that goes through a generator's `with` and leaves it as another
        # one is part of a cycle, which keeps all frames and their locals, the user's too, until the next collection.
        if not root.has(key):
            return None
        with root.folder(key, use=True) as folder:
            content = folder.read(cache.MANIFEST, min(folder.size_of(cache.MANIFEST), LARGEST))
            head = len(_head(key, b""))
            body = content[head:]
            if content[:head] != _head(key, body):
                return None
            cache.note_use(folder)
        return json.loads(body)
    return None


def keep(key: str, record: Any) -> None:
    """Let `find(key)` give `record`, which is made of what JSON knows, if the cache can be written."""
    body = json.dumps(record, separators=(",", ":")).encode()
    content = _head(key, body) + body
    with suppress(OSError, CacheUnusable), cache.open_directory(cache.default_directory()) as root:
        with cache.workspace_in(root) as workspace, root.made(key) as folder:
            folder.place(cache.MANIFEST, content, workspace)
        note_built(root, key, len(content), bound())


def _head(key: str, body: bytes) -> bytes:
    digest = cache.hash_of_bytes(body)
    return f'{{"format": "{FORMAT}", "key": "{key}", "digest": "{digest}"}}\n'.encode()


def _is_in_cache(folder: Path) -> bool:
    with suppress(CacheUnusable):
        return folder.parent == cache.default_directory()
    return False
