"""Compiling for whoever comes before the compiler in the order of imports: ``Module.compile``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_compilers: list[Callable[..., Any]] = []  # at most one
_kinds: list[type] = []


def set_compiler(compiler: Callable[..., Any], kind: type) -> None:
    """Let `compiled_by` be `compiler`; what it gives is of the class `kind`, and made of its `function`."""
    _compilers[:] = [compiler]
    _kinds[:] = [kind]


def what_is_compiled(value: object) -> Any:
    """The function or module of which `value` is the compiled form; `value` itself if it is none."""
    return value.function if _kinds and isinstance(value, _kinds[0]) else value  # type: ignore[attr-defined]


def compiled_by(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """``compile(function, *args, **kwargs)``."""
    compiled: Callable[..., Any] = _compilers[0](function, *args, **kwargs)
    return compiled
