"""``memory_limit``: what may be given, and calls that would need more."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..compiler.errors import MemoryLimitError
from .common.classes import is_a
from .verification.snapshot import Snapshot


def checked(limit: Any) -> int:
    """The limit as a number of bytes; TypeError for what is no integer, ValueError for a negative one."""
    if is_a(limit, bool) or not hasattr(limit, "__index__"):
        raise TypeError(_refused(f"memory_limit is a {type(limit).__name__}, not an integer"))
    number = operator.index(limit)
    if number < 0:
        raise ValueError(_refused(f"memory_limit is {number}, and no program works in less than nothing"))
    return number


def _refused(what: str) -> str:
    return f"{what}\n  in tg.compile(memory_limit=...)\n  Pass a number of bytes, as 256 * 2**20, or leave it out."


def undone_beyond_limit(
    function: Callable[..., Any], record: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``record(args, kwargs)``, which does a call of `function`. Where its program would need more than it may, the
    MemoryLimitError comes when the call is done: all that the function reaches is put back."""
    before = Snapshot(function, [*args, *kwargs.values()])
    try:
        return record(args, kwargs)
    except MemoryLimitError:
        try:
            before.restore()
        except BaseException:
            before.restore()  # wholly: an interrupt may have come within
            raise
        raise
