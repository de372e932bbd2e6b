"""Updates of optimizers as numpy code, which plain eager mode runs, against the primitives: equal to the last bit."""

import functools
import itertools

import numpy as np
import pytest

from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import interpreted
from tracegrad.ops.memory import BLOCK
from tracegrad.optim import elementwise, in_numpy
from tracegrad.tape.tape import Tape
from tracegrad.tensors.tensor import make

ADAM = {
    "lr": [0.01, 1],
    "betas": [(0.9, 0.999), (0.0, 0.5)],
    "weight_decay": [0, 0.1],
    "amsgrad": [False, True],
    "maximize": [False, True],
}
SGD = {"lr": [0.1], "momentum": [0, 0.9], "dampening": [0, 0.5], "weight_decay": [0, 0.1], "maximize": [False, True]}
DECAY = {"weight_decay": [0, 0.1], "maximize": [False, True]}


def choices(options):
    return [dict(zip(options, values, strict=True)) for values in itertools.product(*options.values())]


CASES = [
    *[("Adam", options) for options in choices(ADAM)],
    *[("AdamW", options) for options in choices(ADAM)],
    *[("SGD", options) for options in choices(SGD)],
    *[("RMSprop", options) for options in choices({"momentum": [0, 0.9], "centered": [False, True], **DECAY})],
    *[
        ("NAdam", {"decoupled_weight_decay": chosen, **options})
        for chosen in (False, True)
        for options in choices(DECAY)
    ],
    *[("RAdam", {"betas": betas, **options}) for betas in ((0.9, 0.99), (0.3, 0.5)) for options in choices(DECAY)],
    *[(name, options) for name in ("Adagrad", "Adadelta", "Adamax", "ASGD") for options in choices(DECAY)],
    ("ASGD", {"t0": 1, "lambd": 0.1}),
    *[("Rprop", {"maximize": maximize}) for maximize in (False, True)],
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
]
SHAPES = [(3, 4), (), (0,), (1,), (2, BLOCK + 3)]


def parameters(tg):
    random = np.random.default_rng(0)
    made = [tg.nn.Parameter(tg.tensor(random.standard_normal(shape).astype("float32"))) for shape in SHAPES]
    made.append(tg.nn.Parameter(tg.tensor(random.standard_normal((3, 4)))))
    made.append(tg.nn.Parameter(tg.tensor(random.standard_normal((4, 3)).astype("float32")).t()))
    return made


def gradients(tg, params, number):
    random = np.random.default_rng(number)
    for i, p in enumerate(params):
        values = random.standard_normal(p.shape).astype(p.detach().numpy().dtype)
        p.grad = tg.tensor(values)
        if i == 0:
            p.grad = tg.tensor(np.ascontiguousarray(values.T)).t()
        if i == 3 and number == 1:
            p.grad = None


def trained(tg, name, options, change=lambda optimizer, number: None):
    """What three steps leave behind: parameters, state, and how often the memory of each was written to."""
    params = parameters(tg)
    optimizer = getattr(tg.optim, name)(params, **options)
    for number in range(3):
        gradients(tg, params, number)
        change(optimizer, number)
        optimizer.step()
    found = [(p.detach().numpy().tobytes(), p._version) for p in params]
    for p in params:
        state = optimizer.state[p]
        found.append({key: (x.numpy().tobytes(), x.dtype, x._version) for key, x in sorted(state.items())})
    return found


def assert_same(tg, name, options, change=lambda optimizer, number: None):
    own = trained(tg, name, options, change)
    assert own == interpreted(Tape(Evaluator(), make), trained, tg, name, options, change)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value))
def test_steps(tg, name, options):
    assert_same(tg, name, options)


def test_numpy_serves_plain_steps(tg, monkeypatch):
    """What the other tests compare are two ways, not one."""
    served = []
    monkeypatch.setattr(in_numpy, "count_writes", lambda written: served.append(len(written)))
    trained(tg, "Adam", {})
    trained(tg, "SGD", {"momentum": 0.9})
    assert served == [3] * 20 + [2] * 13
    interpreted(Tape(Evaluator(), make), trained, tg, "Adam", {})
    assert len(served) == 33


@pytest.mark.parametrize("name", ["RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"])
def test_arrays_serve_plain_steps(tg, monkeypatch, name):
    served = []
    monkeypatch.setattr(elementwise, "count_writes", lambda written: served.append(len(written)))
    trained(tg, name, {})
    assert len(served) == 20
    interpreted(Tape(Evaluator(), make), trained, tg, name, {})
    assert len(served) == 20


def of_options(key, value):
    def change(optimizer, number):
        if number == 1:
            optimizer.param_groups[0][key] = value(optimizer) if callable(value) else value

    return change


CHANGES = {
    "a rate": of_options("lr", 0.5),
    "a tensor as rate": of_options("lr", lambda optimizer: make(np.array(0.5, np.float32))),
    "numpy's number as rate": of_options("lr", np.float64(0.5)),
    "a list of betas": of_options("betas", [0.5, 0.6]),
    "another sign": of_options("maximize", True),
    "decay": of_options("weight_decay", 0.5),
    "momentum": of_options("momentum", 0.5),
}


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD"])
@pytest.mark.parametrize("what", CHANGES)
def test_changed_options(tg, name, what):
    assert_same(tg, name, {"lr": 0.1}, CHANGES[what])


def test_an_update_of_ones_own_is_called(tg):
    called = []

    class Own(tg.optim.SGD):
        def update(self, p, gradient, state, options):
            called.append(p)
            super().update(p, gradient, state, options)

    p = tg.nn.Parameter(tg.ones(2))
    p.grad = tg.ones(2)
    Own([p], lr=0.5).step()
    assert called == [p] and p.tolist() == [0.5, 0.5]


def test_an_update_that_is_wrapped_is_called(tg):
    """What `functools.wraps` makes has all that is set on the function that it wraps."""
    called = []

    class Own(tg.optim.Adam):
        @functools.wraps(tg.optim.Adam.update)
        def update(self, *args):
            called.append(self)
            tg.optim.Adam.update(self, *args)

    p = tg.nn.Parameter(tg.ones(2))
    p.grad = tg.ones(2)
    optimizer = Own([p])
    optimizer.step()
    assert called == [optimizer]


def test_memory_that_cannot_be_written_to(tg):
    values = np.ones(2, np.float32)
    values.flags.writeable = False
    p = tg.nn.Parameter(tg.from_numpy(values))
    p.grad = tg.ones(2)
    optimizer = tg.optim.Adam([p])
    with pytest.raises(RuntimeError, match="read-only"):
        optimizer.step()
    assert float(optimizer.state[p]["step"]) == 0
