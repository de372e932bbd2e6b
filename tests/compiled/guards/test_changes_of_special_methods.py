"""Methods that Python calls by itself, changed after calls were replayed."""

import pytest
from compiled.changing import Programs, assert_changes_are_noticed
from side_by_side import ramp

program = Programs()


SPECIAL = {
    "__bool__": (lambda thing: 5.0 if thing else 2.0, lambda v: v == 5.0),
    "__len__": (len, int),
    "__index__": (lambda thing: [1.0, 3.0, 7.0][thing], lambda v: int(v) // 3),
    "__float__": (float, float),
    "__call__": (lambda thing: thing(), float),
    "__iter__": (lambda thing: sum(thing), lambda v: iter([v, 1.0])),
    "__contains__": (lambda thing: 5.0 if 1 in thing else 2.0, lambda v: v == 5.0),
    "__getitem__": (lambda thing: thing[0], float),
    "__hash__": (lambda thing: 1.0 + hash(thing) % 7, int),
    "__eq__": (lambda thing: 5.0 if thing == 1 else 2.0, lambda v: v == 5.0),
    "__lt__": (lambda thing: 5.0 if thing < 1 else 2.0, lambda v: v == 5.0),
    "__format__": (lambda thing: float(len(f"{thing}")), lambda v: "a" * int(v)),
    "__str__": (lambda thing: float(len(str(thing))), lambda v: "a" * int(v)),
    "__repr__": (lambda thing: float(len(repr(thing))), lambda v: "a" * int(v)),
    "__enter__": (None, float),
    "__rmul__": (None, float),
    "__matmul__": (lambda thing: thing @ 1, float),
    "__neg__": (lambda thing: -thing, float),
    "__round__": (lambda thing: round(thing), float),
    "__reversed__": (lambda thing: next(reversed(thing)), lambda v: iter([v])),
    "__length_hint__": (lambda thing: __import__("operator").length_hint(thing), int),
    "__dir__": (lambda thing: float(len(dir(thing))), lambda v: ["a"] * int(v)),
    "__missing__": (None, float),
}


def with_special(name, use, value):
    def maker(tg):
        def member(v):
            return lambda self, *_: value(v)

        body = {name: member(2.0), "__exit__": lambda self, *_: None}
        kind = type("Special", (dict,) if name == "__missing__" else (), body)
        thing = kind()
        if name == "__enter__":

            def step(x):
                with thing as scale:
                    return x * scale

        elif name == "__missing__":
            step = lambda x: x * thing["scale"]  # noqa: E731
        elif name == "__rmul__":
            step = lambda x: x * (3.0 * thing)  # noqa: E731
        else:
            step = lambda x: x * use(thing)  # noqa: E731
        return step, lambda v: setattr(kind, name, member(v))

    maker.__name__ = f"special{name}"
    program(maker)


for special, (look, made) in SPECIAL.items():
    with_special(special, look, made)


@program
def operators_of_an_object_that_holds_a_tensor(tg):
    class Holder:
        def __init__(self, value):
            self.value = value

        def __rmul__(self, other):
            return other * self.value

        def __add__(self, other):
            return self.value + other

    holder = Holder(ramp(tg, 3))
    return lambda x: holder + 3.0 * holder, lambda v: setattr(holder, "value", ramp(tg, 3) * v)


@program
def torch_function_of_an_object(tg):
    class Thing:
        scale = 2.0

        @classmethod
        def __torch_function__(cls, function, kinds, args=(), kwargs=None):
            return args[0] * cls.scale

    thing = Thing()
    return lambda x: tg.add(x, thing), lambda v: setattr(Thing, "scale", v)


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_special_methods(tg, make):
    assert_changes_are_noticed(tg, make)
