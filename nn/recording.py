"""What modules tell a recording: the names of modules and tensors, and what the program has read of them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..tracing.watch import declare_kind, declare_read, watcher


class _Outermost(threading.local):
    paths: dict[int, str] | None = None  # id of a module -> its path; modules live as long as the outermost call


_outermost = _Outermost()
_made_in: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # module -> reference to its recording


def naming(module: Any, run: Callable[[str], Any]) -> Any:
    """``run(path)``, where `path` is that of `module`; the outermost one names all modules and tensors below it."""
    if _outermost.paths is not None:
        return run(_outermost.paths.get(id(module), type(module).__name__))
    try:
        try:
            _outermost.paths = {id(below): path for path, below in module.named_modules()}
            for path, tensor in (*module.named_parameters(), *module.named_buffers()):
                tensor.label = path
            return run("")
        finally:
            _outermost.paths = None
    finally:
        _outermost.paths = None  # an interrupt may come in the line before


def note_made(module: Any) -> None:
    """`module` is being made. If that happens in a recorded function, every call makes its own: nothing to guard."""
    listening = watcher()
    if listening is not None:
        _made_in[module] = weakref.ref(listening)


def is_made_here(module: Any) -> bool:
    """True if the function that is being recorded has made `module`: what is set of it is set anew by each call."""
    listening = watcher()
    if listening is None:
        return False
    made_in = _made_in.get(module)
    return made_in is not None and made_in() is listening


def declared(module: Any, what: str, get: Callable[[], Any], kind: str = "modules") -> Any:
    """``get()``, something that the program depends on; a recording keeps it as a guard. `kind` is its counter."""
    if watcher() is None or is_made_here(module):
        return get()
    paths = _outermost.paths or {}
    declare_kind(kind)
    return declare_read(f"{what} of {paths.get(id(module)) or type(module).__name__}", get)
