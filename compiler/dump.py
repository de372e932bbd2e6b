"""``TRACEGRAD_DUMP=dir``: every stage of every compilation as a numbered file."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from pathlib import Path

_numbers = itertools.count()


def dump(name: str, stages: Iterable[tuple[str, str]]) -> None:
    """Write each (suffix, text) to ``<dir>/<program>_<name>_<stage>.<suffix>``, if dumping is asked for."""
    folder = os.environ.get("TRACEGRAD_DUMP")
    if not folder:
        return
    directory = Path(folder)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        program = next(_numbers)
        for stage, (suffix, text) in enumerate(stages):
            (directory / f"{program:03}_{name}_{stage}.{suffix}").write_text(text, encoding="utf-8")
    except OSError as error:
        raise OSError(
            f"cannot write the stages of {name!r}: {error}\n  in TRACEGRAD_DUMP={folder}\n"
            "  Set TRACEGRAD_DUMP to a folder that you may write to, or unset it."
        ) from error
