"""Sizes that are known at run time only, as numbers: each is stood for by an integer that nothing else can be.

A program for all sizes of a batch is scheduled like any other, with a prime of about 2**96 in the place of the batch's
extent. Sums and products of integers are then polynomials in disguise: ``3 * P + 2`` can only be ``3 * n + 2``, for
coefficients are small and P is not. Whatever reaches the C as digits is read back and printed as an expression.

What is no polynomial does not read back: ``P // 4`` has a digit that is no coefficient. What reads back wrongly
(``P % 64``, or P rounded up to a multiple of 64) depends on which prime was taken: everything is done with two sets of
stand-ins, and what differs between them is refused (program.py). Comparisons see a size as larger than every number;
where a proof rests on one, it is noted down and looked at again for each real size (claims.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Coefficients, and all integers that are no sizes, are smaller than this.
LARGEST_NUMBER = 2**63
#: Integers of int64 have 19 digits at most, floats are printed with less, stand-ins have 29 and more.
_STANDING = re.compile(r"(?<![\w.])\d{25,}(?![\w.])")
#: As many sizes as there are stand-ins may vary independently. The second is larger than any cubic in the first.
MOST_SIZES = 2
NAMES = ("n0", "n1")

Powers = tuple[int, ...]


class NotSized(Exception):
    """No program for all sizes can be made of this; why is the message."""


def is_size(number: int) -> bool:
    """True for integers that stand for something that depends on a size."""
    return abs(number) >= LARGEST_NUMBER


@dataclass(frozen=True)
class Polynomial:
    """A sum of ``coefficient * n0**a * n1**b``."""

    terms: tuple[tuple[Powers, int], ...]

    def at(self, values: Sequence[int]) -> int:
        """Its value for real sizes."""
        total = 0
        for powers, coefficient in self.terms:
            for value, power in zip(values, powers, strict=False):
                coefficient *= value**power
            total += coefficient
        return total

    def __str__(self) -> str:
        """C, in parentheses where it is more than a name."""
        parts = [_term(powers, coefficient) for powers, coefficient in self.terms]
        text = " + ".join(parts).replace("+ -", "- ") or "0"
        return text if text in NAMES else f"({text})"


def _term(powers: Powers, coefficient: int) -> str:
    factors = [name for name, power in zip(NAMES, powers, strict=False) for _ in range(power)]
    sign = "-" if coefficient < 0 else ""
    if abs(coefficient) != 1 or not factors:
        factors.insert(0, str(abs(coefficient)))
    return sign + " * ".join(factors)


@dataclass(frozen=True)
class StandIns:
    """One set of stand-ins, in the order of `NAMES`."""

    numbers: tuple[int, ...]

    def first(self, count: int) -> StandIns:
        """The set for `count` sizes."""
        return StandIns(self.numbers[:count])

    def polynomial(self, number: int) -> Polynomial:
        """What `number` says; NotSized if it is none of sums and products of sizes."""
        return Polynomial(tuple(sorted(self._terms(number, len(self.numbers) - 1), reverse=True)))

    def _terms(self, number: int, place: int) -> list[tuple[Powers, int]]:
        """The digits of `number` in base stand-in, from the least, each between minus and plus half of it."""
        if place < 0:
            if is_size(number):
                raise NotSized("a number that is no sum of products of sizes")
            return [((0,) * len(self.numbers), number)] if number else []
        base, found, power = self.numbers[place], [], 0
        while number:
            digit = (number + base // 2) % base - base // 2
            for powers, coefficient in self._terms(digit, place - 1):
                found.append(((*powers[:place], powers[place] + power, *powers[place + 1 :]), coefficient))
            number, power = (number - digit) // base, power + 1
        return found

    def named(self, text: str) -> str:
        """`text` with expressions where it has stand-ins; NotSized where a number is none."""
        return _STANDING.sub(lambda match: str(self.polynomial(int(match[0]))), text)

    def names_in(self, text: str) -> tuple[str, ...]:
        """The sizes that `text` depends on."""
        found = [self.polynomial(int(number)) for number in _STANDING.findall(text)]
        used = {place for p in found for powers, _ in p.terms for place, power in enumerate(powers) if power}
        return tuple(NAMES[place] for place in sorted(used))


#: Two sets of primes. Their remainders differ for each small divisor but 2.
SETS = (StandIns((2**96 + 61, 2**440 + 187)), StandIns((2**97 + 407, 2**441 + 257)))
