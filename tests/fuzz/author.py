"""The author of one random program: its text so far, and the tensors that its statements made, run as it is written.

Each statement is executed eagerly the moment it is written (that is call number 0 of the program), so that the author
knows shapes, types and sizes of numbers, and never writes what makes no sense: a statement that fails, or whose result
is not finite, large or long, is dropped.

Two kinds of numbers are told apart. *Exact* tensors hold multiples of 1/4096 that every order of addition computes
without rounding: what is discontinuous (comparisons, sorting, argmax) is asked of them only. All others may differ in
their last bits between eager and compiled, and discontinuities near them are moved to odd places.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tracegrad as tg

MAX_ELEMENTS = 64
MAX_NUMBER = 30.0  # larger results are dropped: gradients and sums of squares of what stays are small enough
EXACT_UNIT, EXACT_BOUND = 4096, 2**22  # multiples of 1/4096 below 1024: sums of many have less than float32's 24 bits
HEADER = """import collections
import concurrent.futures
import contextlib
import copy
import dataclasses
import enum
import functools
import io
import itertools
import math
import operator
import os
import random
import sys
import threading
import time
import types
import warnings

import numpy as np

import tracegrad as tg

F, nn = tg.nn.functional, tg.nn
ZERO, ONE, HALF, THRESHOLD = 0, 1, 0.5, 1.5
"""


@dataclass
class Made:
    """What is known of a variable: `uses` counts the statements that read it."""

    exact: bool
    fixed: bool = False  # from outside of the step: a parameter, a buffer, an argument
    uses: int = 0


@dataclass
class Author:
    """Writes statements and keeps the tensors that they made."""

    seed: int
    sizes: tuple[int, ...] = (1, 2, 3, 4)
    lines: list[str] = field(default_factory=list)
    made: dict[str, Made] = field(default_factory=dict)
    units: list[str] = field(default_factory=list)  # what was executed, to execute it again
    numbers: list[str] = field(default_factory=list)  # arguments that are Python numbers
    facts: list[str] = field(default_factory=list)  # expressions that depend on what else changes outside
    cells: list[str] = field(default_factory=list)  # variables that only one function may bind: the step, or its caller
    deeds: list[str] = field(default_factory=list)  # statements that change it
    functions: list[str] = field(default_factory=list)  # of one tensor, with a backward of their own
    modules: list[tuple[str, int, int, Any]] = field(default_factory=list)  # name, features, least ndim, dtype
    indent: int = 2
    count: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        # Few sizes a program, so that tensors fit together; now and then none at all.
        pool = [self.choice(self.sizes) for _ in range(3)]
        self.extents = [*pool, *pool, 1] if self.chance(0.95) else [*pool, 0]
        self.double = self.chance(0.7)  # the program's usual type: rounding hides least in float64
        self.looks = self.chance(0.2)  # at numbers, from Python, and keeps things outside
        self.again()

    def again(self) -> None:
        """Execute all that was written once more, from the start."""
        self.env: dict[str, Any] = {"compile": lambda f: f, "i": 0}
        tg.manual_seed(0)
        exec(HEADER, self.env)
        for unit in self.units:
            exec(unit, self.env)

    # --------------------------------------------------------------------------------------------------- the dice

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def choice(self, options: Iterable[Any]) -> Any:
        return self.rng.choice(list(options))

    def shape(self, ndim: int | None = None) -> tuple[int, ...]:
        ndim = self.choice([0, 1, 1, 2, 2, 2, 2, 3]) if ndim is None else ndim
        return tuple(self.choice(self.extents) for _ in range(ndim))

    def number(self) -> str:
        """A number without a pattern, to scale and shift with."""
        return f"{self.rng.uniform(-1.2, 1.2):.3f}"

    def dtype(self) -> str:
        usual, other = ("tg.float64", "tg.float32") if self.double else ("tg.float32", "tg.float64")
        return usual if self.chance(0.9) else other

    # ---------------------------------------------------------------------------------------------- the variables

    def __getitem__(self, name: str) -> Any:
        return self.env[name]

    def names(self, wanted: Callable[[Any, Made], bool] = lambda tensor, made: True) -> list[str]:
        return [name for name, made in self.made.items() if wanted(self.env[name], made)]

    def pick(self, wanted: Callable[[Any, Made], bool] = lambda tensor, made: True) -> str | None:
        """A variable, rather one that was made late and is not used yet."""
        names = self.names(wanted)
        if not names:
            return None
        weights = [(3 if not self.made[n].uses else 1) * (1 + i / len(names)) for i, n in enumerate(names)]
        return self.rng.choices(names, weights)[0]

    def floating(self, min_ndim: int = 0, exact: bool = False) -> str | None:
        return self.pick(lambda t, m: t.is_floating_point() and t.ndim >= min_ndim and (m.exact or not exact))

    def of_type(self, *dtypes: Any, min_ndim: int = 0) -> str | None:
        return self.pick(lambda t, m: t.dtype in dtypes and t.ndim >= min_ndim)

    def fitting(self, name: str, floating: bool = True, into: bool = False) -> str | None:
        """A variable that broadcasts with `name`'s shape (`into`: to exactly its shape)."""
        shape = tuple(self[name].shape)

        def fits(tensor: Any, made: Made) -> bool:
            if floating and not tensor.is_floating_point():
                return False
            try:
                together = np.broadcast_shapes(shape, tuple(tensor.shape))
            except ValueError:
                return False
            return together == shape if into else int(np.prod(together)) <= MAX_ELEMENTS

        return self.pick(fits)

    def axis(self, name: str) -> int:
        """An axis of a tensor that has at least one."""
        ndim = self[name].ndim
        return self.rng.randrange(-ndim, ndim)

    def exact(self, *names: str | None) -> bool:
        return all(self.made[name].exact for name in names if name is not None)

    # ------------------------------------------------------------------------------------------------ the writing

    def write(self, text: str) -> None:
        """Add lines without running them."""
        self.lines += ["    " * self.indent + line for line in text.split("\n")]

    def run(self, text: str) -> bool:
        """Run a statement and add it, unless it fails."""
        try:
            exec(text, self.env)
        except Exception:
            return False
        self.units.append(text)
        self.write(text)
        self.note_uses(text)
        return True

    def new_name(self, letter: str = "t") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def assign(self, expression: str, exact: bool = False, letter: str = "t", fixed: bool = False) -> str | None:
        """`name = expression` for a new name; None if the result is not a tensor that is good to go on with."""
        name = self.new_name(letter)
        try:
            value = eval(expression, self.env)
        except Exception:
            return None
        if not isinstance(value, tg.Tensor) or not good(value):
            return None
        self.env[name] = value
        self.made[name] = Made(exact and is_exact(value), fixed)
        self.units.append(f"{name} = {expression}")
        self.write(self.units[-1])
        self.note_uses(expression)
        return name

    def bind(self, statement: str) -> str | None:
        """Run a statement that binds ``{t}``, a new name; None if that is no tensor that is good to go on with."""
        name = self.new_name()
        text = statement.replace("{t}", name)
        try:
            exec(text, self.env)
        except Exception:
            return None
        if not isinstance(self.env.get(name), tg.Tensor) or not good(self.env[name]):
            return None
        self.made[name] = Made(False)
        self.units.append(text)
        self.write(text)
        self.note_uses(text)
        return name

    def note_uses(self, text: str) -> None:
        for name in set(re.findall(r"\w+", text)):
            if name in self.made:
                self.made[name].uses += 1


def good(tensor: Any) -> bool:
    """Small, finite and moderate."""
    numbers = tensor.detach().numpy()
    if numbers.size > MAX_ELEMENTS or numbers.ndim > 4:
        return False
    return bool(np.isfinite(numbers).all() and (np.abs(numbers.astype(np.float64)) <= MAX_NUMBER).all())


def is_exact(tensor: Any) -> bool:
    units = tensor.detach().numpy().astype(np.float64) * EXACT_UNIT
    return bool((units == np.rint(units)).all() and (np.abs(units) < EXACT_BOUND).all())
