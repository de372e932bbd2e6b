"""Arguments of a step in lists, tuples and dicts, some within others, in place of one after another."""

from __future__ import annotations

import random
from typing import NamedTuple

PACKED = 0.2  # of the programs


class Packed(NamedTuple):
    """The names in the step's ``def``, the lines that unpack them, and the arguments of a call."""

    names: str
    lines: list[str]
    given: str


def packed(seed: int, arguments: list[str]) -> Packed:
    """The arguments as a program has them; what is chosen here leaves what else is chosen for `seed` as it is."""
    rng = random.Random(seed + 0.5)
    if len(arguments) < 2 or rng.random() > PACKED:
        names = ", ".join(arguments)
        return Packed(names, [], names)
    names, lines, given = [], [], []
    rest = list(arguments)
    while rest:
        count = rng.randint(1, min(3, len(rest)))
        taken, rest = rest[:count], rest[count:]
        if count == 1 and rng.random() < 0.4:
            names += taken
            given += taken
            continue
        name = f"packed{len(names)}"
        names.append(name)
        if rng.random() < 0.5:
            given.append("{" + ", ".join(f"{each!r}: {each}" for each in taken) + "}")
            lines += [f"{each} = {name}[{each!r}]" for each in taken]
        else:
            bracket = rng.choice(["[{}]", "({},)"])
            inner = [rng.choice([f"[{each}]", each, f"({each},)"]) for each in taken]
            given.append(bracket.format(", ".join(inner)))
            targets = ", ".join(f"({each},)" if text != each else each for each, text in zip(taken, inner, strict=True))
            lines.append(f"({targets},) = {name}")
    return Packed(", ".join(names), lines, ", ".join(given))
