"""Tensors made in the type of another: ``x.new_zeros(2, 3)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensors import creation
from ..tensors.tensor import Size


def _new(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, dtype: Any = None, **options: Any) -> Any:
        return function(*args, dtype=dtype or self.dtype, **options)

    method.__name__ = method.__qualname__ = f"new_{function.__name__}"
    method.__doc__ = f"`{function.__name__}` in this tensor's element type, unless `dtype` is given."
    return method


new_zeros = _new(creation.zeros)
new_ones = _new(creation.ones)
new_empty = _new(creation.empty)
new_full = _new(creation.full)
new_tensor = _new(creation.tensor)


def new(self: Any, *args: Any) -> Any:
    """The legacy constructor in this tensor's type: sizes, or data."""
    if len(args) == 1 and isinstance(args[0], (list, tuple)) and not isinstance(args[0], Size):
        return creation.tensor(args[0], dtype=self.dtype)
    return creation.empty(*(args or (0,)), dtype=self.dtype)
