"""The states of Python's and numpy's random generators: a call that draws from them is not replayed."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..common.classes import is_a


def random_states(objects: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The generators of Python and numpy that draw from shared state, and those that the function reaches."""
    yield "Python's random", random.getstate
    yield "numpy.random", lambda: _comparable(np.random.get_state())
    for value in objects:
        if is_a(value, random.Random):
            yield "a random.Random", value.getstate
        elif is_a(value, np.random.Generator):
            yield "a numpy Generator", functools.partial(_of_generator, value)
        elif is_a(value, np.random.RandomState):
            yield "a numpy RandomState", functools.partial(_of_random_state, value)


def _of_generator(generator: np.random.Generator) -> Any:
    return _comparable(generator.bit_generator.state)


def _of_random_state(generator: np.random.RandomState) -> Any:
    return _comparable(generator.get_state())


def _comparable(state: Any) -> Any:
    """A state whose arrays are bytes: to write one down takes a millisecond."""
    if is_a(state, np.ndarray):
        return state.tobytes()
    if is_a(state, dict):
        return {key: _comparable(value) for key, value in state.items()}
    return tuple(map(_comparable, state)) if is_a(state, tuple) else state
