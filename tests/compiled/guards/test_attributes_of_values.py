"""Objects whose class inherits from a number, a text or a container, with attributes besides: another object that is
equal as such may have other attributes."""

from collections import OrderedDict

import pytest

KINDS = {
    "str": (str, "a"), "bytes": (bytes, b"a"), "float": (float, 2.0), "int": (int, 300), "complex": (complex, 1j),
    "tuple": (tuple, (1, 2)), "list": (list, [1]), "dict": (dict, {"a": 1}), "set": (set, {1}),
    "frozenset": (frozenset, {1}), "OrderedDict": (OrderedDict, {"a": 1}),
}  # fmt: skip


def makers():
    """By name: a function that gives equal objects of one class, with an attribute of its own."""
    for name, (base, value) in KINDS.items():
        kind = type(f"Own{name}", (base,), {"k": 0.5})

        def make(k, kind=kind, value=value):
            made = kind(value)
            made.k = k
            return made

        yield name, make


MAKERS = dict(makers())


class Program:
    """Several places where such an object is."""

    def __init__(self, make):
        self.make = make
        self.items, self.named, self.nested = [make(1.0)], {"of": make(1.0)}, [(make(1.0),)]
        self.attribute = make(1.0)
        self.reads = {
            "item": lambda x: x * self.items[0].k,
            "entry": lambda x: x * self.named["of"].k,
            "attribute": lambda x: x * self.attribute.k,
            "nested": lambda x: x * self.nested[0][0].k,
        }

    def put(self, k):
        self.items[0], self.named["of"], self.nested[0] = self.make(k), self.make(k), (self.make(k),)
        self.attribute = self.make(k)

    def set(self, k):
        for of in (self.items[0], self.named["of"], self.nested[0][0], self.attribute):
            of.k = k


@pytest.mark.parametrize("name", MAKERS)
def test_another_equal_object_in_each_place(tg, name):
    program, x = Program(MAKERS[name]), tg.ones(2)
    steps = {place: tg.compile(read) for place, read in program.reads.items()}
    for i in range(9):
        (program.put if i % 3 else program.set)(i + 0.5)
        for place, step in steps.items():
            assert step(x).tolist() == [i + 0.5] * 2, (place, i, step.way)


@pytest.mark.parametrize("how", ["by position", "by keyword", "in a list", "in a dict"])
@pytest.mark.parametrize("name", MAKERS)
def test_another_equal_object_as_an_argument(tg, name, how):
    reads = {
        "by position": (lambda x, of: x * of.k, lambda of: ((of,), {})),
        "by keyword": (lambda x, of: x * of.k, lambda of: ((), {"of": of})),
        "in a list": (lambda x, of: x * of[0].k, lambda of: (([of, 1],), {})),
        "in a dict": (lambda x, of: x * of["a"].k, lambda of: (({"a": of},), {})),
    }
    read, given = reads[how]
    step, x, make = tg.compile(read), tg.ones(2), MAKERS[name]
    for i in range(8):
        args, kwargs = given(make(i // 2 + 0.5))
        assert step(x, *args, **kwargs).tolist() == [i // 2 + 0.5] * 2, (i, step.way)


def test_equal_attributes_are_replayed(tg):
    class Batch(dict):
        pass

    step, x = tg.compile(lambda batch: batch["x"] * batch.scale), tg.ones(2)
    for _ in range(5):
        batch = Batch(x=x)
        batch.scale = 2.0
        assert step(batch).tolist() == [2, 2]
    assert step.way == "replay" and len(step.specialisations) == 1


def test_a_dict_and_a_class_of_dicts_are_told_apart(tg):
    class Doubled(dict):
        __slots__ = ()

        def __getitem__(self, name):
            return super().__getitem__(name) * 2

    step, x = tg.compile(lambda batch: batch["x"] + 1), tg.ones(2)
    for i in range(8):
        batch = Doubled(x=x) if i % 3 == 2 else {"x": x}
        assert step(batch).tolist() == [3, 3] if i % 3 == 2 else [2, 2], (i, step.way)
