"""What a step puts in the place of something of any other kind: in lists, dicts, attributes, variables and buffers of
modules, once or at each call. All kinds of values by all kinds."""

import dataclasses
import enum
import functools
import types

import numpy as np
import pytest
from side_by_side import Program, batch


class Plain:
    pass


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Record:
    size: float = 2.0


def function():
    return 1


# Made of the step's argument and of how often one was made.
KINDS = {
    "None": lambda tg, x, n: None,
    "bool": lambda tg, x, n: n % 2 == 0,
    "int": lambda tg, x, n: 300 + n,
    "float": lambda tg, x, n: 0.5 + n,
    "constant": lambda tg, x, n: 2.0,
    "complex": lambda tg, x, n: 1j * n,
    "str": lambda tg, x, n: f"text {n}",
    "tuple": lambda tg, x, n: (1, n),
    "list": lambda tg, x, n: [1, n],
    "dict": lambda tg, x, n: {"a": n},
    "set": lambda tg, x, n: {n},
    "numpy number": lambda tg, x, n: np.float64(n),
    "numpy array": lambda tg, x, n: np.arange(3.0) + n,
    "tensor": lambda tg, x, n: x * 2,
    "number of a tensor": lambda tg, x, n: x.sum().item(),
    "list of tensors": lambda tg, x, n: [x + 1, x],
    "object": lambda tg, x, n: Plain(),
    "record": lambda tg, x, n: Record(),
    "enum": lambda tg, x, n: Colour.RED,
    "function": lambda tg, x, n: function,
    "bound method": lambda tg, x, n: Record().__repr__,
    "class": lambda tg, x, n: Plain,
    "module": lambda tg, x, n: types,
    "layer": lambda tg, x, n: tg.nn.Tanh(),
}


# Each place: a step that puts something there by a statement of its own, what puts it there between calls, a look.


def in_list(tg, made):
    row = [1, None]

    def step(x):
        y = x * 3
        row[1] = made(x)
        return y

    return step, functools.partial(row.__setitem__, 1), lambda: row


def in_dict(tg, made):
    table = {"other": 2.0, "kept": None}

    def step(x):
        y = x * 3
        table["kept"] = made(x)
        return y

    return step, functools.partial(table.__setitem__, "kept"), lambda: table


def in_attribute(tg, made):
    holder = Plain()

    def step(x):
        y = x * 3
        holder.kept = made(x)
        return y

    return step, functools.partial(setattr, holder, "kept"), lambda: vars(holder)


def in_variable(tg, made):
    kept = None

    def step(x):
        nonlocal kept
        y = x * 3
        kept = made(x)
        return y

    def put(value):
        nonlocal kept
        kept = value

    return step, put, lambda: kept


def in_layer(tg, made):
    layer = tg.nn.Linear(1, 1)
    layer.kept = None

    def put(value):
        if isinstance(value, tg.nn.Module) or not isinstance(layer.kept, tg.nn.Module):
            layer.kept = value
        else:  # in the place of a layer nothing else may be
            layer.other = value

    def step(x):
        y = x * 3
        put(made(x))
        return y

    return step, put, lambda: [layer.kept, getattr(layer, "other", None)]


PLACES = [in_list, in_dict, in_attribute, in_variable, in_layer]


def text_of(value):
    """Objects that are made anew are told by their class."""
    return type(value).__name__ if callable(value) else value


def replacing(tg, place, first, second, is_put_back):
    calls = [0]

    def made(x):
        return KINDS[second](tg, x, calls[0])

    step, put, look = place(tg, (lambda x: 2.0) if second == "constant" else made)

    def between(i):
        calls[0] = i
        if is_put_back or i == 0:
            put(KINDS[first](tg, batch(tg, i, 3), 7))

    def state():
        found = look()
        if place in (in_list, in_layer):
            return [text_of(item) for item in found]
        if place in (in_dict, in_attribute):
            return {key: text_of(item) for key, item in found.items()}
        return text_of(found)

    return Program(step, lambda i: (batch(tg, i, 3),), state, between)


@pytest.mark.long(fast=1009, every=83)
@pytest.mark.parametrize("is_put_back", [False, True], ids=["once", "at each call"])
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_it_is_there_as_in_eager_mode(agree, place, first, second, is_put_back):
    agree(lambda tg: replacing(tg, place, first, second, is_put_back))
