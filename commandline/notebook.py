"""The code of a notebook: its cells, without what is addressed to the notebook itself."""

from __future__ import annotations

import json
import linecache
from types import CodeType
from typing import Any


def _display(*values: Any, **options: Any) -> None:
    """What a notebook calls to show values: print them."""
    for value in values:
        print(value)


#: Names that every notebook has.
NAMES = {"display": _display}


def cells(path: str) -> list[CodeType]:
    """The compiled code cells of the notebook, in their order. Lines with magics and shell commands are left out."""
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    found = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
    sources = [cell.get("source", cell.get("input", "")) for cell in found if cell["cell_type"] == "code"]
    return [_compiled(source, f"{path}[{number}]") for number, source in enumerate(sources, 1)]


def _compiled(source: str | list[str], title: str) -> CodeType:
    text = _python("".join(source))
    linecache.cache[title] = (len(text), None, text.splitlines(keepends=True), title)
    return compile(text, title, "exec", dont_inherit=True)


def _python(text: str) -> str:
    """The cell with its magics as empty lines, so that lines keep their numbers."""
    lines = text.split("\n")
    if lines[0].lstrip().startswith("%%"):
        is_python = lines[0].split()[0] in ("%%time", "%%timeit", "%%capture", "%%prun")
        lines = ["", *lines[1:]] if is_python else [""] * len(lines)
    return "\n".join(map(_without_magic, lines))


def _without_magic(line: str) -> str:
    words = line.lstrip()
    indent = line[: len(line) - len(words)]
    return f"{indent}pass" if words[:1] in ("%", "!", "?") or words.rstrip().endswith("?") else line
