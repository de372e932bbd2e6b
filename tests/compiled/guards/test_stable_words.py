"""What is hardly ever set again (names in libraries, members of classes, parts of functions) is compared as words of
memory: whatever is set all the same, in each way, the next call sees; and such a call is served by the usual call."""

import builtins
import dataclasses
import math
import sys
import types

import numpy as np
import pytest
from side_by_side import served

from tracegrad.compiled.replay.fast_path import MISS
from tracegrad.runtime import references

CALLS = 9


class World:
    """What a step reads, made anew for each test: a rule with a base class, a function with defaults, a module."""

    def __init__(self):
        class Base:
            shift = 1.0

            def base_gain(self):
                return 2.0

        class OtherBase:
            shift = 3.0

            def base_gain(self):
                return 7.0

        class Rule(Base):
            factor = 1.5

            def gain(self):
                return self.base_gain() * self.factor + type(self).shift

        class OtherRule(Rule):
            def gain(self):
                return 11.0

        def helper(value, k=2.0, *, m=3.0):
            return abs(value) * k + m

        def other_helper(value, k=4.0, *, m=5.0):
            return value + k - m

        self.rules, self.bases, self.helpers = (Rule, OtherRule), (Base, OtherBase), (helper, other_helper)
        self.rule = Rule()
        self.module = sys.modules["module_of_a_test"] = types.ModuleType("module_of_a_test")
        self.module.weight = 0.5

    def step(self, tg):
        rule, helper = self.rule, self.helpers[0]

        def step(x):
            import module_of_a_test  # noqa: PLC0415 - the import is what is guarded

            return x * rule.gain() + helper(-2.0) * np.sqrt(4.0) + math.floor(2.5) + module_of_a_test.weight

        return step


def kwdefaults(helper):
    return {"m": helper.__kwdefaults__["m"] + 1.0}


CHANGES = {
    "a member of a class": lambda w, set_: set_(w.rules[0], "factor", w.rules[0].factor + 1),
    "a member of a base": lambda w, set_: set_(w.bases[0], "shift", w.bases[0].shift + 1),
    "a new member of a class": lambda w, set_: set_(w.rules[0], "shift", 20.0),
    "a method": lambda w, set_: set_(w.rules[0], "gain", lambda self: 13.0),
    "a method of a base": lambda w, set_: set_(w.bases[0], "base_gain", lambda self: 17.0),
    "a method that is hidden": lambda w, set_: set_(w.rules[0], "base_gain", lambda self: 19.0),
    "the bases of a class": lambda w, set_: set_(w.rules[0], "__bases__", (w.bases[1],)),
    "the class of an object": lambda w, set_: set_(w.rule, "__class__", w.rules[1]),
    "the code of a function": lambda w, set_: set_(w.helpers[0], "__code__", w.helpers[1].__code__),
    "the code of a method": lambda w, set_: set_(w.rules[0].gain, "__code__", (lambda self: 23.0).__code__),
    "the defaults of a function": lambda w, set_: set_(w.helpers[0], "__defaults__", (9.0,)),
    "the defaults by keyword": lambda w, set_: set_(w.helpers[0], "__kwdefaults__", kwdefaults(w.helpers[0])),
    "one default by keyword": lambda w, set_: w.helpers[0].__kwdefaults__.update(m=29.0),
    "a name of numpy": lambda w, set_: set_(np, "sqrt", lambda value: 31.0),
    "a name of Python's library": lambda w, set_: set_(math, "floor", lambda value: 37.0),
    "a builtin": lambda w, set_: set_(builtins, "abs", lambda value: 41.0),
    "the dict of a library's module": lambda w, set_: vars(np).update(sqrt=lambda value: 43.0),
    "the dict of the builtins": lambda w, set_: vars(builtins).update(abs=lambda value: 47.0),
    "an imported module": lambda w, set_: sys.modules.update(module_of_a_test=types.SimpleNamespace(weight=53.0)),
    "what is in an imported module": lambda w, set_: set_(w.module, "weight", 59.0),
}
PUTS = {"setattr": setattr, "of the type": lambda thing, name, value: _set_past(thing)(thing, name, value)}
WHEN = [[6], [3, 4, 7]]


def _set_past(thing):
    """What sets attributes without asking the class of the object."""
    return type.__setattr__ if isinstance(thing, type) else object.__setattr__


@pytest.fixture(autouse=True)
def as_it_was():
    kept = [(vars(np), "sqrt"), (vars(math), "floor"), (vars(builtins), "abs")]
    before = [space[name] for space, name in kept]
    yield
    for (space, name), value in zip(kept, before, strict=True):
        space[name] = value
    sys.modules.pop("module_of_a_test", None)


def results(tg, change, put, when, way):
    world = World()
    call, found = served(tg, world.step(tg), way), []
    for i in range(CALLS):
        if i in when:
            CHANGES[change](world, put)
        found.append(float(call(tg.ones(()))))
    return found


@pytest.mark.parametrize("way", ["replayed", "re-recorded"])
@pytest.mark.parametrize("when", WHEN, ids=str)
@pytest.mark.parametrize("put", PUTS.values(), ids=PUTS)
@pytest.mark.parametrize("change", CHANGES)
def test_the_next_call_sees_it(tg, change, put, when, way, as_it_was):
    kept = {name: vars(space)[name] for space, name in ((np, "sqrt"), (math, "floor"), (builtins, "abs"))}
    expected = results(tg, change, put, when, "eager")
    for space, name in ((np, "sqrt"), (math, "floor"), (builtins, "abs")):
        vars(space)[name] = kept[name]
    assert len(set(expected)) > 1  # it makes a difference
    assert results(tg, change, put, when, way) == expected


@dataclasses.dataclass(frozen=True)
class Case:
    """Holds functions and containers, as configurations do."""

    name: str
    apply: object
    shapes: tuple = ((2, 3), (4,))
    tags: tuple = ("a", ("b", 1))


def test_functions_in_a_record_are_looked_at_by_the_usual_call(tg, monkeypatch):
    """Some hundred guards (what numpy's functions reach, methods of the record) take no walk over them."""
    case = Case("sum", lambda x: x.sum() + float(np.sum(np.ones(case.shapes[0]))))
    step = tg.compile(lambda x: case.apply(x))
    x = tg.ones(3)
    for _ in range(4):
        step(x)
    environment = step.specialisations[0].recording.environment
    assert len(environment.facts) > 60 and step._usual((x,)) is not MISS
    if references.versions_are_known:
        assert len(environment.stable.known) > 0.7 * len(environment.facts)
    monkeypatch.setattr(type(environment), "hold", lambda *_: pytest.fail("a walk over the guards"))
    assert float(step(x)) == 9.0


def test_a_class_that_counts_is_looked_at_each_time(tg):
    """Its dict has another version at each call; the guards on its other members hold."""

    class Counter:
        calls = 0
        scale = 2.0

    step = tg.compile(lambda x: x * Counter.scale)
    found = []
    for i in range(30):
        Counter.calls += 1
        if i == 20:
            Counter.scale = 5.0
        found.append(float(step(tg.ones(()))))
    assert found == [2.0] * 20 + [5.0] * 10
    assert len(step.specialisations) <= 2
