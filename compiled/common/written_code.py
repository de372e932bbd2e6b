"""Python that is written for one specialisation, as C is for one graph: source text made a function."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ...ops.callers.source_files import title_of_written

_numbers = itertools.count(1)  # a title of its own for each


def written(source: str, title: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The first function that `source` defines, with `names` for its globals; tracebacks show its lines."""
    title = title_of_written(f"{title} {next(_numbers)}")
    linecache.cache[title] = (len(source), None, source.splitlines(True), title)
    code = compile(source, title, "exec")
    exec(code, names)
    function: Callable[..., Any] = names[code.co_names[0]]
    weakref.finalize(function, linecache.cache.pop, title, None).atexit = False
    return function


def each(form: str, positions: Iterable[Any]) -> str:
    """`form` with each position, with commas between."""
    return ", ".join(form.format(i) for i in positions)


def lines(depth: int, made: list[str]) -> str:
    """Statements at an indentation of `depth`."""
    return ("\n" + " " * depth).join(made) or "pass"
