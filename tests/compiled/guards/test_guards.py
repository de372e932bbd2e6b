"""Python values that a program depends on: a change is noticed, a number of the optimizer is data."""

import copy
import functools
import gc
import pickle
import time
import types

import numpy as np
import pytest
from side_by_side import Program, assert_agree, ramp, run

from tracegrad.compiled.common.exactness import same_number
from tracegrad.compiled.guards.declared import Guard
from tracegrad.compiled.guards.states import state
from tracegrad.compiled.replay.arguments import _COMPARED, _fits

PROGRAMS = []
SCALE = 1.0
TABLE = {"a": {"b": [1.0, 2.0]}}
NUMBERS = np.array([1.0, 2.0])


class Config:
    """A class used as a name space."""

    scale = 1.0


class Slotted:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 1.0


class Scaler:
    shift = 0.0

    def __init__(self):
        self.inner = types.SimpleNamespace(deep=types.SimpleNamespace(scale=1.0))
        self.unused = 0

    @property
    def scale(self):
        return self.inner.deep.scale

    def helped(self, x):
        return x * self.scale * SCALE + self.shift


def program(make):
    PROGRAMS.append(make)
    return make


def changing(name, step, change, specialisations=1):
    """`step(tg, x)` depends on something that ``change(old or new)`` sets before calls 3 and 4: if it is a number,
    the first recording is replaced by one that serves all numbers."""

    def make(tg):
        def between(i):
            change(i in (3, 4))

        return Program(lambda x: step(tg, x), lambda i: (ramp(tg, 3) * (i + 1),), tuple, between, specialisations)

    make.__name__ = name
    PROGRAMS.append(make)


def set_global(new):
    global SCALE
    SCALE = 5.0 if new else 1.0


slotted, scaler, config, objects = Slotted(), Scaler(), types.SimpleNamespace(on=True), [Slotted()]
CYCLE = [1.0]
CYCLE.append(CYCLE)


def helper(x, by=config):
    return x * 2 if by.on else x * 3


@functools.lru_cache
def wrapped(flag):
    return SCALE


def decorated(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args) * SCALE

    return inner


@decorated
def tripled(x):
    return x * 3


changing("global_number", lambda tg, x: x * SCALE, set_global)
changing(
    "nested_container",
    lambda tg, x: x * TABLE["a"]["b"][0],
    lambda new: TABLE["a"]["b"].__setitem__(0, 7.0 if new else 1.0),
)
changing("numpy_array", lambda tg, x: x * float(NUMBERS[0]), lambda new: NUMBERS.__setitem__(0, 7.0 if new else 1.0), 2)
changing("class_attribute", lambda tg, x: x * Config.scale, lambda new: setattr(Config, "scale", 3.0 if new else 1.0))
changing("slots", lambda tg, x: x * slotted.scale, lambda new: setattr(slotted, "scale", 3.0 if new else 1.0))
changing(
    "object_in_a_list",
    lambda tg, x: x * objects[0].scale,
    lambda new: setattr(objects[0], "scale", 3.0 if new else 1.0),
)
changing(
    "deep_property",
    lambda tg, x: scaler.helped(x),
    lambda new: setattr(scaler.inner.deep, "scale", 3.0 if new else 1.0),
)
changing(
    "inherited_attribute", lambda tg, x: scaler.helped(x), lambda new: setattr(Scaler, "shift", 3.0 if new else 1.0)
)
changing("method_of_an_object", lambda tg, x: scaler.helped(x), set_global)
changing("unused_attribute", lambda tg, x: scaler.helped(x), lambda new: setattr(scaler, "unused", scaler.unused + 1))
changing("default_argument", lambda tg, x: helper(x), lambda new: setattr(config, "on", not new), 2)
changing("decorator", lambda tg, x: tripled(x), set_global)
changing(
    "partial", lambda tg, x: functools.partial(helper, by=config)(x), lambda new: setattr(config, "on", not new), 2
)
changing("list_that_holds_itself", lambda tg, x: x * CYCLE[0], lambda new: CYCLE.__setitem__(0, 3.0 if new else 1.0))
changing("nan", lambda tg, x: x * SCALE, lambda new: globals().__setitem__("SCALE", float("nan") if new else 1.0))
changing("minus_zero", lambda tg, x: x / SCALE, lambda new: globals().__setitem__("SCALE", -0.0 if new else 0.0))
changing("module_of_the_program", lambda tg, x: x * SELF.SCALE, set_global)
SELF = __import__("sys").modules[__name__]


@program
def default_dtype(tg):
    def between(i):
        tg.set_default_dtype(tg.float64 if i in (3, 4) else tg.float32)

    return Program(lambda x: x.sum() + tg.ones(2), lambda i: (tg.tensor(i + 1),), tuple, between, 2)


@program
def grad_mode(tg):
    w = ramp(tg, 3).requires_grad_()

    def between(i):
        tg.set_grad_enabled(i not in (3, 4))

    return Program(lambda x: w * x, lambda i: (ramp(tg, 3),), tuple, between, 2)


@pytest.fixture(autouse=True)
def restored(tg):
    yield
    tg.set_grad_enabled(True)
    tg.set_default_dtype(tg.float32)
    set_global(False)


class Net:
    """A model with everything that can be switched or rebound."""

    def __init__(self, tg):
        class Model(tg.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = tg.nn.Linear(3, 3)
                self.drop = tg.nn.Dropout(0.5)
                self.norm = tg.nn.BatchNorm1d(3)
                self.flag = True
                self.layers = [tg.nn.Linear(3, 3)]

            def forward(self, x):
                x = self.drop(self.fc(self.norm(x)))
                x = self.layers[0](x)
                return x * 2 if self.flag else x

        self.model = Model()


def rebinding(name, change, specialisations=None):
    def make(tg):
        net = Net(tg)

        def between(i):
            if i in (2, 4):
                change(tg, net.model, i)

        def state():
            return dict(net.model.state_dict())

        return Program(lambda x: net.model(x), lambda i: (ramp(tg, 4, 3) * (i + 1),), state, between, specialisations)

    make.__name__ = name
    PROGRAMS.append(make)


rebinding("eval_and_train", lambda tg, model, i: model.train(i == 4), 2)
rebinding("attribute_flag", lambda tg, model, i: setattr(model, "flag", i == 4), 2)
rebinding("new_layer", lambda tg, model, i: setattr(model, "fc", tg.nn.Linear(3, 3)))
rebinding("new_parameter", lambda tg, model, i: setattr(model.fc, "weight", tg.nn.Parameter(ramp(tg, 3, 3))))
rebinding("bias_removed", lambda tg, model, i: setattr(model.fc, "bias", None))
rebinding("layer_in_a_list", lambda tg, model, i: model.layers.__setitem__(0, tg.nn.Linear(3, 3)))
rebinding("dropout_probability", lambda tg, model, i: setattr(model.drop, "p", 0.25 if i == 2 else 0.5))
rebinding("forward_replaced", lambda tg, model, i: setattr(model, "forward", lambda x: x + i))
rebinding(
    "state_loaded", lambda tg, model, i: model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()}), 1
)
rebinding("momentum_of_the_norm", lambda tg, model, i: setattr(model.norm, "momentum", 0.5))


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_guards(agree, make):
    agree(make, calls=6)


@pytest.mark.parametrize(
    "values",
    [(1.0, 2.0, 1.0), (1, 2, 1.0), (True, 1, 1.0), (0.0, -0.0, 0.0), ("mean", "sum", "mean"), (None, 1.0, None)],
)
def test_python_arguments(tg, values):
    def make(tg):
        def step(x, how):
            if isinstance(how, str):
                return getattr(x, how)()
            return x if how is None else x / how

        return Program(step, lambda i: (ramp(tg, 3), values[i]))

    assert_agree(run(tg, make, True, 3)[0], run(tg, make, False, 3)[0])


def test_callbacks_of_the_garbage_collector_are_not_the_programs(tg):
    """A library that times collections reads the clock in them, at any time outside of the function."""

    def callback(phase, info):
        time.perf_counter()

    before, step = gc.get_threshold(), tg.compile(lambda x: [x * i for i in range(20)][-1])
    gc.callbacks.append(callback)
    gc.set_threshold(1)
    try:
        for _ in range(4):
            step(tg.ones(2))
    finally:
        gc.callbacks.remove(callback)
        gc.set_threshold(*before)
    assert step.way == "replay", step.explain()


_NAN = float("nan")
# Plain values that are all different from each other; the nans of one type are one value.
DIFFERENT = [
    *(True, False, 1, 0, 1.0, 0.0, -0.0, _NAN, 1j, complex(0.0, 0.0), complex(-0.0, 0.0)),
    *(complex(0.0, -0.0), "1", b"1"),
    *(complex(_NAN, 0.0), complex(0.0, _NAN), 2**53, 2**53 + 1, float(2**53), float("inf"), float("-inf"), None),
    *(kind(value) for kind in (np.float64, np.float32) for value in (1.0, 0.0, -0.0, _NAN)),
    *(kind(value) for kind in (np.int64, np.int32) for value in (1, 0)),
    *(
        np.bool_(True),
        (0.0,),
        (-0.0,),
        (_NAN,),
        (0,),
        (False,),
        ((0.0, 1), "a"),
        ((-0.0, 1), "a"),
        0.1,
        np.nextafter(0.1, 1),
    ),
    *(np.complex64(complex(0.0, -0.0)), np.complex64(0.0)),
]


def made_again(value):
    """The same value as another object."""
    return pickle.loads(pickle.dumps(value)) if value == value else copy.copy(value) + 0 if _is_number(value) else value


def _is_number(value):
    return isinstance(value, (float, complex, np.generic))


@pytest.mark.parametrize("i", range(len(DIFFERENT)))
def test_numbers_are_the_same_bit_by_bit(i):
    """In a guard, a fact of the surroundings, a plain argument and a formula: one rule."""
    for j, now in enumerate(DIFFERENT):
        expected, same = DIFFERENT[i], i == j
        again = made_again(now)
        assert same_number(again, expected) is same, (again, expected)
        assert (state(again) == state(expected)) is same
        assert _fits(expected, again) is same or not isinstance(now, _COMPARED)
        assert Guard("a value", lambda now=again: now, expected, "").holds() is same
