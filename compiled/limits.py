"""When another recording of a function would be as useless as those before it."""

from __future__ import annotations

from collections import Counter

from ..compiler.errors import CaptureError
from .explain import Change
from .recording.validity import refusal

LIMIT = 32  # programs of one function that are replayed
LIMIT_OF_TRANSIENT = 4  # recordings in a row that are not kept
LIMIT_OF_VALUES = 3  # recordings after the first that differ in one Python value: more would not end


class Limits:
    """What one compiled function has been recorded for."""

    def __init__(self) -> None:
        self._values: Counter[str] = Counter()  # how many values something has had that there is a program for each of
        self._once = 0  # calls in a row that did something which later calls were thought not to do,
        self._transient = ""  # and what the last of them did

    def note(self, because: Change) -> None:
        """There is a program because of this change."""
        self._values[because.what] += 1

    def note_transient(self, reason: str) -> None:
        """A call was recorded that is not to be repeated, for this reason; empty for one that is."""
        self._once = self._once + 1 if reason else 0
        self._transient = reason

    def check_values(self, because: Change, name: str) -> None:
        """CaptureError if there are enough programs that differ in this Python value."""
        if because.is_value and self._values[because.what] >= LIMIT_OF_VALUES:
            raise refusal(
                f"{because.what} has had {LIMIT_OF_VALUES} values, which are a program each, and now has another",
                f"at {because.place or 'the call of ' + name}",
                "Pass numbers that change as numbers or tensors, and keep what is only passed on out of the function.",
            )

    def check(self, programs: int, name: str) -> None:
        """CaptureError if there are enough programs, or enough calls in a row were not to be repeated."""
        if programs >= LIMIT:
            raise CaptureError(
                f"{name} has been recorded {LIMIT} times and calls still differ\n"
                f"  in {name}\n"
                "  Something that the program depends on changes at every call (`explain()` shows what): pass numbers "
                "that change as tensors, and keep shapes the same."
            )
        if self._once >= LIMIT_OF_TRANSIENT:
            raise refusal(self._transient, f"in {name}, at each call", "Do this outside.")
