"""Traps of containers and records: what is in them changes between the calls."""

import collections
import dataclasses
import enum
import types

import numpy as np
import pytest
from compiled.table import Section
from side_by_side import Program, batches, ramp, switched

ask = Section("Traps: containers")


def trap(make):
    return ask.either(calls=6)(make)


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A frozen configuration."""

    scale: float = 2.0
    inner: tuple[str, ...] = ("sum",)


@trap
def order_of_a_dict(tg):
    """Is the insertion order of a dict that is captured, and of one that is passed, believed?"""
    layers = {"a": 1.0, "b": 2.0}

    def between(i):
        if i in (2, 4):
            layers["a"] = layers.pop("a")
        if i == 3:
            layers["b"] = layers.pop("b")

    def step(sample):
        x = 0
        for k, (name, t) in enumerate(sample.items(), 1):
            x = x * 2 + t * k * len(name)
        for v in layers.values():
            x = x * v + 1
        return x

    def args(i):
        pairs = [("x", ramp(tg, 3)), ("yy", ramp(tg, 3) * 2)]
        return (dict(pairs if i % 2 else pairs[::-1]),)

    return Program(step, args, tuple, between)


@trap
def set_membership(tg):
    """Is membership in a set that changes asked anew?"""
    frozen = {"head"}

    def between(i):
        frozen.clear()
        frozen.update({"body"} if i in (3, 4) else {"head"})

    return Program(lambda x: x * 2 if "head" in frozen else x, batches(tg, 3), tuple, between)


@trap
def frozen_set_rebound_in_place(tg):
    """Is `names |= {...}` on a captured frozenset, a rebinding, seen?"""
    names = frozenset({"a"})

    def between(i):
        nonlocal names
        if i == 3:
            names |= {"b"}

    return Program(lambda x: x * len(names), batches(tg, 3), tuple, between)


@trap
def enum_switched(tg):
    """Is an enum member in a variable that becomes another one seen?"""
    kind = enum.Enum("Kind", "SUM MEAN")
    box = [kind.SUM]

    def between(i):
        box[0] = kind.MEAN if i in (3, 4) else kind.SUM

    return Program(lambda x: x.sum() if box[0] is kind.SUM else x.mean(), batches(tg, 3), tuple, between)


@trap
def frozen_dataclass_replaced(tg):
    """Is a frozen dataclass that is replaced by dataclasses.replace seen?"""
    box = {"config": Frozen()}

    def change(value):
        box["config"] = dataclasses.replace(box["config"], scale=value)

    return switched(tg, lambda x: getattr(x * box["config"].scale, box["config"].inner[0])(), change)


@trap
def dataclass_as_an_argument(tg):
    """Is an equal but other dataclass as an argument read?"""
    return Program(lambda x, config: x * config.scale, lambda i: (ramp(tg, 3), Frozen(float(i // 2))))


@trap
def dataclass_of_tensors_as_an_argument(tg):
    """Are the tensors in an object that is passed this call's?"""
    return Program(lambda b: b.x * 2 + b.y, lambda i: (types.SimpleNamespace(x=ramp(tg, 3) * i, y=ramp(tg, 3)),))


@trap
def named_tuple_of_tensors(tg):
    """Are the tensors in a named tuple this call's, and is it rebuilt on return?"""
    pair = collections.namedtuple("Pair", "x y")
    return Program(lambda p: pair(p.y * 2, p.x), lambda i: (pair(ramp(tg, 3) * i, ramp(tg, 3)),))


@trap
def chain_map(tg):
    """Is a key that comes to shadow another in a ChainMap seen?"""
    defaults, own = {"scale": 2.0}, {}
    chain = collections.ChainMap(own, defaults)

    def change(value):
        own.clear()
        if value != 2.0:
            own["scale"] = value

    return switched(tg, lambda x: x * chain["scale"], change)


@trap
def default_dict(tg):
    """Does a defaultdict that the step only reads gain its entry?"""
    table = collections.defaultdict(lambda: 2.0)
    return Program(lambda x: x * table["scale"], batches(tg, 3), lambda: dict(table))


@trap
def mapping_proxy(tg):
    """Is a change behind a read-only mapping seen?"""
    table = {"scale": 2.0}
    proxy = types.MappingProxyType(table)
    return switched(tg, lambda x: x * proxy["scale"], lambda value: table.update(scale=value))


@trap
def memory_view(tg):
    """Is a change behind a memoryview seen?"""
    memory = bytearray([2])
    view = memoryview(memory)
    return switched(tg, lambda x: x * view[0], lambda value: memory.__setitem__(0, int(value)))


@trap
def numpy_array_of_objects(tg):
    """Is a change in a numpy array of objects seen?"""
    table = np.array([2.0, None], dtype=object)
    return switched(tg, lambda x: x * table[0], lambda value: table.__setitem__(0, value))


@trap
def numpy_structured_scalar(tg):
    """Is a change of a view of a numpy array that is captured by a scalar view seen?"""
    table = np.zeros(2)
    view = table[1:]
    return switched(tg, lambda x: x * float(view[0]), lambda value: table.__setitem__(1, value))


@trap
def subclass_of_dict(tg):
    """Is a value in a user's subclass of dict, list and str seen?"""

    class Config(dict):
        def __getattr__(self, name):
            return self[name]

    config = Config(scale=2.0)
    return switched(tg, lambda x: x * config.scale, lambda value: config.update(scale=value))


@pytest.mark.parametrize("question", ask.rows())
def test_traps_containers(answer, question):
    answer(question)
