"""The states of Python's and numpy's random generators: a call that draws from them is not replayed."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def random_states(objects: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The generators of Python and numpy that draw from shared state, and those that the function reaches."""
    yield "Python's random", random.getstate
    yield "numpy.random", lambda: repr(np.random.get_state())
    for value in objects:
        if isinstance(value, random.Random):
            yield "a random.Random", value.getstate
        elif isinstance(value, np.random.Generator):
            yield "a numpy Generator", functools.partial(_text_of_generator, value)
        elif isinstance(value, np.random.RandomState):
            yield "a numpy RandomState", functools.partial(_text_of_state, value)


def _text_of_generator(generator: np.random.Generator) -> str:
    return repr(generator.bit_generator.state)


def _text_of_state(generator: np.random.RandomState) -> str:
    return repr(generator.get_state())
