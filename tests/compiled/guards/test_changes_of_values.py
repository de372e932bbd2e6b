"""Containers, values, random states, and objects of the library that change after calls were replayed."""

import array
import collections
import dataclasses
import datetime
import decimal
import fractions
import functools
import io
import itertools
import pathlib
import queue
import random
import struct
import threading
import types
import uuid
import weakref

import numpy as np
import pytest
from compiled.changing import Programs, assert_changes_are_noticed

program = Programs()


class Plain:
    """Holds what it is given."""

    def __init__(self, **given):
        vars(self).update(given)


#: How each is made, read, and changed.
HELD = {
    "chain_map": (lambda: collections.ChainMap({}, {"a": 2.0}), lambda c: c["a"], lambda c, v: c.maps[1].update(a=v)),
    "chain_map_that_hides": (
        lambda: collections.ChainMap({}, {"a": 2.0}),
        lambda c: c["a"],
        lambda c, v: c.maps[0].update(a=v),
    ),
    "maps_of_a_chain_map": (
        lambda: collections.ChainMap({"a": 2.0}),
        lambda c: c["a"],
        lambda c, v: c.maps.insert(0, {"a": v}),
    ),
    "default_factory": (
        lambda: collections.defaultdict(lambda: 2.0),
        lambda c: c.copy()["a"],
        lambda c, v: setattr(c, "default_factory", lambda: v),
    ),
    "default_factory_of_none": (
        lambda: collections.defaultdict(None),
        lambda c: 2.0 if c.default_factory is None else c.default_factory(),
        lambda c, v: setattr(c, "default_factory", lambda: v),
    ),
    "order_of_an_ordered_dict": (
        lambda: collections.OrderedDict(a=2.0, b=5.0),
        lambda c: next(iter(c.values())),
        lambda c, v: c.move_to_end("a"),
    ),
    "order_of_a_dict": (
        lambda: dict(a=2.0, b=5.0),
        lambda c: next(iter(c.values())),
        lambda c, v: c.update(a=c.pop("a")),
    ),
    "counter": (lambda: collections.Counter("aab"), lambda c: c["a"], lambda c, v: c.update("a")),
    "deque_rotated": (lambda: collections.deque([2.0, 5.0]), lambda c: c[0], lambda c, v: c.rotate()),
    "array_of_numbers": (lambda: array.array("d", [2.0]), lambda c: c[0], lambda c, v: c.__setitem__(0, v)),
    "bytes_that_change": (lambda: bytearray(b"\x02"), lambda c: c[0], lambda c, v: c.__setitem__(0, int(v))),
    "numpy_array": (lambda: np.full(3, 2.0), lambda c: float(c[1]), lambda c, v: c.__setitem__(1, v)),
    "numpy_array_by_a_view": (
        lambda: np.full(3, 2.0)[1:],
        lambda c: float(c[0]),
        lambda c, v: c.base.__setitem__(1, v),
    ),
    "large_numpy_array": (lambda: np.full(9000, 2.0), lambda c: float(c[8000]), lambda c, v: c.__setitem__(8000, v)),
    "numpy_array_of_none": (lambda: np.array(2.0), lambda c: float(c), lambda c, v: c.__setitem__((), v)),
    "structured_array": (
        lambda: np.array([(2.0, 1)], [("a", "f8"), ("b", "i4")]),
        lambda c: float(c[0]["a"]),
        lambda c, v: c["a"].__setitem__(0, v),
    ),
    "array_of_objects": (lambda: np.array([2.0, None], object), lambda c: c[0], lambda c, v: c.__setitem__(0, v)),
    "array_of_texts": (
        lambda: np.array(["ab"], "U9"),
        lambda c: len(c[0]),
        lambda c, v: c.__setitem__(0, "a" * int(v)),
    ),
    "shape_of_a_numpy_array": (
        lambda: np.full((2, 5), 2.0),
        lambda c: c.shape[0],
        lambda c, v: setattr(c, "shape", (5, 2)),
    ),
    "masked_array": (
        lambda: np.ma.array([2.0, 3.0]),
        lambda c: float(c.sum()),
        lambda c, v: c.__setitem__(1, np.ma.masked),
    ),
    "rec_array": (lambda: np.rec.array([(2.0,)], [("a", "f8")]), lambda c: float(c.a[0]), lambda c, v: c.a.fill(v)),
    "flag_of_a_numpy_array": (
        lambda: np.full(3, 2.0),
        lambda c: 2.0 if c.flags.writeable else 5.0,
        lambda c, v: c.setflags(write=v == 2.0),
    ),
    "memory_view": (lambda: memoryview(bytearray(b"\x02")), lambda c: c[0], lambda c, v: c.obj.__setitem__(0, int(v))),
    "set_of_texts": (lambda: {"a"}, lambda c: 5.0 if "b" in c else 2.0, lambda c, v: c.add("b")),
    "set_of_objects": (lambda: {Plain(a=2.0)}, lambda c: sum(p.a for p in c), lambda c, v: c.add(Plain(a=v))),
    "deep_list": (lambda: [[[[2.0]]]], lambda c: c[0][0][0][0], lambda c, v: c[0][0][0].__setitem__(0, v)),
    "dict_of_dicts": (
        lambda: {"a": {"b": {"c": 2.0}}},
        lambda c: c["a"]["b"]["c"],
        lambda c, v: c["a"]["b"].update(c=v),
    ),
    "list_that_holds_itself": (lambda: _circular(), lambda c: c[1][1][0], lambda c, v: c.__setitem__(0, v)),
    "dict_with_an_object_as_key": (
        lambda: {Plain(a=2.0): 1.0},
        lambda c: next(iter(c)).a,
        lambda c, v: setattr(next(iter(c)), "a", v),
    ),
    "view_of_a_dict": (lambda: _with_view(), lambda c: next(iter(c.view)), lambda c, v: c.table.update(a=v)),
    "iterator_of_a_list": (lambda: _with_iterator(), lambda c: c.it.__length_hint__(), lambda c, v: next(c.it)),
    "reversed_list": (lambda: _with_iterator(reversed), lambda c: c.it.__length_hint__(), lambda c, v: next(c.it)),
    "zip_kept": (lambda: zip(range(99), range(99), strict=True), lambda c: float(next(c)[0]), lambda c, v: next(c)),
    "map_kept": (lambda: map(float, range(99)), lambda c: next(c), lambda c, v: next(c)),
    "count_kept": (lambda: itertools.count(2), lambda c: float(next(c)), lambda c, v: next(c)),
    "cycle_kept": (lambda: itertools.cycle([2.0, 5.0, 7.0]), lambda c: next(c), lambda c, v: next(c)),
    "count_that_is_looked_at": (
        lambda: itertools.count(2),
        lambda c: float(len(repr(c))),
        lambda c, v: [next(c) for _ in range(120)],
    ),
    "namespace": (lambda: types.SimpleNamespace(a=2.0), lambda c: c.a, lambda c, v: setattr(c, "a", v)),
    "namespace_by_computed_name": (
        lambda: types.SimpleNamespace(a=2.0),
        lambda c: sum(vars(c).values()),
        lambda c, v: setattr(c, "b", v),
    ),
    "user_dict": (lambda: collections.UserDict(a=2.0), lambda c: c["a"], lambda c, v: c.update(a=v)),
    "user_dict_data": (
        lambda: collections.UserDict(a=2.0),
        lambda c: c["a"],
        lambda c, v: setattr(c, "data", {"a": v}),
    ),
    "own_user_dict": (lambda: _Own(a=2.0), lambda c: c["a"], lambda c, v: setattr(c, "data", {"a": v})),
    "user_list": (lambda: collections.UserList([2.0]), lambda c: c[0], lambda c, v: c.__setitem__(0, v)),
    "own_user_list": (lambda: _OwnList([2.0]), lambda c: c[0], lambda c, v: setattr(c, "data", [v])),
    "user_string": (
        lambda: collections.UserString("ab"),
        lambda c: len(c),
        lambda c, v: setattr(c, "data", "a" * int(v)),
    ),
    "mapping_proxy": (lambda: _with_proxy(), lambda c: c.proxy["a"], lambda c, v: c.table.update(a=v)),
    "fraction": (lambda: fractions.Fraction(2), lambda c: float(c), lambda c, v: setattr(c, "_numerator", int(v))),
    "own_fraction": (
        lambda: _OwnFraction(2),
        lambda c: float(c.numerator),
        lambda c, v: setattr(c, "_numerator", int(v)),
    ),
    "decimal": (lambda: [decimal.Decimal(2)], lambda c: float(c[0]), lambda c, v: c.__setitem__(0, decimal.Decimal(v))),
    "date": (
        lambda: [datetime.date(2000, 1, 2)],
        lambda c: c[0].day,
        lambda c, v: c.__setitem__(0, datetime.date(1, 1, int(v))),
    ),
    "time_delta": (
        lambda: [datetime.timedelta(2)],
        lambda c: c[0].days,
        lambda c, v: c.__setitem__(0, datetime.timedelta(v)),
    ),
    "path": (
        lambda: [pathlib.PurePath("ab")],
        lambda c: len(str(c[0])),
        lambda c, v: c.__setitem__(0, pathlib.PurePath("a" * int(v))),
    ),
    "uuid": (lambda: [uuid.UUID(int=2)], lambda c: c[0].int, lambda c, v: c.__setitem__(0, uuid.UUID(int=int(v)))),
    "struct": (
        lambda: [struct.Struct("2s")],
        lambda c: c[0].size,
        lambda c, v: c.__setitem__(0, struct.Struct(f"{int(v)}s")),
    ),
    "int_for_float": (lambda: [2], lambda c: c[0], lambda c, v: c.__setitem__(0, 2 if v == 2.0 else 2.0)),
    "bool_for_int": (
        lambda: [1],
        lambda c: 2.0 if c[0] is True else 5.0,
        lambda c, v: c.__setitem__(0, 1 if v == 2.0 else True),
    ),
    "minus_zero": (
        lambda: [0.0],
        lambda c: 2.0 if str(c[0]) == "0.0" else 5.0,
        lambda c, v: c.__setitem__(0, 0.0 if v == 2.0 else -0.0),
    ),
    "tuple_for_list": (
        lambda: [[2.0]],
        lambda c: 2.0 if isinstance(c[0], list) else 5.0,
        lambda c, v: c.__setitem__(0, (2.0,)),
    ),
    "own_class_for_str": (
        lambda: ["a"],
        lambda c: 2.0 if type(c[0]) is str else 5.0,
        lambda c, v: c.__setitem__(0, _OwnStr("a")),
    ),
    "own_class_for_float": (
        lambda: [2.0],
        lambda c: c[0].twice() if hasattr(c[0], "twice") else c[0],
        lambda c, v: c.__setitem__(0, _OwnFloat(v)),
    ),
    "attribute_of_an_own_float": (lambda: _OwnFloat(3.0), lambda c: c.scale, lambda c, v: setattr(c, "scale", v)),
    "attribute_of_an_own_tuple": (lambda: _OwnTuple((3.0,)), lambda c: c.scale, lambda c, v: setattr(c, "scale", v)),
    "attribute_of_an_own_str": (lambda: _OwnStr("a"), lambda c: c.scale, lambda c, v: setattr(c, "scale", v)),
    "attribute_of_an_own_list": (lambda: _OwnList2([3.0]), lambda c: c.scale, lambda c, v: setattr(c, "scale", v)),
    "item_of_an_own_list": (lambda: _OwnList2([3.0]), lambda c: c[0], lambda c, v: c.__setitem__(0, v)),
    "random_numbers": (lambda: random.Random(2), lambda c: c.random(), lambda c, v: c.seed(int(v))),
    "random_state_looked_at": (
        lambda: random.Random(2),
        lambda c: float(c.getstate()[1][0] % 7),
        lambda c, v: c.seed(int(v)),
    ),
    "random_numbers_of_numpy": (
        lambda: np.random.RandomState(2),
        lambda c: float(c.rand()),
        lambda c, v: c.seed(int(v)),
    ),
    "generator_of_numpy": (
        lambda: np.random.default_rng(2),
        lambda c: float(c.random()),
        lambda c, v: c.bit_generator.advance(int(v)),
    ),
    "bit_generator_looked_at": (
        lambda: np.random.default_rng(2),
        lambda c: float(c.bit_generator.state["state"]["state"] % 7),
        lambda c, v: c.random(),
    ),
    "thread_local": (lambda: _local(), lambda c: c.scale, lambda c, v: setattr(c, "scale", v)),
    "weak_reference": (
        lambda: _weak(),
        lambda c: 5.0 if c.reference() is None else 2.0,
        lambda c, v: vars(c).pop("thing", None),
    ),
    "weak_proxy": (lambda: _weak(), lambda c: c.proxy.a, lambda c, v: setattr(c.thing, "a", v)),
    "weak_set": (lambda: _weak(), lambda c: float(len(c.known)), lambda c, v: vars(c).pop("thing", None)),
    "weak_values": (lambda: _weak(), lambda c: float(len(c.values)), lambda c, v: vars(c).pop("thing", None)),
    "text_in_memory": (lambda: io.StringIO("ab"), lambda c: len(c.getvalue()), lambda c, v: c.write("abcde")),
    "bytes_in_memory": (lambda: io.BytesIO(b"ab"), lambda c: c.tell() + 2.0, lambda c, v: c.seek(int(v))),
    "queue": (lambda: queue.SimpleQueue(), lambda c: 2.0 + c.qsize(), lambda c, v: c.put(v)),
    "event": (lambda: threading.Event(), lambda c: 5.0 if c.is_set() else 2.0, lambda c, v: c.set()),
    "cell": (lambda: types.CellType(2.0), lambda c: c.cell_contents, lambda c, v: setattr(c, "cell_contents", v)),
    "cached_function": (
        lambda: functools.lru_cache(lambda a: a),
        lambda c: float(c.cache_info().currsize),
        lambda c, v: c(v),
    ),
    "heap_of_pairs": (lambda: [(2.0, "a"), (3.0, "b")], lambda c: min(c)[0], lambda c, v: c.append((v - 4, "c"))),
    "dataclass_in_a_dict": (
        lambda: {"a": _Options()},
        lambda c: c["a"].scale,
        lambda c, v: setattr(c["a"], "scale", v),
    ),
    "nan": (lambda: [float("nan")], lambda c: 2.0 if c[0] != c[0] else 5.0, lambda c, v: c.__setitem__(0, v)),
    "large_int": (lambda: [2**70], lambda c: float(c[0] % 7), lambda c, v: c.__setitem__(0, 2**70 + int(v))),
    "complex_number": (lambda: [2j], lambda c: c[0].imag, lambda c, v: c.__setitem__(0, v * 1j)),
    "bytes_value": (lambda: [b"ab"], lambda c: len(c[0]), lambda c, v: c.__setitem__(0, b"a" * int(v))),
    "slice_value": (
        lambda: [slice(0, 2)],
        lambda c: len(range(9)[c[0]]),
        lambda c, v: c.__setitem__(0, slice(0, int(v))),
    ),
    "range_value": (lambda: [range(2)], lambda c: len(c[0]), lambda c, v: c.__setitem__(0, range(int(v)))),
    "numpy_scalar": (lambda: [np.float32(2)], lambda c: float(c[0]), lambda c, v: c.__setitem__(0, np.float32(v))),
    "numpy_scalar_of_another_type": (
        lambda: [np.float32(2)],
        lambda c: float(c[0].itemsize),
        lambda c, v: c.__setitem__(0, np.float64(2) if v == 5.0 else np.float32(2)),
    ),
    "numpy_date": (
        lambda: [np.datetime64("2000-01-02")],
        lambda c: float(c[0].astype(int) % 7),
        lambda c, v: c.__setitem__(0, np.datetime64(f"2000-01-0{int(v)}")),
    ),
    "numpy_dtype": (
        lambda: [np.dtype("f4")],
        lambda c: c[0].itemsize,
        lambda c, v: c.__setitem__(0, np.dtype("f8" if v > 3 else "f4")),
    ),
}


class _Own(collections.UserDict):
    """A dict of the program's own."""


class _OwnList(collections.UserList):
    """A list of the program's own."""


class _OwnFraction(fractions.Fraction):
    """A fraction of the program's own: it has a ``__dict__``, and slots of its base."""


class _OwnStr(str):
    scale = 2.0


class _OwnTuple(tuple):
    scale = 2.0


class _OwnList2(list):
    scale = 2.0


class _OwnFloat(float):
    scale = 2.0

    def twice(self):
        return self * 2.0


@dataclasses.dataclass
class _Options:
    scale: float = 2.0


def _circular():
    made = [2.0]
    made.append(made)
    return made


def _with_view():
    table = {"a": 2.0}
    return Plain(table=table, view=table.values())


def _with_iterator(by=iter):
    items = [1.0] * 9
    return Plain(items=items, it=by(items))


def _with_proxy():
    table = {"a": 2.0}
    return Plain(table=table, proxy=types.MappingProxyType(table))


def _local():
    made = threading.local()
    made.scale = 2.0
    return made


def _weak():
    thing = Plain(a=2.0)
    values = weakref.WeakValueDictionary(a=thing)
    known = weakref.WeakSet([thing])
    return Plain(thing=thing, reference=weakref.ref(thing), proxy=weakref.proxy(thing), values=values, known=known)


def with_held(name, make, look, change):
    def captured(tg):
        held = make()
        return lambda x: x * look(held), lambda v: change(held, v)

    captured.__name__ = name
    program(captured)


for _name, _row in HELD.items():
    with_held(_name, *_row)


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_values(tg, make):
    assert_changes_are_noticed(tg, make)
