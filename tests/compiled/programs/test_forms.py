"""Everything that can be compiled: methods, lambdas, closures, partials, modules, copies, nested functions."""

import copy
import functools
import pickle

import numpy as np
import pytest
from side_by_side import Program, ramp


def served_from_c(step, expected, args, c_calls):
    """Several calls: right each time, and from C from the second on."""
    del c_calls[:]
    for i in range(4):
        np.testing.assert_allclose(step(*args(i)).detach().numpy(), expected(*args(i)).detach().numpy(), rtol=1e-5)
    assert len(c_calls) == 3


class Trainer:
    def __init__(self, tg, scale):
        self.scale = scale
        self.weight = ramp(tg, 3) * scale
        self.epoch = 0

    def step(self, x):
        return x * self.weight + self.scale

    @staticmethod
    def fixed(x):
        return x * 2

    def __call__(self, x):
        return self.step(x) * 3


def forms(tg):
    trainer = Trainer(tg, 2.0)
    offset = ramp(tg, 3)

    def outer(x, *rest, by=1.0, **more):
        return x * by + offset

    @functools.wraps(outer)
    def wrapper(*args, **kwargs):
        return outer(*args, **kwargs) * 2

    return {
        "lambda": lambda x: x + offset,
        "closure": outer,
        "method": trainer.step,
        "static method": Trainer.fixed,
        "callable object": trainer,
        "partial": functools.partial(outer, by=3.0),
        "partial of a method": functools.partial(Trainer.step, trainer),
        "decorated": wrapper,
        "no_grad": tg.no_grad()(outer),
        "module": tg.nn.Linear(3, 2),
        "library function": tg.nn.functional.relu,
        "nested": tg.compile(tg.compile(outer)),
        "exec": eval("lambda x: x * 5"),  # no source anywhere
    }


@pytest.mark.parametrize("form", forms(__import__("tracegrad")))
def test_form(tg, form, c_calls):
    function = forms(tg)[form]
    step = tg.compile(function)
    eager = function.function.function if form == "nested" else function
    served_from_c(step, eager, lambda i: (ramp(tg, 3) * (i + 1),), c_calls)
    assert "1 specialisation" in repr(step)


def test_keyword_arguments(tg, c_calls):
    step = tg.compile(lambda x, *, y, scale=2.0: x * y * scale)
    for i in range(4):
        assert step(ramp(tg, 3), y=ramp(tg, 3) * i).tolist() == (ramp(tg, 3) * (ramp(tg, 3) * i) * 2.0).tolist()
    assert len(c_calls) == 3


def test_trees_of_arguments(tg, c_calls):
    step = tg.compile(lambda batch, pair: batch["x"] * pair[0] + pair[1][0])
    for i in range(4):
        out = step({"x": ramp(tg, 3) * i}, (ramp(tg, 3), [ramp(tg, 3) + i]))
        np.testing.assert_allclose(out.numpy(), ramp(tg, 3).numpy() ** 2 * i + ramp(tg, 3).numpy() + i, rtol=1e-6)
    assert len(c_calls) == 3


def test_decorated_method_keeps_instances_apart(tg):
    class Model:
        def __init__(self, scale):
            self.weight = ramp(tg, 3) * scale

        @tg.compile
        def step(self, x):
            self.weight.add_(x)
            return self.weight.sum()

    one, other, same = Model(1.0), Model(2.0), [ramp(tg, 3), ramp(tg, 3) * 2]
    for i in range(5):
        for model, weight in ((one, same[0]), (other, same[1])):
            weight.add_(ramp(tg, 3) * i)
            assert model.step(ramp(tg, 3) * i).item() == pytest.approx(weight.sum().item(), rel=1e-5)
    assert len(Model.step.specialisations) == 2


def test_decorator_with_options(tg):
    @tg.compile(fullgraph=True, mode="max-autotune")
    def step(x):
        return x + 1

    assert step(tg.ones(1)).tolist() == step(tg.ones(1)).tolist() == [2.0]
    assert step.__name__ == "step"


def test_compiled_model_is_still_a_model(tg):
    model = tg.compile(tg.nn.Sequential(tg.nn.Linear(3, 2), tg.nn.Dropout(0.5)))
    assert [tuple(p.shape) for p in model.parameters()] == [(2, 3), (2,)]
    model.eval()
    x = ramp(tg, 4, 3)
    first, *later = [model(x).detach().numpy() for _ in range(4)]
    assert all(np.allclose(y, first) for y in later)
    assert list(model.state_dict()) == ["0.weight", "0.bias"]


def test_deep_copy_is_independent(tg):
    model = tg.compile(tg.nn.Linear(3, 2))
    x = ramp(tg, 4, 3)
    before = [model(x).detach().numpy() for _ in range(3)][-1]
    other = copy.deepcopy(model)
    with tg.no_grad():
        for p in other.parameters():
            p.add_(1.0)
    for _ in range(3):
        np.testing.assert_allclose(model(x).detach().numpy(), before, rtol=1e-6)
        assert not np.allclose(other(x).detach().numpy(), before)


def test_pickled_copy(tg):
    model = pickle.loads(pickle.dumps(tg.compile(tg.nn.Linear(3, 2))))
    assert model(ramp(tg, 4, 3)).shape == (4, 2)


def test_nested_compile_is_one_call(tg, c_calls):
    scale = [2.0]

    @tg.compile
    def inner(x):
        return x * scale[0]

    outer = tg.compile(lambda x: inner(x) + inner(x * 2))
    for i in range(6):
        scale[0] = 5.0 if i > 3 else 2.0
        assert outer(tg.ones(1) * i).item() == 3 * scale[0] * i
    assert len(c_calls) == 4 and len(outer.specialisations) == 1  # the number in it is data


def test_nothing_to_compute(tg, c_calls):
    step = tg.compile(lambda *args: None)
    assert [step(), step(), step(tg.ones(1)), step(tg.ones(1))] == [None] * 4


def test_objects_as_arguments(agree):
    def make(tg):
        trainers = [Trainer(tg, 1.0), Trainer(tg, 2.0)]

        def between(i):
            trainers[0].scale = 9.0 if i > 3 else 1.0
            trainers[0].epoch += 1  # nothing reads it

        return Program(lambda t, x: t.step(x), lambda i: (trainers[i % 2], ramp(tg, 3) * i), tuple, between, 2)

    agree(make, calls=8)


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_fresh_and_pytorchs(agree, training):
    def make(tg):
        drop = tg.nn.Dropout(0.5).train(training)
        return Program(lambda x: drop(x) + tg.rand(3) + tg.randn(3), lambda i: (tg.ones(3),))

    agree(make)


def test_random_numbers_continue(agree):
    """Eager draws between compiled ones, and seeding inside."""

    def make(tg):
        drawn = []

        def step(n):
            if n == 3:
                tg.manual_seed(7)
            return tg.randn(4), tg.randperm(5), tg.rand(n)

        return Program(step, lambda i: (i,), lambda: drawn, lambda i: drawn.append(tg.rand(2)))

    agree(make)
