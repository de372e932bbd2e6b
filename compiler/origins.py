"""Where in the user's program the recording is: the innermost frame outside of this package, and the module path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.callers.source_files import user_place
from .graph import Origin


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
