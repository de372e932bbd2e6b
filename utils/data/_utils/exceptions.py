"""Errors that happened in another process: told with their traceback, raised again where the batch is asked for."""

from __future__ import annotations

import sys
import traceback
from typing import Any, NoReturn


class KeyErrorMessage(str):
    """A text that a KeyError shows as it is, with its line breaks."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The class and the traceback of an error, as text: what can be sent to another process."""

    __slots__ = ("exc_msg", "exc_type", "where")

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = exc_info or sys.exc_info()
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an error of the same class with the other process's traceback as its text; RuntimeError where the class
        cannot be made of a text."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(KeyErrorMessage(text))
        if getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error
