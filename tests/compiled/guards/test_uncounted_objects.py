"""What an object of the library has outside of its ``__dict__`` (slots, its class, attributes of its class), written by
each way, before each of several calls: the next call sees it."""

import copy
import itertools

import pytest
from side_by_side import ramp, served

from tracegrad.compiled.parts import still
from tracegrad.compiled.replay import fast_path
from tracegrad.runtime import references

CALLS = 10


def classes(tg):
    """A layer with slots of its own and of a base, and one that computes otherwise over the same attributes."""

    class Base(tg.nn.Module):
        __slots__ = ("gain",)
        factor = 1.0

    class Layer(Base):
        __slots__ = ("__hidden", "shift")
        rate = 1.0

        def __init__(self):
            super().__init__()
            self.gain, self.shift, self.__hidden = 2.0, 1.0, 0.5
            self.inner = tg.nn.Linear(3, 3)
            self.inner.weight.data.copy_(ramp(tg, 3, 3))

        def forward(self, x):
            return self.inner(x) * self.gain * self.rate * self.factor + self.shift - self.__hidden

    class Other(Layer):
        __slots__ = ()

        def forward(self, x):
            return super().forward(x) * 3

    class OtherLinear(tg.nn.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    return Layer, Other, OtherLinear


def in_slot(name, put):
    return lambda tg, world, i: put(world["model"], name, 1.0 + i)


def by_descriptor(thing, name, value):
    kind = next(kind for kind in type(thing).__mro__ if name in vars(kind))
    vars(kind)[name].__set__(thing, value)


def of_class(put, inner=False):
    def write(tg, world, i):
        kinds = (tg.nn.Linear, world["kinds"][2]) if inner else world["kinds"][:2]
        put(world["model"].inner if inner else world["model"], "__class__", kinds[i % 2])

    return write


PUTS = {"setattr": setattr, "object.__setattr__": object.__setattr__, "its descriptor": by_descriptor}
SLOTS = ("gain", "shift", "_Layer__hidden")
WRITES = {f"{name} by {way}": in_slot(name, put) for name, (way, put) in itertools.product(SLOTS, PUTS.items())}
WRITES |= {
    f"class{' of a child' * inner} by {way}": of_class(put, inner)
    for (way, put), inner in itertools.product([*PUTS.items()][:2], (False, True))
}
for put, name, depth in itertools.product((setattr, type.__setattr__), ("rate", "factor"), (0, 1)):
    WRITES[f"{name} of class {depth} by {put.__qualname__}"] = lambda tg, world, i, put=put, name=name, depth=depth: (
        put(world["kinds"][0].__mro__[depth], name, 1.0 + i)
    )
WRITES["rate of the object"] = lambda tg, world, i: setattr(world["model"], "rate", 1.0 + i)
WRITES["slot of a copy"] = lambda tg, world, i: setattr(copy.copy(world["model"]), "gain", 7.0)
WHEN = [[5], [3, 4, 7], [2, 6, 8]]


def losses(tg, write, when, way):
    tg.manual_seed(0)
    world = {"kinds": classes(tg)}
    world["model"] = world["kinds"][0]()
    optimizer = tg.optim.SGD(world["model"].parameters(), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        loss = world["model"](x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    call, found = served(tg, step, way), []
    for i in range(CALLS):
        if i in when:
            write(tg, world, i)
        found.append(float(call(ramp(tg, 2, 3))))
    return found


@pytest.mark.parametrize("when", WHEN, ids=str)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_next_call_sees_it(tg, write, when):
    expected = losses(tg, write, when, "eager")
    for way in ("replayed", "re-recorded"):
        assert losses(tg, write, when, way) == pytest.approx(expected, rel=1e-4), way


@pytest.mark.parametrize("name", ["class of a child by object.__setattr__", "shift by its descriptor"])
def test_the_next_call_sees_it_where_words_are_not_known(tg, name, monkeypatch):
    for module in (references, fast_path, still):
        monkeypatch.setattr(module, "versions_are_known", False)
    test_the_next_call_sees_it(tg, WRITES[name], WHEN[1])
