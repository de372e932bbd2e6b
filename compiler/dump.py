"""``TRACEGRAD_DUMP=dir``: every stage of every compilation as a numbered file."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

#: Of a program's name in those of its files: a file's name may have 255 bytes, and a letter four.
MOST_LETTERS = 40
_numbers = itertools.count()


def dump(name: str, stages: Callable[[], Iterable[tuple[str, str]]]) -> None:
    """Write each (suffix, text) of `stages()` to ``<dir>/<program>_<name>_<stage>.<suffix>``, if that is asked for."""
    folder = os.environ.get("TRACEGRAD_DUMP")
    if not folder:
        return
    directory = Path(folder)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        program, shown = next(_numbers), re.sub(r"[^\w<>.]+", "_", name)[:MOST_LETTERS]
        for stage, (suffix, text) in enumerate(stages()):
            (directory / f"{program:03}_{shown}_{stage}.{suffix}").write_text(text, "utf-8", "backslashreplace")
    except OSError as error:
        raise OSError(
            f"cannot write the stages of {name!r}: {error}\n  in TRACEGRAD_DUMP={folder}\n"
            "  Set TRACEGRAD_DUMP to a folder that you may write to, or unset it."
        ) from error
