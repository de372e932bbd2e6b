"""Functions of the program that an interpreter gives up in their middle, so that they are called in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


class Refusal(BaseException):
    """Raised by an interpreter within a function of the program. No `except Exception` there shall swallow it."""


class Refusing:
    """An interpreter that remembers that it has refused: a function may catch everything, and go on."""

    refused: Refusal | None = None

    def refuse(self, why: Refusal) -> NoReturn:
        """Raise `why`, for now and for the end of the function."""
        if self.refused is None:
            self.refused = why
        raise why


def unless_refused(interpreter: Refusing, run: Callable[..., T], *args: Any) -> T:
    """``run(*args)``. The Refusal of `interpreter`, if there was one, whatever the function has made of it."""
    try:
        result = run(*args)
    except Exception:
        if interpreter.refused is not None:
            raise interpreter.refused from None
        raise
    if interpreter.refused is not None:
        raise interpreter.refused
    return result
