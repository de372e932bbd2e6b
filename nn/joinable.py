"""Sequences of layers that are added and multiplied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class Joinable:
    """The operators of Sequential; layers are shared, not copied."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add modules at the end; returns self."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        """The layers of both, one after the other; ValueError for anything but a Sequential."""
        return _base(self)(*self, *_layers(other))

    def __iadd__(self, other: Any) -> Any:
        return self.extend(_layers(other))

    def __mul__(self, other: int) -> Any:
        """The layers so often, the same ones each time; TypeError and ValueError for no number above 0."""
        return _base(self)(*(list(self) * _times(self, other)))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Any:
        layers = list(self)
        return self.extend(layers * (_times(self, other) - 1))


def _base(sequence: Any) -> Any:
    """Sequential, also for an object of a class that inherits from it."""
    return next(kind for kind in type(sequence).__mro__ if Joinable in kind.__bases__)


def _layers(other: Any) -> list[Any]:
    if not isinstance(other, Joinable):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
    return list(other)


def _times(sequence: Any, factor: Any) -> int:
    if not isinstance(factor, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(sequence)} and {type(factor)}")
    if factor <= 0:
        raise ValueError(f"Non-positive multiplication factor {factor} for {type(sequence)}")
    return factor
