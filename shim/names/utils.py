"""``torch._utils``: tensors as one vector and back, and errors of workers."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ...functional.joining import cat
from ...functional.shapes import view_as
from ...tensors.tensor import Tensor

__all__ = [
    "ExceptionWrapper",
    "KeyErrorMessage",
    "_flatten_dense_tensors",
    "_import_dotted_name",
    "_unflatten_dense_tensors",
    "is_compiling",
]


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of the tensors, one after the other."""
    return cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of `flat` with the shapes of `tensors`."""
    parts, begin = [], 0
    for tensor in tensors:
        parts.append(view_as(flat.narrow(0, begin, tensor.numel()), tensor))
        begin += tensor.numel()
    return tuple(parts)


def _import_dotted_name(name: str) -> Any:
    first, *rest = name.split(".")
    found: Any = importlib.import_module(first)
    for part in rest:
        found = getattr(found, part)
    return found


def is_compiling() -> bool:
    """False: a function runs as Python at its recorded call, too."""
    return False


class KeyErrorMessage(str):
    """A message that KeyError shows as it is, with its line breaks."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An error of another thread or process, with its traceback as text, to be raised again here."""

    def __init__(
        self,
        exc_info: tuple[type[BaseException] | None, BaseException | None, TracebackType | None] | None = None,
        where: str = "in background",
    ) -> None:
        kind, error, tb = exc_info or sys.exc_info()
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, tb))
        self.where = where

    def reraise(self) -> None:
        """Raise an error of the same class; RuntimeError where that cannot be made of a text."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        try:
            error = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        raise error
