"""Which specialisation serves the call after one: programs take turns, as where gradients are accumulated over four
batches, so that looking at them in the order of the latest call is looking at the wrong one first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..common.classes import is_a
from .fast_path import MISS, compile_fast_path
from .structured_calls import StructuredCall, compile_structured_call

if TYPE_CHECKING:
    from .specialisation import Specialisation

MOST = 256  # pairs that are remembered


class Turns:
    """Of one function. What comes after two specialisations is what came after them before."""

    def __init__(self) -> None:
        self._latest: tuple[Any, Any] = (None, None)
        self._after: dict[tuple[Any, Any], Specialisation] = {}

    def note(self, specialisation: Specialisation) -> None:
        """It serves a call, and others from then on until another one is noted."""
        before, latest = self._latest
        if specialisation is not latest:
            if len(self._after) >= MOST:
                self._after.clear()
            self._after[before, latest] = specialisation
            self._latest = latest, specialisation

    def candidates(self, specialisations: Sequence[Specialisation], kwargs: dict[str, Any]) -> Sequence[Specialisation]:
        """Those whose usual calls are worth a look, where that of the first of all has not served this call, as it
        could with arguments by position."""
        expected = self.expected(specialisations) if len(specialisations) > 1 else None
        first = specialisations[:1] if kwargs else []
        return first if expected is None else [expected, *first]

    def expected(self, specialisations: Sequence[Specialisation]) -> Specialisation | None:
        """The one that comes next, if that is another one than the first of all, which is asked anyway."""
        expected = self._after.get(self._latest)
        return expected if expected in specialisations[1:] else None

    def in_order(self, specialisations: Sequence[Specialisation]) -> Sequence[Specialisation]:
        """The same ones, what is expected next first."""
        expected = self.expected(specialisations)
        if expected is None:
            return specialisations
        return [expected, *(each for each in specialisations if each is not expected)]


def compile_usual_call(of: Specialisation) -> Any:
    """What does usual calls of a specialisation, None if they are never usual."""
    return compile_fast_path(of) or compile_structured_call(of)


def usual_call(of: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of the usual call of a specialisation, `MISS` if this is none."""
    usual = of.usual
    if is_a(usual, StructuredCall):
        return usual(args, kwargs)
    return usual(args) if callable(usual) and not kwargs else MISS
