"""What the usual call has found when it last looked, and the words of memory that tell that it is so still.

Most of what a call depends on is one word of some Python object: who else holds a gradient, what is in a variable of an
enclosing function, whether a class has got another member. All these words are compared at once (`references.memory`).
A result of one number is handed out again where its words, and those of its array and buffer, are what they were when
it was made: nobody holds it or has a weak reference to it, nothing was set or written in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.program import address_of
from ...runtime.references import memory, place_in_cell, place_of_count, place_of_flags, place_of_length, places_of
from ...tensors.tensor import Tensor
from ...tracing.watched_classes import classes
from .gradients import ALONE

if TYPE_CHECKING:
    from .specialisation import Specialisation

LONGEST_WAIT = 64  # calls whose results are not kept, where others before were held

# References that are there when only a Spare holds its tensor: to it; to its array (tensor, buffer, Spare); to its
# buffer and to its `__dict__` (tensor, Spare). What is looked at must not be freed, whatever the program puts in its
# place.
SPARE = (1, 3, 2, 2)


class Spare:
    """A result that was handed out, and may be handed out again; `other` is for the call after."""

    __slots__ = ("_parts", "address", "expected", "other", "places", "result")

    def __init__(self, look: LastLook, result: Tensor) -> None:
        self._parts = parts = (result.ndarray, result.buffer, vars(result))
        own = [places_of(result), *map(places_of, parts[:2]), [place_of_count(parts[2]), place_of_length(parts[2])]]
        places = np.array([place for part in own for place in part], np.intp)
        words = memory[places]
        words[np.cumsum([0, *map(len, own[:-1])])] = SPARE
        self.places = np.concatenate([look.places, places])
        self.expected = look.expected + words.tobytes()
        self.address = address_of(result.ndarray)
        self.result = result
        self.other: Spare | None = None


class LastLook:
    """What was found at the value `count` of `changes`, and holds while nothing is counted."""

    def __init__(self, of: Specialisation, cells: list[tuple[Any, Any]]) -> None:
        self._of = of
        self._cells = cells
        self.count = -1
        self.gradients_free: Callable[[], bool] = bool  # false
        self.containers = of.recording.environment.counted_containers
        self.places = self._own_places = np.zeros(0, np.intp)
        self.expected = self._own_expected = b"never"
        self.spare: Spare | None = None  # the one whose turn it is
        self._kept = self._wait = 0

    def again(self) -> bool:
        """Look again, if the specialisation itself has done so since the last change."""
        of, count = self._of, self._of.now()
        if count != of.seen or any(tensor._grad is not None for tensor, _ in of.grads.to_none):
            return False
        counts = of.grads.is_reusable()
        if counts is None or not classes.is_as_looked_at():
            return False
        self.gradients_free = counts.agree
        if memory is not None:
            self._note_words()
        self.count = count
        return True

    def _note_words(self) -> None:
        kept = [thing for output in self._of.grads.outputs for thing in zip(output.kept, ALONE, strict=False)]
        found = [(place_of_count(thing), count) for thing, count in kept]
        found += [(place_in_cell(cell), id(value)) for cell, value in self._cells]
        found += [(place_of_flags(kind), kind.__flags__) for kind in classes.flagged]
        self._own_places = np.array([place for place, _ in found], np.intp)
        self._own_expected = np.array([word for _, word in found], np.int64).tobytes()
        self._join_words()

    def _join_words(self) -> None:
        """What is looked at: the words of this call, and those of containers and of what is hardly ever set again, as
        the specialisation found them."""
        stable = self._of.recording.environment.stable
        self.places = np.concatenate([self._own_places, self.containers.places, stable.places])
        self.expected = self._own_expected + self.containers.expected + stable.expected
        self._forget()
        self._kept = self._wait = 0

    def is_settled(self) -> bool:
        """True if nothing but containers and names has changed, and all that was written to them was counted, or is of
        no interest to compiled functions."""
        if memory[self._own_places].tobytes() != self._own_expected or not self.containers.look():
            return False
        if not self._of.recording.environment.stable.look():
            return False
        self._join_words()
        return True

    def keep(self, result: Tensor) -> None:
        """A result that is about to be handed out: from now on it is looked at whether anybody still holds it. To be
        asked under the lock.

        Two take turns, since a program that binds a variable to each result holds the last one when it calls.
        """
        if self._wait:
            self._wait -= 1
            return
        spare, first = Spare(self, result), self.spare
        self._kept += 1
        if first is None:
            self.spare = spare.other = spare
        elif first.other is first:
            spare.other, first.other = first, spare
        else:  # both are held, as all results may be
            self._forget()
            self._wait = min(2**self._kept, LONGEST_WAIT)

    def _forget(self) -> None:
        """Keep no result, from now on: the two that take turns would hold each other."""
        if self.spare is not None:
            self.spare.other = None
        self.spare = None
