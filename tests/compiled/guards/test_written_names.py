"""Names that a call writes, or asks for, past what its code spells out: on each kind of owner, by each way there is.

The program outside puts another value there, or takes it away, between the calls: a write that a replay leaves out
shows then, and so does an answer that it repeats.
"""

import copy
import dataclasses
import enum
import functools
import inspect
import json
import logging
import math
import operator
import pickle
import sys
import types

import pytest

import tracegrad as tg

USED_BY_TEXTS = copy, inspect, pickle  # of the programs
NAME, PATTERN, HELD, GETTER = "MORE", "{0.MORE}", None, operator.attrgetter("MORE")
ABSENT = object()


class Plain:
    pass


class Slotted:
    __slots__ = ("MORE",)


class Numbers(list):
    pass


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Settings:
    first: int = 1


class Net(tg.nn.Module):
    def forward(self, x):
        return x


def function(x):
    return x


def module():
    made = sys.modules["module_with_names"] = types.ModuleType("module_with_names")
    return made


OWNERS = {
    "an object": Plain,
    "a class": lambda: type("Made", (), {}),
    "slots": Slotted,
    "a list of its own class": Numbers,
    "an enumeration's member": lambda: Colour.RED,
    "a dataclass": Settings,
    "a layer": Net,
    "an optimizer": lambda: tg.optim.SGD([tg.ones(1, requires_grad=True)], lr=0.1),
    "a tensor": lambda: tg.ones(2),
    "a function": lambda: types.FunctionType(function.__code__, globals(), "another"),
    "a partial": lambda: functools.partial(function),
    "a namespace": types.SimpleNamespace,
    "a logger": lambda: logging.getLogger("logger_with_names"),
    "this module": lambda: sys.modules[__name__],
    "a module of the program": module,
    "a module of Python": lambda: json,
    "a module in C": lambda: math,
    "the library": lambda: tg.nn.functional,
    "an exception": ValueError,
}


def put(owner):
    owner.MORE = 3.0


WRITES = {
    "an assignment": "HELD.MORE = 3.0",
    "setattr": "setattr(HELD, 'MORE', 3.0)",
    "a computed name": "setattr(HELD, NAME, 3.0)",
    "object's setattr": "object.__setattr__(HELD, 'MORE', 3.0)",
    "__dict__": "HELD.__dict__['MORE'] = 3.0",
    "__dict__, computed": "HELD.__dict__[NAME] = 3.0",
    "vars, update": "vars(HELD).update(MORE=3.0)",
    "exec": "exec('HELD.MORE = 3.0')",
    "a function": "put(HELD)",
    "del": "del HELD.MORE",
    "delattr, computed": "delattr(HELD, NAME)",
    "modules": "setattr(sys.modules[__name__].__dict__['HELD'], 'MORE', 3.0)",
    "all modules": "setattr(dict(sys.modules)[__name__].HELD, 'MORE', 3.0)",
    "globals": "setattr(globals()['HELD'], 'MORE', 3.0)",
    "another's globals": "setattr(put.__globals__['HELD'], 'MORE', 3.0)",
}
READS = {
    "a computed name": "getattr(HELD, NAME, 5.0)",
    "whether it is there": "2.0 if hasattr(HELD, NAME) else 3.0",
    "__dict__": "HELD.__dict__.get(NAME, 5.0)",
    "vars": "vars(HELD).get('MORE', 5.0)",
    "all of vars": "{**vars(HELD)}.get(NAME, 5.0)",
    "how many": "float(NAME in vars(HELD))",
    "eval": "eval('HELD.MORE')",
    "attrgetter": "operator.attrgetter(NAME)(HELD)",
    "attrgetter from outside": "list(map(GETTER, [HELD]))[0]",
    "methodcaller": "operator.methodcaller('__getattribute__', NAME)(HELD)",
    "format": "float(PATTERN.format(HELD))",
    "a text with an attribute": "float('{0.MORE}'.format(HELD))",
    "percent": "float('%(MORE)s' % vars(HELD))",
    "repr": "float(len(repr(HELD)))",
    "a copy": "copy.copy(HELD).MORE",
    "a pickle": "pickle.loads(pickle.dumps(HELD)).MORE",
    "inspect": "inspect.getattr_static(HELD, NAME)",
    "modules": "getattr(sys.modules[__name__].HELD, NAME, 5.0)",
    "a match": "matched(HELD)",
}


def matched(value):
    match value:
        case object(MORE=number):
            return number
        case _:
            return 5.0


def held(owner, value):
    """Give `owner` the value, or take it away, as far as that can be done."""
    global HELD
    HELD = owner
    for act in (lambda: delattr(owner, NAME), lambda: setattr(owner, NAME, value)):
        try:
            if value is not ABSENT or act.__code__.co_names[0] == "delattr":
                act()
        except (AttributeError, TypeError):
            pass


def outcomes(step, owner, values):
    """What each call gave and left, `values` having been put there before (None: as the last call left it)."""
    found = []
    for value in values:
        if value is not None:
            held(owner, value)
        try:
            result = step(tg.ones(2)).tolist()
        except Exception as error:  # a name that is absent, an owner that cannot be copied
            result = type(error).__name__
        found.append((result, repr(getattr(owner, NAME, "absent"))))
    held(owner, ABSENT)
    return found


def made(text):
    """The program ``step(x)`` with a line of its own, as one of this module."""
    space: dict = {}
    exec(f"def make():\n    def step(x):\n        {text}\n    return step", globals(), space)
    return space["make"]()


WRITTEN = {
    "absent": [ABSENT] * 5,
    "another value": [7.0] * 5,
    "absent later": [ABSENT, None, None, ABSENT, ABSENT, ABSENT],
    "another value later": [7.0, None, None, 7.0, 7.0, 7.0],
}
READ = {
    "other values": [7.0, 7.0, 7.0, 8.0, 9.0, 7.5],
    "it comes": [ABSENT] * 3 + [7.0] * 3,
    "it goes": [7.0] * 3 + [ABSENT] * 3,
}


@pytest.mark.long(fast=199, every=23)
@pytest.mark.parametrize("before", WRITTEN)
@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize("kind", OWNERS)
def test_what_a_call_writes_is_written_by_each_call(kind, way, before):
    owner, step = OWNERS[kind](), made(f"{WRITES[way]}; return x * 2")
    assert outcomes(tg.compile(step), owner, WRITTEN[before]) == outcomes(step, owner, WRITTEN[before])


@pytest.mark.long(fast=199, every=23)
@pytest.mark.parametrize("change", READ)
@pytest.mark.parametrize("way", READS)
@pytest.mark.parametrize("kind", OWNERS)
def test_what_a_call_asks_for_is_asked_by_each_call(kind, way, change):
    owner, step = OWNERS[kind](), made(f"return x * {READS[way]}")
    assert outcomes(tg.compile(step), owner, READ[change]) == outcomes(step, owner, READ[change])


GLOBALS = {
    "globals": "globals()['WRITTEN_NAME'] = 3",
    "globals, update": "globals().update(WRITTEN_NAME=3)",
    "globals, computed": "globals()['WRITTEN_' + NAME.replace('MORE', 'NAME')] = 3",
    "another's": "put.__globals__['WRITTEN_NAME'] = 3",
    "the module": "sys.modules[__name__].WRITTEN_NAME = 3",
    "exec": "exec('WRITTEN_NAME = 3', globals())",
    "exec, global": "exec('global WRITTEN_NAME; WRITTEN_NAME = 3')",
}


@pytest.mark.parametrize("way", GLOBALS)
def test_global_variables_are_written_by_each_call(way):
    step, found = tg.compile(made(f"{GLOBALS[way]}; return x * 2")), []
    for _ in range(5):
        globals().pop("WRITTEN_NAME", None)
        step(tg.ones(2))
        found.append(globals().get("WRITTEN_NAME"))
    globals().pop("WRITTEN_NAME", None)
    assert found == [3] * 5
