"""Values that hide: each program reads something by an unusual way, and it changes before calls 3 and 4."""

import array
import collections
import contextvars
import dataclasses
import functools
import threading
import types
import weakref

import numpy as np
import pytest
from side_by_side import Program, ramp

LIMIT = 1.0
QUEUE = collections.deque([1.0])
NUMBERS = array.array("d", [1.0])
BYTES = bytearray([1])
CONTEXT = contextvars.ContextVar("CONTEXT", default=1.0)
LOCAL = threading.local()
LOCAL.value = 1.0
DICT = collections.UserDict(value=1.0)
SPACE = types.SimpleNamespace(value=1.0)
SET = {1.0}


@dataclasses.dataclass
class Options:
    value: float = 1.0


OPTIONS = {"all": [(Options(),)]}
REFERENCE = weakref.ref(OPTIONS["all"][0][0])


def set_limit(value):
    global LIMIT
    LIMIT = value


def set_options(value):
    OPTIONS["all"][0][0].value = value


def set_set(value):
    SET.clear()
    SET.add(value)


@functools.singledispatch
def dispatched(x):
    return x * LIMIT


def compared(x):
    return LIMIT


PYTHON = {
    "deque": (lambda x: x * QUEUE[0], functools.partial(QUEUE.__setitem__, 0)),
    "array": (lambda x: x * NUMBERS[0], functools.partial(NUMBERS.__setitem__, 0)),
    "bytes": (lambda x: x * BYTES[0], lambda value: BYTES.__setitem__(0, int(value))),
    "context variable": (lambda x: x * CONTEXT.get(), CONTEXT.set),
    "thread's own": (lambda x: x * LOCAL.value, functools.partial(setattr, LOCAL, "value")),
    "user dict": (lambda x: x * DICT["value"], functools.partial(DICT.__setitem__, "value")),
    "name space": (lambda x: x * SPACE.value, functools.partial(setattr, SPACE, "value")),
    "set": (lambda x: x * sum(SET), set_set),
    "dataclass": (lambda x: x * OPTIONS["all"][0][0].value, set_options),
    "weak reference": (lambda x: x * REFERENCE().value, set_options),
    "inner lambda": (lambda x: (lambda y: y * LIMIT)(x), set_limit),
    "comprehension": (lambda x: sum(x * LIMIT for _ in range(2)), set_limit),
    "eval": (lambda x: eval("x * LIMIT"), set_limit),
    "globals()": (lambda x: x * globals()["LIMIT"], set_limit),
    "computed name": (lambda x: x * getattr(SPACE, "val" + "ue"), functools.partial(setattr, SPACE, "value")),
    "vars": (lambda x: x * vars(SPACE)["value"], functools.partial(setattr, SPACE, "value")),
    "singledispatch": (lambda x: dispatched(x), set_limit),
    "sorted by key": (lambda x: x * compared(sorted([1, 2], key=compared)[0]), set_limit),
    "format": (lambda x: x * float(f"{LIMIT}"), set_limit),
    "match": (lambda x: x * 2 if LIMIT == 1.0 else x, set_limit),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_values(agree, name):
    step, change = PYTHON[name]

    def make(tg):
        return Program(step, lambda i: (ramp(tg, 3) * (i + 1),), tuple, lambda i: change(3.0 if i in (3, 4) else 1.0))

    agree(make, calls=6)


def growing(change):
    """A program that looks at all parts of a model, to which `change` adds one before call 3."""

    def make(tg):
        model = tg.nn.Sequential(tg.nn.Linear(3, 3))
        model.list = tg.nn.ParameterList([tg.nn.Parameter(ramp(tg, 3))])
        unused = ramp(tg, 3).requires_grad_()
        world = types.SimpleNamespace(tg=tg, model=model, unused=unused)

        def step(x):
            total = sum((p * 2).sum() for p in model.parameters() if p.requires_grad).detach()
            for factor in model.list.parameters():
                x = x * factor.detach()
            x = x * 2 if unused.requires_grad else x
            x = x + unused.shape[0] + len(list(model.buffers())) + (unused.grad is None)
            return model[0](x).detach() * total

        def between(i):
            if i in (3, 5):
                change(world, i == 3)

        return Program(step, lambda i: (ramp(tg, 3) * (i + 1),), tuple, between)

    return make


MODELS = {
    "parameter": lambda w, on: setattr(w.model, "extra", w.tg.nn.Parameter(ramp(w.tg, 3)) if on else None),
    "parameter rebound": lambda w, on: setattr(w.model[0], "bias", w.tg.nn.Parameter(ramp(w.tg, 3) + on)),
    "parameter list": lambda w, on: w.model.list.append(w.tg.nn.Parameter(ramp(w.tg, 3))),
    "buffer": lambda w, on: w.model.register_buffer(f"new_{on}", ramp(w.tg, 3)),
    "frozen": lambda w, on: w.model[0].weight.requires_grad_(not on),
    "unused frozen": lambda w, on: w.unused.requires_grad_(not on),
    "unused of another shape": lambda w, on: setattr(w.unused, "data", ramp(w.tg, 5 if on else 3)),
    "unused with gradient": lambda w, on: setattr(w.unused, "grad", ramp(w.tg, 3) if on else None),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(agree, name):
    agree(growing(MODELS[name]), calls=7)


def gradients(tg, how):
    """What a function may do to gradients besides accumulating them."""
    w, v = ramp(tg, 3).requires_grad_(), (ramp(tg, 3) * 2).requires_grad_()

    def step(x):
        w.grad = v.grad = None
        (w * x * v).sum().backward()
        return how(tg, w, v)

    return Program(step, lambda i: (ramp(tg, 3) * (i + 1),), lambda: (w, v))


def taken(tg, w, v):
    grad, w.grad = w.grad, None
    return grad


def swapped(tg, w, v):
    w.grad, v.grad = v.grad, w.grad


def replaced(tg, w, v):
    w.grad = w.grad * 0.5
    return w.grad


def clamped(tg, w, v):
    w.grad.clamp_(-1, 1)
    v.grad.data.mul_(2)


@pytest.mark.parametrize("how", [taken, swapped, replaced, clamped], ids=lambda f: f.__name__)
def test_gradients(agree, how):
    agree(lambda tg: gradients(tg, how))


def test_two_numpy_views_of_one_array(tg):
    base = np.arange(8, dtype=np.float32)
    x, y = tg.from_numpy(base[:4]), tg.from_numpy(base[2:6])

    def step(a):
        a.add_(1.0)
        return a * y

    with pytest.raises(tg.compiler.errors.CaptureError, match="shows the same memory"):
        tg.compile(step, fullgraph=True)(x)
    separate = tg.compile(step, fullgraph=True)
    for i in range(3):
        separate(ramp(tg, 4) * i)
    with pytest.raises(tg.compiler.errors.CaptureError, match="shows the same memory"):
        separate(x)
