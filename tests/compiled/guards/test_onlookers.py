"""A recording changes nothing that anybody else can see: numbers stay numbers wherever a program may keep them, `math`
and `sum` stay Python's, and garbage is collected as the program wants it.
"""

import functools
import gc
import json
import math
import pickle
import random
import signal
import sys
import threading
import types
import weakref
from collections import OrderedDict

import pytest
from side_by_side import ramp

SCALE = 1.0
CONFIG = {"scale": 1.0, "inner": {"list": [1.0, 2]}, "pair": (1.0, "text")}
ORDERED = OrderedDict(scale=1.0)
SQRT = math.sqrt


class Space:
    scale = 1.0


class Slotted:
    __slots__ = ("scale",)


simple, slotted = types.SimpleNamespace(scale=1.0), Slotted()


def set_scale(value):
    global SCALE
    SCALE = value


def of_cell():
    scale = 1.0

    def step(x):
        return busy(x * scale)

    def change(value):
        nonlocal scale
        scale = value

    return step, change, lambda: scale


def busy(x):
    """Some ops, so that the recording takes a while, and somebody else comes to look."""
    for _ in range(12):
        x = (x * 1.0625).tanh()
    return x


# The step, what changes its number, and what is in the place: the number, and what is around it.
PLACES = {
    "global": (lambda x: busy(x * SCALE), set_scale, lambda: SCALE),
    "dict": (lambda x: busy(x * CONFIG["scale"]), lambda v: CONFIG.update(scale=v), lambda: CONFIG),
    "inner": (
        lambda x: busy(x * CONFIG["inner"]["list"][0]),
        lambda v: CONFIG["inner"]["list"].__setitem__(0, v),
        lambda: CONFIG,
    ),
    "tuple": (lambda x: busy(x * CONFIG["pair"][0]), lambda v: CONFIG.update(pair=(v, "text")), lambda: CONFIG),
    "ordered": (lambda x: busy(x * ORDERED["scale"]), lambda v: ORDERED.update(scale=v), lambda: ORDERED),
    "attribute": (lambda x: busy(x * simple.scale), lambda v: setattr(simple, "scale", v), lambda: vars(simple)),
    "slot": (lambda x: busy(x * slotted.scale), lambda v: setattr(slotted, "scale", v), lambda: slotted.scale),
    "class": (lambda x: busy(x * Space.scale), lambda v: setattr(Space, "scale", v), lambda: Space.scale),
    "cell": of_cell(),
    "math": (lambda x: busy(x * math.sqrt(SCALE)), set_scale, lambda: SCALE),
    "sum": (lambda x: busy(x * sum([SCALE, 1.0])), set_scale, lambda: SCALE),
}


def all_plain(value):
    """Every way to look: JSON in C, pickle, text, `type()`, `is`; of numbers and of Python's functions."""
    json.dumps(value)
    assert b"tracegrad" not in pickle.dumps(value) and "tg_" not in repr(value)
    stack = [value]
    while stack:
        each = stack.pop()
        if type(each) in (dict, OrderedDict):
            stack += each.values()
        elif type(each) in (list, tuple):
            stack += each
        else:
            assert type(each) in (float, int, str), type(each)
    assert globals()["math"] is sys.modules["math"] and math.sqrt is SQRT and "sum" not in globals()


class Onlooker:
    """Looks at one place, and keeps how often it has, and what it has found to be wrong."""

    def __init__(self, now):
        self.now, self.looks, self.errors = now, 0, []

    def look(self, *_):
        try:
            all_plain(self.now())
        except BaseException as error:
            self.errors.append(error)
        self.looks += 1


class Cyclic:
    """Garbage that looks when it is collected."""

    def __init__(self, look):
        self.own, self.look = self, look

    def __del__(self):
        self.look()


class Thread:
    """Another thread that polls."""

    def __init__(self, onlooker):
        self.is_over = False
        self.thread = threading.Thread(target=self.run, args=(onlooker,))
        self.thread.start()

    def run(self, onlooker):
        while not self.is_over:
            onlooker.look()

    def around(self):
        pass

    def stop(self):
        self.is_over = True
        self.thread.join()


class Signal:
    """A handler of a signal that comes again and again."""

    def __init__(self, onlooker, handler=lambda look: look):
        self.before = signal.signal(signal.SIGALRM, handler(onlooker.look))
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)

    def around(self):
        pass

    def stop(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


class Callback:
    """A callback of collections, which come often."""

    def __init__(self, onlooker):
        self.callback, self.before = onlooker.look, gc.get_threshold()
        gc.callbacks.append(self.callback)
        gc.set_threshold(50)

    def around(self):
        pass

    def stop(self):
        gc.callbacks.remove(self.callback)
        gc.set_threshold(*self.before)


class Finaliser:
    """A ``__del__`` that a collection runs."""

    def __init__(self, onlooker):
        self.look, self.before = onlooker.look, gc.get_threshold()
        gc.set_threshold(50, 3, 3)

    def around(self):
        """Make garbage that has outlived some collections, so that it goes at later ones."""
        kept = []
        for _ in range(40):
            kept.append(self.garbage())
            [[i] for i in range(random.randrange(60))]

    def garbage(self):
        return Cyclic(self.look)

    def stop(self):
        gc.set_threshold(*self.before)


class WeakCallback(Finaliser):
    """The callback of a weak reference to what a collection takes away."""

    def __init__(self, onlooker):
        super().__init__(onlooker)
        self.references = []

    def garbage(self):
        garbage = Cyclic(lambda: None)
        self.references.append(weakref.ref(garbage, self.look))
        return garbage


class Finalize(Finaliser):
    """``weakref.finalize`` with a function in C that has the place among its arguments."""

    def garbage(self):
        garbage = Cyclic(lambda: None)
        weakref.finalize(garbage, functools.partial(self.look)).atexit = False
        return garbage


class Tracer:
    """A debugger's trace function."""

    def __init__(self, onlooker):
        sys.settrace(lambda frame, event, arg: onlooker.look())

    def around(self):
        pass

    def stop(self):
        sys.settrace(None)


class SignalInC(Signal):
    """A handler that begins in C (what wraps a method): nobody sees it coming."""

    def __init__(self, onlooker):
        super().__init__(onlooker, lambda look: look.__call__)


ONLOOKERS = [Thread, Signal, Callback, Finaliser, WeakCallback, Finalize, Tracer, SignalInC]


@pytest.fixture(autouse=True)
def places_of_one():
    yield
    for _, change, _ in PLACES.values():
        change(1.0)


# Each kind of onlooker at two kinds of places; --long asks all.
PAIRS = [(name, kind) for name in PLACES for kind in ONLOOKERS]
FEW = [("dict", kind) for kind in ONLOOKERS] + [("math", kind) for kind in (Signal, Callback, Finaliser)]


@pytest.mark.parametrize("name, kind", FEW)
def test_nobody_sees_a_stand_in(tg, name, kind):
    nobody_sees_one(tg, name, kind)


@pytest.mark.long(every=17)
@pytest.mark.parametrize("name, kind", [pair for pair in PAIRS if pair not in FEW])
def test_nobody_sees_a_stand_in_anywhere(tg, name, kind):
    nobody_sees_one(tg, name, kind)


def nobody_sees_one(tg, name, kind):
    """Calls with another number each, while somebody looks: recorded at first, then served as may be, and right."""
    function, change, now = PLACES[name]
    onlooker = Onlooker(now)
    step, x, before = tg.compile(function), ramp(tg, 3), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    other = kind(onlooker)
    try:
        for i in range(7):
            change(0.5 + 0.25 * i)
            other.around()
            result = step(x)
            assert gc.isenabled()
            assert result.allclose(function(x), rtol=1e-5, atol=1e-6)
    finally:
        other.stop()
        sys.setswitchinterval(before)
        gc.collect()
    assert onlooker.looks and not onlooker.errors, onlooker.errors[:1]
    all_plain(now())


class Stranger:
    """Code that no look at the function finds, which looks at the place in the middle of a call."""

    def __init__(self, look):
        self.look = look

    def __del__(self):
        self.look()


def by_eval(look, _):
    eval("f()", {"f": look})


def by_exec(look, _):
    exec("def g(): f()\ng()", {"f": look})


def by_a_computed_name(look, _):
    getattr(types.SimpleNamespace(look=look), "".join(["lo", "ok"]))()


def by_a_finaliser(look, _):
    Stranger(look)


def by_a_weak_callback(look, kept):
    garbage = Space()
    kept.append(weakref.ref(garbage, look))
    del garbage


def by_what_finalises(look, _):
    weakref.finalize(Space(), look)


def by_a_function_of_the_standard_library(look, _):
    random.choice([look])()


STRANGERS = [
    by_eval, by_exec, by_a_computed_name, by_a_finaliser, by_a_weak_callback, by_what_finalises,
    by_a_function_of_the_standard_library,
]  # fmt: skip


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("name", PLACES)
def test_code_that_was_not_found_sees_numbers(tg, name, stranger):
    function, change, now = PLACES[name]
    onlooker, kept, calls = Onlooker(now), [], [stranger]
    x = ramp(tg, 3)

    def between(x):
        y = function(x)
        calls[0](onlooker.look, kept)
        return function(x) + y

    step = tg.compile(between)
    for i in range(5):
        change(0.5 + 0.25 * i)
        result = step(x)
        assert not onlooker.errors, onlooker.errors[:1]
        assert onlooker.looks == i + 1
        tg.testing.assert_close(result, function(x) * 2)
