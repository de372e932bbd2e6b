"""Compiling for whoever comes before the compiler in the order of imports: ``Module.compile``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_compilers: list[Callable[..., Any]] = []  # at most one


def set_compiler(compiler: Callable[..., Any]) -> None:
    """Let `compiled_by` be `compiler`."""
    _compilers[:] = [compiler]


def compiled_by(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """``compile(function, *args, **kwargs)``."""
    compiled: Callable[..., Any] = _compilers[0](function, *args, **kwargs)
    return compiled
