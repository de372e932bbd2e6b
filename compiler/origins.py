"""Where in the user's program the recording is: the innermost frame outside of this package, and the module path."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

from .graph import Origin

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Programs that live inside the checkout but are users of the package, not part of it.
USERS = ("tests", "examples", "benchmarks")
_USERS = tuple(_PACKAGE + folder + os.sep for folder in (*USERS, ".venv"))


_STANDARD = sysconfig.get_path("stdlib") + os.sep
_INSTALLED = tuple(_STANDARD + folder + os.sep for folder in ("site-packages", "dist-packages"))


@functools.lru_cache(maxsize=4096)
def is_standard_file(filename: str) -> bool:
    """True for code of Python's library."""
    return filename.startswith("<frozen") or (filename.startswith(_STANDARD) and not filename.startswith(_INSTALLED))


@functools.lru_cache(maxsize=4096)
def is_user_file(filename: str) -> bool:
    """True for code that uses the package, False for the package's own and for Python's library."""
    return not is_standard_file(filename) and not is_own_file(filename)


@functools.lru_cache(maxsize=4096)
def is_own_file(filename: str) -> bool:
    """True for the package's own code."""
    return filename.startswith(_PACKAGE) and not filename.startswith(_USERS)


def user_place() -> tuple[str, int]:
    """File and line of the innermost user frame; ("", 0) if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if is_user_file(code.co_filename):
            return code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0


class Whereabouts:
    """The current origin of a recording: user line and module path, or the derivative of an earlier origin."""

    def __init__(self) -> None:
        self._modules: list[str] = []
        self._deriving: Origin | None = None
        self._known: dict[tuple[Any, ...], Origin] = {}

    def now(self) -> Origin:
        """The origin for an op that is recorded now."""
        if self._deriving is not None:
            return self._deriving
        return self._origin((*user_place(), self._modules[-1] if self._modules else ""))

    def deriving(self, origin: Origin | None, function: Callable[..., Any], *args: Any) -> Any:
        """``function(*args)``, whose ops are derivatives of `origin`."""
        before = self._deriving
        source = origin if origin is not None else self.now()
        try:
            self._deriving = self._origin((source.file, source.line, source.module, True))
            return function(*args)
        finally:
            self._deriving = before

    def _origin(self, fields: tuple[Any, ...]) -> Origin:
        """One object for each place."""
        if fields not in self._known:
            self._known[fields] = Origin(*fields)
        return self._known[fields]

    def enter_module(self, path: str) -> None:
        self._modules.append(path)

    def leave_module(self) -> None:
        self._modules.pop()
