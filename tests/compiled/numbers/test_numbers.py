"""Numbers are data: one specialisation serves all values; what is looked at, and what shapes something, is a guard."""

import concurrent.futures
import contextlib
import dataclasses
import functools
import json
import math
import operator
import sys
import types
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from compiled.conftest import Program, ramp
from expected.compare import assert_close

from tracegrad.compiled.common import collection

FACTOR = 1.0
TABLE = {"weight": 1.0, "name": "main", "inner": {"scale": 2.0}, "list": [1.0, 2], "pair": (0.5, 3)}


def set_factor(value):
    global FACTOR
    FACTOR = value


@pytest.fixture(autouse=True)
def restored(tg):
    yield
    tg.set_default_dtype(tg.float32)
    set_factor(1.0)
    TABLE.update({"weight": 1.0, "inner": {"scale": 2.0}, "list": [1.0, 2], "pair": (0.5, 3)})


@pytest.fixture
def same(tg):
    """``same(step, calls)``: eager and compiled agree for arguments (tuples, or kwargs) one after the other; returns
    the compiled function. `before(i)` is called before each call."""

    def check(step, calls, before=lambda i: None):
        compiled = tg.compile(step)
        for i, given in enumerate(calls):
            args, kwargs = ((), given) if isinstance(given, dict) else (given, {})
            before(i)
            expected = outcome_of(step, args, kwargs)
            before(i)
            assert_outcome(outcome_of(compiled, args, kwargs), expected)
        return compiled

    return check


def outcome_of(step, args, kwargs):
    try:
        return step(*args, **kwargs)
    except Exception as error:
        return error


def assert_outcome(actual, expected, rtol=None, atol=None):
    assert type(actual) is type(expected), (actual, expected)
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_outcome(one, other, rtol, atol)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        assert_outcome(list(actual.values()), list(expected.values()), rtol, atol)
    elif hasattr(expected, "detach"):
        assert actual.dtype == expected.dtype
        assert_close(actual.detach().numpy(), expected.detach().numpy(), rtol, atol)
    elif isinstance(expected, Exception):
        assert str(actual) == str(expected)
    else:
        assert repr(actual) == repr(expected)


# ------------------------------------------------------------------------------------------------------- everything


class Trainer:
    """A model with two optimizers, and numbers wherever a program may keep them."""

    def __init__(self, tg):
        tg.manual_seed(3)
        self.tg = tg
        self.model = tg.nn.Sequential(
            tg.nn.Linear(3, 4, bias=False),
            tg.nn.BatchNorm1d(4),
            tg.nn.Dropout(0.1),
            tg.nn.LayerNorm(4),
            tg.nn.Linear(4, 2),
        )
        self.adam = tg.optim.Adam(self.model[:4].parameters(), lr=1e-3, weight_decay=1e-3)
        self.sgd = tg.optim.SGD(self.model[4:].parameters(), lr=1e-2, momentum=0.9, weight_decay=1e-3)
        self.decay = tg.optim.lr_scheduler.ExponentialLR(self.adam, 0.9999)
        self.cycle = tg.optim.lr_scheduler.CosineAnnealingLR(self.sgd, 50, eta_min=1e-4)
        self.attribute = 1.0
        self.config = {"penalty": 1e-3, "slope": 0.1, "clip": [1.0]}

    def change(self, i):
        wave = 1 + 0.5 * math.sin(i)
        for group in (*self.adam.param_groups, *self.sgd.param_groups):
            group["weight_decay"] = 1e-3 * wave
        self.adam.param_groups[0].update(betas=(0.9 - 0.01 * wave, 0.99 + 0.001 * wave), eps=1e-8 * wave)
        self.sgd.param_groups[0]["momentum"] = 0.8 + 0.05 * wave
        self.model[1].momentum, self.model[1].eps = 0.1 * wave, 1e-5 * wave
        self.model[2].p, self.model[3].eps = 0.2 * wave, 1e-5 * wave
        self.attribute, self.config["penalty"] = wave, 1e-3 * wave
        self.config["slope"], self.config["clip"][0] = 0.1 * wave, 0.5 * wave
        set_factor(wave)

    def make_step(self):
        share = 0.5

        def step(x, y, smoothing, *, weights):
            self.adam.zero_grad()
            self.sgd.zero_grad()
            scores = self.tg.nn.functional.leaky_relu(self.model(x), self.config["slope"])
            loss = self.tg.nn.functional.cross_entropy(scores, y, label_smoothing=smoothing) * weights["main"]
            penalty = sum((p * p).sum() for p in self.model.parameters()) * self.config["penalty"]
            loss = (loss + weights["penalty"] * penalty) * self.attribute * share / FACTOR
            loss.backward()
            norm = self.tg.nn.utils.clip_grad_norm_(self.model.parameters(), self.config["clip"][0])
            self.adam.step()
            self.sgd.step()
            return loss.detach(), norm, weights["main"] * share

        def set_share(value):
            nonlocal share
            share = value

        return step, set_share

    def tensors(self):
        own = list(self.model.state_dict().values())
        for optimizer in (self.adam, self.sgd):
            own += [value for state in optimizer.state.values() for value in state.values() if value is not None]
        return own


def copy_state(source, target):
    """The tensors of one trainer, and what its schedulers have set, into the other."""
    for mine, its in zip(target.tensors(), source.tensors(), strict=True):
        mine.detach().copy_(its.detach())
    for mine, its in ((target.adam, source.adam), (target.sgd, source.sgd)):
        mine.param_groups[0]["lr"] = its.param_groups[0]["lr"]


@pytest.mark.long(every=2)
@pytest.mark.parametrize("steps", [1_000, 10_000])
def test_thousands_of_steps_of_everything_changing(tg, steps):
    """Every twentieth step, and each of the first twenty, is done eagerly as well, from the same state."""
    tg.set_default_dtype(tg.float64)
    eager, trainer = Trainer(tg), Trainer(tg)
    (eager_step, set_eager), (function, set_compiled) = eager.make_step(), trainer.make_step()
    step = tg.compile(function)
    x, y = ramp(tg, 5, 3).double(), tg.tensor([0, 1, 1, 0, 1])
    for i in range(steps):
        wave = 1 + 0.5 * math.cos(3 * i)
        arguments = {"smoothing": 0.1 * wave, "weights": {"main": wave, "penalty": 0.5 * wave}}
        expected = None
        if i % 20 == 0 or i < 20:
            if i:  # by then both optimizers have made their state
                copy_state(trainer, eager)
            eager.change(i)
            set_eager(wave)
            tg.manual_seed(i)
            expected = eager_step(x, y, **arguments)
        trainer.change(i)
        set_compiled(wave)
        tg.manual_seed(i)
        result = step(x, y, **arguments)
        if expected is not None:
            # A row in which dropout leaves nothing but equal numbers is divided by the root of LayerNorm's eps, and its
            # gradient again: a factor of 300 each on roundings of 1e-16.
            assert_outcome(result, expected, rtol=1e-11, atol=1e-12)
            for mine, its in zip(trainer.tensors(), eager.tensors(), strict=True):
                assert_close(mine.detach(), its.detach(), rtol=1e-11, atol=1e-12)
        trainer.decay.step()
        trainer.cycle.step()
    assert len(step.specialisations) == 1


# -------------------------------------------------------------------------------------------- where numbers are found


@dataclasses.dataclass
class Weights:
    main: float = 1.0
    kind: str = "sum"


class Slotted:
    __slots__ = ("scale",)


class Space:
    scale = 1.0


Pair = namedtuple("Pair", "first second")
weights, slotted, simple = Weights(), Slotted(), types.SimpleNamespace(deep=types.SimpleNamespace(scale=1.0))


def by_class(value):
    Space.scale = value


PLACES = {
    "global": (lambda x: x * FACTOR, set_factor),
    "global_dict": (lambda x: x * TABLE["weight"], lambda v: TABLE.update(weight=v)),
    "inner_dict": (lambda x: x * TABLE["inner"]["scale"], lambda v: TABLE["inner"].update(scale=v)),
    "replaced_dict": (lambda x: x * TABLE["inner"]["scale"], lambda v: TABLE.update(inner={"scale": v})),
    "list": (lambda x: x * TABLE["list"][0], lambda v: TABLE["list"].__setitem__(0, v)),
    "tuple": (lambda x: x * TABLE["pair"][0], lambda v: TABLE.update(pair=(v, 3))),
    "attribute": (lambda x: x * weights.main, lambda v: setattr(weights, "main", v)),
    "deep_attribute": (lambda x: x * simple.deep.scale, lambda v: setattr(simple.deep, "scale", v)),
    "slot": (lambda x: x * slotted.scale, lambda v: setattr(slotted, "scale", v)),
    "class": (lambda x: x * Space.scale, by_class),
    "of_all_items": (lambda x: [x * v for v in TABLE["list"]], lambda v: TABLE["list"].__setitem__(0, v)),
}


@pytest.mark.parametrize("name", PLACES)
def test_places(same, tg, name):
    step, change = PLACES[name]
    compiled = same(step, [(ramp(tg, 3) * i,) for i in range(7)], lambda i: change(0.5 + i))
    assert len(compiled.specialisations) == 1
    assert type(FACTOR) is float and type(TABLE["weight"]) is float and type(TABLE["list"][0]) is float


ARGUMENTS = {
    "position": lambda x, v: ((x, v), {}),
    "keyword": lambda x, v: ((x,), {"number": v}),
    "dict": lambda x, v: ((x, {"a": v, "b": "text"}), {}),
    "ordered_dict": lambda x, v: ((x, OrderedDict(a=v)), {}),
    "nested": lambda x, v: ((x, [1.0, {"a": (v, "text")}]), {}),
    "namedtuple": lambda x, v: ((x, Pair(v, "text")), {}),
}


def first_number(tree):
    for item in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(item, float) and item != 1.0:
            return item
        if isinstance(item, (dict, tuple, list)):
            return first_number(item)
    raise LookupError


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(tg, name):
    def step(x, number):
        return x * (number if isinstance(number, float) else first_number(number))

    compiled = tg.compile(step)
    for i in range(6):
        args, kwargs = ARGUMENTS[name](ramp(tg, 3), 1.5 + i)
        assert_outcome(compiled(*args, **kwargs), step(*args, **kwargs))
        assert "Number" not in repr((args[1:], kwargs)) and type(list(kwargs.values() or [1.0])[0]) is float
    assert len(compiled.specialisations) == 1


def test_one_dict_under_two_names_that_part(tg):
    """What two names lead to is one number while they do, and two when they do not."""
    shared = {"a": 1.0}
    first, second = types.SimpleNamespace(table=shared), types.SimpleNamespace(table=shared)
    step = lambda x: x * first.table["a"] + second.table["a"]  # noqa: E731
    compiled = tg.compile(step)
    for i in range(8):
        shared["a"] = 2.0 + i
        if i == 5:
            second.table = {"a": 100.0}
        assert_outcome(compiled(tg.ones(2)), step(tg.ones(2)))


def test_defaults_stay(same, tg):
    def step(x, scale=2.0, *, shift=1.0):
        return x * scale + shift

    compiled = same(step, [(tg.ones(2),), (tg.ones(2), 3.0), (tg.ones(2), 4.0), (tg.ones(2), 5.0), (tg.ones(2),)])
    assert len(compiled.specialisations) == 2  # with and without the argument


def test_methods_and_numbers_of_modules(tg, same):
    class Net(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.scale = tg.nn.Linear(3, 3), 1.0

        def forward(self, x):
            return self.fc(x) * self.scale

    net = Net()
    compiled = same(lambda x: net(x), [(ramp(tg, 2, 3),)] * 6, lambda i: setattr(net, "scale", 1.5 + i))
    assert len(compiled.specialisations) == 1


# ------------------------------------------------------------------------------------------------------- what is done


def test_python_arithmetic(same, tg):
    def step(x, a, n):
        numbers = [a + n, 2 - a, a * a, n / 3, n // 2, n % 3, -a, abs(-a), a**2, 2**n, n << 1, round(a, 1), +n, ~n]
        return x * numbers[2] + numbers[3], numbers, divmod(n, 3), max(numbers[:2]), {"a": a, "again": a}

    compiled = same(step, [(tg.ones(2), 0.5 + i / 7, 3 + i) for i in range(8)])
    assert len(compiled.specialisations) <= 2  # max() compares: one for each outcome


def test_functions_of_math_and_numpy(same, tg):
    def step(x, a, n):
        scale = math.exp(-a) + math.sqrt(a) + np.cos(a) * math.pi + sum([a, 0.1, 0.2, n]) + math.floor(a * 3)
        return x * scale, scale

    compiled = same(step, [(tg.ones(2), 0.5 + i, i) for i in range(6)])
    assert len(compiled.specialisations) == 1


def test_branches(same, tg, c_calls):
    """One specialisation for each way, whatever the numbers are."""

    def step(x, a, n):
        x = x * 2 if a > 0.5 else x - a
        return x + 1 if n % 2 == 0 and a else x

    compiled = same(step, [(tg.ones(2), 0.15 * i, i) for i in range(12)])
    assert len(compiled.specialisations) <= 5
    before = len(c_calls)
    same_ways = [(tg.ones(2), 0.15 * i + 0.01, i + 2) for i in range(1, 12)]
    for args in same_ways:
        compiled(*args)
    assert len(c_calls) == before + len(same_ways)


@pytest.mark.parametrize(
    "step",
    [
        lambda x, n: x[:n],
        lambda x, n: sum(x * i for i in range(n)),
        lambda x, n: x[: n * 2].view(n, -1),
        lambda x, n: x.new_zeros(n),
        lambda x, n: x * len("a" * n),
        lambda x, n: x * float(f"{n}.5"),
        lambda x, n: x * {1: 2, 2: 4, 3: 8}[n],
        lambda x, n: x * int(n),
        lambda x, n: x.roll(n),
        lambda x, n: x * np.arange(n).sum().item(),
    ],
)
def test_integers_that_shape_are_guards(same, tg, step, c_calls):
    calls = [(ramp(tg, 8), n) for n in (1, 2, 3, 2, 1, 3)]
    compiled = same(step, calls)
    assert len(compiled.specialisations) <= 3 and len(c_calls) >= 3


def test_integers_at_which_a_returned_view_begins_are_guards(same, tg, c_calls):
    """It has to be a view at each call; that it is returned is known when one recording has been made in vain."""
    compiled = same(lambda x, n: x[n], [(ramp(tg, 8), n) for n in (1, 2, 3, 2, 1, 3, 2, 1)])
    assert len(compiled.specialisations) == 3 and len(c_calls) == 4


def test_a_number_that_was_looked_at_fills_a_tensor(same, tg):
    """The literal has made its very value a fact, so it is no data any more when it fills."""
    same(lambda x, v: (tg.tensor([v]), tg.full_like(x, v)), [(tg.ones(2), v) for v in (0.5, 1.5, 2.5, 0.5)])


def test_special_numbers(same, tg):
    values = (1.0, float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 5e-324, 1e300, 1e-300, float("nan"))
    compiled = same(lambda x, v: (x * v, v / x, v), [(tg.ones(2), v) for v in values])
    assert len(compiled.specialisations) == 1


def test_kinds_of_numbers_are_different(same, tg):
    values = [
        True,
        1,
        1.0,
        np.float64(1),
        np.float32(1),
        np.int64(1),
        False,
        2,
        2.0,
        np.float64(2),
        np.float32(2),
        True,
    ]
    for x in (tg.ones(2), tg.ones(2, dtype=tg.int64), tg.ones(2, dtype=tg.bool)):
        same(lambda x, v: (x * v, v), [(x, v) for v in values])


@pytest.mark.long(fast="first", every=11)
@pytest.mark.parametrize("kind", [bool, int, float, np.float64])
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_promotion(same, tg, kind, dtype, shape):
    x = tg.ones(shape, dtype=getattr(tg, dtype))
    for op in (
        lambda x, v: x + v,
        lambda x, v: v * x,
        lambda x, v: x / v,
        lambda x, v: x > v,
        lambda x, v: tg.where(x > 0, v, x),
        lambda x, v: tg.full((2,), v),
        lambda x, v: x.clone().fill_(v),
        lambda x, v: tg.tensor(v) + x,
        lambda x, v: tg.result_type(x, v) == x.dtype,
    ):
        compiled = same(op, [(x, kind(v)) for v in (1, 3, 5, 7)])
        if kind is not bool and "fill_" not in op.__code__.co_names and "result_type" not in op.__code__.co_names:
            assert len(compiled.specialisations) == 1


def test_integers_reach_c_exactly(same, tg):
    big = [2**53 + 1, 2**62 + 3, -(2**63), 2**63 - 1, 2**31 + 5, 7]
    compiled = same(lambda x, n: (x + n, x * 0 + n * 1), [(tg.zeros(2, dtype=tg.int64), n) for n in big])
    assert len(compiled.specialisations) == 1
    compiled = same(lambda x, n: x + n, [(tg.zeros(2), n) for n in big])
    assert len(compiled.specialisations) == 1
    same(lambda x, n: x + n, [(tg.zeros(2, dtype=tg.int32), n) for n in big])


def test_errors_are_eager(same, tg):
    def step(x, a, n):
        if a < 0:
            raise ValueError(f"negative: {a}", n)
        return x * (1 / a) + n

    calls = [(tg.ones(2), a, n) for a, n in ((1.0, 1), (2.0, 2), (0.0, 3), (4.0, 4), (-1.5, 5), (3.0, 6))]
    compiled = same(step, calls)
    assert len(compiled.specialisations) == 1
    same(lambda x, n: x + n, [(tg.zeros(2, dtype=tg.int64), n) for n in (1, 2, 2**70, 3, -(2**64))])
    same(lambda x, n: x * 2.0**n, [(tg.zeros(2), n) for n in (1, 2, 5000, 3)])


def test_an_error_that_is_caught(same, tg):
    def step(x, a):
        try:
            return x / (1 / a)
        except ZeroDivisionError:
            return x - 1

    same(step, [(tg.ones(2), a) for a in (1.0, 2.0, 0.0, 3.0, -0.0, 4.0)])


def test_everything_is_restored_after_an_error(tg):
    @tg.compile
    def step(x, table):
        x = x * FACTOR * table["a"]
        if table["a"] > 3:
            raise KeyError(table["a"])
        return x

    for i in range(6):
        set_factor(1.0 + i)
        table = {"a": float(i)}
        if i > 3:
            with pytest.raises(KeyError) as caught:
                step(tg.ones(2), table)
            assert type(caught.value.args[0]) is float
        else:
            step(tg.ones(2), table)
        assert type(FACTOR) is float and type(table["a"]) is float and "sum" not in globals()


def test_numbers_written_by_the_function(tg, monkeypatch):
    """Side effects are refused as ever, and leave what eager mode leaves: plain numbers."""
    monkeypatch.setattr(collection, "hides_holders", lambda: True)  # this file's own objects, among others

    def function(x):
        if TABLE["weight"] > 2.5:
            TABLE["list"][0] = TABLE["weight"] * 2
            set_factor(TABLE["weight"] + 1)
        return x * TABLE["weight"]

    step = tg.compile(function, fullgraph=True)
    for i in range(2):
        TABLE["weight"] = 1.5 + i / 2
        step(tg.ones(1))
    TABLE["weight"] = 3.0
    with pytest.raises(tg.compiler.errors.CaptureError):
        step(tg.ones(1))
    assert (TABLE["list"][0], FACTOR) == (6.0, 4.0) and type(TABLE["list"][0]) is float and type(FACTOR) is float


def test_a_number_that_escapes_becomes_plain(tg):
    """Into a place that nobody looks at: there eager mode has plain numbers."""

    class Keeper:
        def keep(self, number):
            vars(self).setdefault("last", []).append(number)

    keepers = [Keeper()]
    step = tg.compile(lambda x, a: (operator.attrgetter("keep")(keepers[0])(a * 2), x * a)[1])
    for i in range(4):
        with contextlib.suppress(tg.compiler.errors.CaptureError):
            step(tg.ones(1), 1.5 + i)
    assert keepers[0].last == [3.0, 5.0, 7.0, 9.0] and {type(number) for number in keepers[0].last} == {float}


@pytest.mark.parametrize(
    ("step", "programs"),
    [
        (lambda x, a: x * a if type(a) is float else x, 4),
        (lambda x, a: x * len(json.dumps({"a": a})), 4),
        (lambda x, a: x * eval("a"), 3),  # the first call learns what code there is
    ],
)
def test_code_that_tells_a_stand_in_sees_none(same, tg, step, programs):
    compiled = same(step, [(tg.ones(2), 1.25 + i) for i in range(4)])
    assert len(compiled.specialisations) == programs


def test_text_of_numbers(same, tg):
    def step(x, a, n):
        return x * a, f"{a:.2f}", str(n), "%d %.1f" % (n, a), repr(a)  # noqa: UP031

    same(step, [(tg.ones(2), a, n) for a, n in ((0.5, 1), (0.25, 2), (0.125, 2), (0.5, 1), (0.1, 3))])


def test_results_that_are_numbers(same, tg):
    def step(x, a, n):
        return x * a, {"lr": a, "next": [a * 0.5, n + 1], "pair": (n, "text")}

    compiled = same(step, [(tg.ones(2), 0.5 + i, i) for i in range(6)])
    assert len(compiled.specialisations) == 1


def test_backward_outside_takes_the_numbers_of_its_call(tg):
    w = ramp(tg, 3).requires_grad_()
    f = tg.compile(lambda x, a: (w * w * x * a).sum())
    for i in range(5):
        losses = [f(tg.ones(3), 1.5 + i), f(tg.ones(3), 20.5 + i)]
        w.grad = None
        losses[0].backward()
        assert_close(w.grad.numpy(), 2 * w.detach().numpy() * (1.5 + i))
        w.grad = None
        losses[1].backward()
        assert_close(w.grad.numpy(), 2 * w.detach().numpy() * (20.5 + i))
    assert len(f.specialisations) == 1


def test_the_usual_call_serves_numbers(tg, monkeypatch):
    w = ramp(tg, 3).requires_grad_()
    optimizer = tg.optim.SGD([w], lr=0.1)

    @tg.compile
    def step(x, lr, n):
        optimizer.zero_grad()
        loss = ((w * x) ** 2).sum() * lr * TABLE["weight"] + n
        loss.backward()
        optimizer.step()
        return loss.detach()

    for i in range(8):
        TABLE["weight"] = 0.5 + i
        step(tg.ones(3), 0.01 * i, i)
    assert step._usual is not None
    monkeypatch.setattr(type(step), "_call", None)  # the general way
    for i in range(4):
        TABLE["weight"] = 1.0 + i
        before = w.detach().clone()
        loss = step(tg.ones(3), 0.01 * i, i)
        assert loss.item() == pytest.approx((before.numpy() ** 2).sum() * 0.01 * i * (1.0 + i) + i, rel=1e-6)


def test_numbers_and_shapes_change_together(same, tg):
    calls = [(ramp(tg, 2 + i % 2, 3), 0.5 + i) for i in range(8)]
    compiled = same(lambda x, a: x.mean() * a, calls)
    assert len(compiled.specialisations) <= 2


def test_random_numbers_with_parameters_that_change(agree):
    def make(tg):
        def step(x, p):
            drawn = [x.clone().normal_(p, p), x.clone().uniform_(-p, p), x.clone().bernoulli_(p)]
            return tg.nn.functional.dropout(x, p), drawn, x.clone().exponential_(p)

        return Program(step, lambda i: (ramp(tg, 3), 0.1 + 0.05 * i), tuple, specialisations=1)

    agree(make, calls=6)


def test_a_program_for_all_numbers_replaces_the_first(tg):
    step = tg.compile(lambda x, a: x * a)
    step(tg.ones(1), 1.0)
    first = step.specialisations[0]
    step(tg.ones(1), 2.0)
    assert len(step.specialisations) == 1 and step.specialisations[0] is not first
    assert "a: f64[]" in str(step.graph)
    assert step(tg.ones(1), 1.0).item() == 1.0


def test_counters_beside_numbers(same, tg):
    """What has to run in Python at each call sees plain numbers there."""
    seen = []

    def step(x, a):
        seen.append(a)
        return x * a * FACTOR

    same(step, [(tg.ones(2), 0.5 + i) for i in range(6)], lambda i: set_factor(1.5 * i))
    assert seen == [0.5 + i for i in range(6) for _ in range(2)] and {type(a) for a in seen} == {float}


def test_cached_functions_keep_no_stand_ins(same, tg):
    cached = functools.lru_cache(lambda a: a * 2)
    same(lambda x, a: x * cached(a), [(tg.ones(2), 0.5 + i) for i in range(5)])
    assert type(cached(0.5)) is float and cached.cache_info().currsize == 5


@pytest.fixture
def eager_to_switch():
    """Threads take turns a hundred times as often as they usually do."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("attempt", range(4))
def test_threads_have_their_own_numbers(tg, eager_to_switch, attempt):
    step = tg.compile(lambda x, a: (x * a, a * 2))
    for i in range(3):
        step(tg.ones(4), 1.5 + i)

    def work(own):
        for i in range(200):
            result, twice = step(tg.ones(4), own + i)
            if twice != 2 * (own + i) or result.tolist() != [own + i] * 4:
                return False
        return True

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, [0.5, 1000.5, 2000.5, 3000.5]))
    assert len(step.specialisations) == 1


def test_numbers_of_tensors_beside_numbers(tg):
    """What ``item()`` gives goes through, appended or returned; the list may be emptied outside."""
    losses = []

    def step(x, a):
        loss = (x * a).sum()
        losses.append(loss.item())
        return loss.item(), a * 2

    compiled = tg.compile(step, fullgraph=True)
    for i in range(9):
        if i % 4 == 3:
            losses.clear()
        assert compiled(tg.ones(2), 0.5 + i) == (1 + 2.0 * i, 1 + 2.0 * i)
        assert losses[-1] == 1 + 2.0 * i and {type(loss) for loss in losses} == {float}
    assert len(compiled.specialisations) == 1 and compiled.way == "replay"
