"""What modules and their tensors are called while a function is recorded: dotted paths from the outermost module."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Outermost(threading.local):
    paths: dict[int, str] | None = None  # id of a module -> its path; modules live as long as the outermost call


_outermost = _Outermost()


@contextmanager
def naming(module: Any) -> Iterator[str]:
    """Inside the block, `module` has a path (yielded); the outermost one names all modules and tensors below it."""
    if _outermost.paths is not None:
        yield _outermost.paths.get(id(module), type(module).__name__)
        return
    _outermost.paths = {id(below): path for path, below in module.named_modules()}
    for path, tensor in (*module.named_parameters(), *module.named_buffers()):
        tensor.label = path
    try:
        yield ""
    finally:
        _outermost.paths = None


def path_of(module: Any) -> str:
    """The module's path, or the name of its class where it has none."""
    paths = _outermost.paths or {}
    return paths.get(id(module)) or type(module).__name__
