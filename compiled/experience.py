"""What an earlier run of a program has found out, kept in the compile cache: whether compiled steps were quicker."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..runtime import records
from ..runtime.cache import hash_of_bytes
from .deferral import deferred


class remembered:
    """Let `block` know what the cache holds of the program with these arguments, the first of which may be its file;
    afterwards keep what has been found out, unless that was known. What was worth it may be found not to be."""

    def __init__(self, block: deferred, program: Sequence[str]) -> None:
        self._budget, self._key = block.segments.budget, _key(program)
        self._earlier: dict[str, float] | None = None

    def __enter__(self) -> None:
        self._earlier = None if self._budget is None else records.find(self._key)
        if self._budget is not None and self._earlier is not None:
            self._budget.learn(self._earlier)

    def __exit__(self, *error: object) -> None:
        found = None if self._budget is None else self._budget.experience()
        earlier = self._earlier
        if found is not None and (earlier is None or (earlier["is_worth_it"] and not found["is_worth_it"])):
            records.keep(self._key, found)


def _key(program: Sequence[str]) -> str:
    """The same for the same text and arguments under the same Python, wherever the file is. Which module or folder a
    name means depends on where the program is run."""
    text = b""
    with suppress(OSError):
        text = os.fsencode(os.getcwd())
    with suppress(OSError):
        text = Path(program[0]).read_bytes()
    words = map(os.fsencode, program)  # which need not be text in any encoding
    return hash_of_bytes(b"\0".join([b"run 3", sys.version.encode(), text, *words]))
