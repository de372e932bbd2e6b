"""What a call does to Python objects after C has run: all of it, even where KeyboardInterrupt comes in between.

Python raises KeyboardInterrupt between two instructions of the interpreter; behind a C call that took long, it does so
at once. By then memory is as after the step, and gradients and versions must follow. So what is to be done is put
together before the call, and done in a way that can be begun again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..autograd.watch import changes
from ..ops.array import Buffer
from .binding import Binding


class Effects:
    """Attributes that get new values, and buffers whose versions are counted up."""

    def __init__(self, written: Iterable[Buffer], count_up: bool = False) -> None:
        self._written = iter(written)
        self._count_up = count_up  # whether guards must be looked at again
        self._places: list[tuple[Any, str, Any]] = []

    def set(self, target: Any, name: str, value: Any) -> None:
        """Give the attribute of an object without a ``__setattr__`` of its own another value; guards look at it."""
        self._places.append((target, name, value))
        self._count_up = True

    def apply(self) -> None:
        """Do it. After an interrupt it may be called once more, and does the rest."""
        for target, name, value in self._places:
            setattr(target, name, value)
        if self._count_up:
            changes.count += 1
        for buffer in self._written:  # an iterator: it goes on where it was
            buffer.version += 1


def run(binding: Binding, effects: Effects) -> None:
    """Call C, then do what follows: both, or neither if it raises."""
    binding.codes.clear()
    try:
        binding.run()
        effects.apply()
    except BaseException:
        if binding.has_run:
            effects.apply()
        raise
