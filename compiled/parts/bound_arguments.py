"""Library functions with some arguments fixed: ``softmax(x, 1)`` as a function of `x` alone, one for each dimension.

What is left are tensors by position, which is the form of a call that a function written for it can note.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from ...ops.locks import new_lock
from ...ops.types import DType
from ...tensors.operands import PLAIN_TENSORS

MOST_FORMS = 8  # of one function; numbers that go on changing are data

TENSOR = object()  # in a key, for an argument that is one
_PLAIN = frozenset((bool, int, str, type(None), DType))


class BoundFunctions:
    """The functions of one compiled function, by what they are made of."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._forms: dict[Hashable, Callable[..., Any]] = {}
        self._counts: dict[Any, int] = {}  # by function, which is kept: its identity stays taken

    def of(self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, tuple[Any, ...]] | None:
        """The function of tensors alone that does this call, and the tensors; None where there is none."""
        tensors: list[Any] = []
        key: list[Hashable] = [function]
        for name, arg in (*enumerate(args), *kwargs.items()):
            if type(arg) in PLAIN_TENSORS:
                tensors.append(arg)
                key += (name, TENSOR)
            else:
                key += (name, _key_of(arg))
        if None in key:
            return None
        known = self._forms.get(tuple(key)) or self._new(tuple(key), function, args, kwargs)
        return None if known is None else (known, tuple(tensors))

    def _new(self, key: Hashable, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        with self._lock:
            count = self._counts.get(function, 0)
            if key in self._forms or count >= MOST_FORMS:
                return self._forms.get(key)
            self._counts[function] = count + 1
            self._forms[key] = _bound(function, args, kwargs)
            return self._forms[key]


def _key_of(arg: Any) -> Hashable:
    """Equal for what is the same constant, None for what is none."""
    kind = type(arg)
    if kind in _PLAIN:
        return kind, arg
    if kind is float:
        return kind, repr(arg)  # -0.0 is not 0.0
    if kind is tuple and all(type(each) is int for each in arg):
        return kind, arg
    return None


def _bound(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[..., Any]:
    fixed = tuple(TENSOR if type(arg) in PLAIN_TENSORS else arg for arg in args)
    named = {name: TENSOR if type(arg) in PLAIN_TENSORS else arg for name, arg in kwargs.items()}

    def bound(*tensors: Any) -> Any:
        given = iter(tensors)
        positional = [next(given) if each is TENSOR else each for each in fixed]
        return function(*positional, **{name: next(given) if each is TENSOR else each for name, each in named.items()})

    bound.__name__ = bound.__qualname__ = function.__name__
    return bound
