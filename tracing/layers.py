"""Which layer of a model is at work, for those who keep it to name it later; modules say how it is found."""

from __future__ import annotations

from collections.abc import Callable

Describe = Callable[[], str]


def _unknown() -> Describe:
    return str


_find: list[Callable[[], Describe]] = [_unknown]


def find_layers_by(find: Callable[[], Describe]) -> None:
    """Let `current_layer` be `find`."""
    _find[:] = [find]


def current_layer() -> Describe:
    """A function that gives the path and class of the layer in whose call this thread is now; "" outside of all."""
    return _find[0]()
