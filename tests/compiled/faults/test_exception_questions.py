"""Exceptions in the middle: the eager class, words and object, the eager state, and the next call works."""

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Exceptions")


class Own(Exception):
    """An exception of the user's program."""


@ask.either(calls=6)
def index_out_of_range(tg):
    """Does an index out of range raise before the first write, with what the eager prefix did?"""
    table = weight(tg, 5, 2)
    optimizer = tg.optim.SGD([table], lr=0.1)

    def step(index):
        optimizer.zero_grad()
        table[index].pow(2).sum().backward()
        optimizer.step()

    return Program(step, lambda i: (tg.tensor([0, (1, 2, 7, 3, -6, 4)[i]]),), lambda: table, raises=(IndexError,))


@ask.either(calls=6)
def index_out_of_range_after_a_write(tg):
    """Is a write that comes before the failing index done, as in eager mode?"""
    w, table = ramp(tg, 3), ramp(tg, 4)

    def step(x, k):
        w.add_(x)
        return table[k] * w

    return Program(step, lambda i: (ramp(tg, 3), tg.tensor([(0, 1, 9, 2, 9, 3)[i]])), lambda: w, raises=(IndexError,))


@ask.either(calls=6)
def embedding_and_cross_entropy(tg):
    """Do an embedding and a loss with a bad index raise the eager words?"""
    embedding = tg.nn.Embedding(5, 3)

    def step(index, target):
        embedding.zero_grad()
        loss = tg.nn.functional.cross_entropy(embedding(index), target)
        loss.backward()
        return loss

    def args(i):
        return tg.tensor([0, 9 if i == 2 else 1]), tg.tensor([0, 3 if i == 4 else 2])

    return Program(step, args, lambda: embedding.weight, raises=(IndexError,))


@ask.either(calls=6)
def raised_by_a_python_value(tg):
    """Does a raise that depends on a variable come at the calls where it should, with the writes before it?"""
    w, limit = ramp(tg, 3), {"stop": False}

    def between(i):
        limit["stop"] = i in (2, 4)

    def step(x):
        w.add_(x)
        if limit["stop"]:
            raise Own("stop")
        w.mul_(0.5)
        return w.sum()

    return Program(step, batches(tg, 3), lambda: w, between, raises=(Own,))


@ask.either()
def the_same_object(tg):
    """Is the exception object that the program raises the one that arrives?"""
    error, seen = Own("this one"), []

    def step(x, fail):
        if fail:
            raise error
        return x * 2

    return Program(
        step,
        lambda i: (ramp(tg, 3), i % 2 == 1),
        lambda: seen,
        raises=(Own,),
        after=lambda i, out: seen.append(out is error),
    )


@ask.rerecord()
def raised_by_a_value(tg):
    """Does a raise that depends on a tensor's value come at the right calls?"""
    w = ramp(tg, 3)

    def step(x):
        w.add_(x)
        if x.sum() > 5:  # here
            raise Own(f"too large: {x.sum():.1f}")
        return w * 2

    return Program(step, lambda i: (tg.full((3,), (1.0, 2.0, 1.0, 3.0, 0.5)[i]),), lambda: w, raises=(Own,))


@ask.either()
def index_error_caught(tg):
    """Does try/except around an index that is sometimes out of range go both ways?"""
    table = ramp(tg, 4)

    def step(k):
        try:
            return table[k] * 2  # here
        except IndexError:
            return tg.zeros(1)

    return Program(step, lambda i: (tg.tensor([(0, 9, 1, 9, 2)[i]]),))


@ask.either()
def shape_error_caught(tg):
    """Does try/except around a shape error, which shapes decide, go both ways?"""

    def step(a, b):
        try:
            return a @ b
        except RuntimeError:
            return a.sum()

    return Program(step, lambda i: (ramp(tg, 2, 3), ramp(tg, 3 + i % 2, 2) * i))


@ask.either()
def control_flow_by_exceptions(tg):
    """Do StopIteration, KeyError and exceptions of the user's own within the call do what they do?"""

    def step(x):
        try:
            {}["missing"]
        except KeyError:
            x = x + 1
        steps = iter([1, 2])
        try:
            while True:
                x = x * next(steps)
        except StopIteration as stop:
            assert stop.value is None
        else:
            raise AssertionError
        return x

    return Program(step, batches(tg, 3))


@ask.either()
def finally_writes(tg):
    """Is what `finally` writes written, when the body raises and when it does not?"""
    w, flag = ramp(tg, 3), {"fail": False}

    def between(i):
        flag["fail"] = i in (1, 3)

    def step(x):
        try:
            if flag["fail"]:
                raise Own("fail")
            return w * x
        finally:
            w.add_(1.0)

    return Program(step, batches(tg, 3), lambda: w, between, raises=(Own,))


@ask.either()
def raised_in_no_grad(tg):
    """Is the grad mode restored, when a raise leaves a no_grad block?"""
    w, flag = weight(tg, 3), {"fail": False}

    def between(i):
        flag["fail"] = i in (1, 3)

    def step(x):
        with tg.no_grad():
            w.add_(x)
            if flag["fail"]:
                raise Own("fail")
        return (w * x).sum().detach()

    return Program(step, batches(tg, 3), lambda: w, between, raises=(Own,))


@ask.either()
def raised_after_backward(tg):
    """Are the gradients of a step that fails before the update the eager ones?"""
    w, flag = weight(tg, 3), {"fail": False}
    optimizer = tg.optim.Adam([w], lr=0.1)

    def between(i):
        flag["fail"] = i in (1, 3)

    def step(x):
        optimizer.zero_grad()
        (w * x).pow(2).sum().backward()
        if flag["fail"]:
            raise Own("before the update")
        optimizer.step()

    return Program(step, batches(tg, 3), lambda: w, between, raises=(Own,))


@ask.either()
def raised_in_a_hook(tg):
    """Does an exception in a gradient hook come through backward(), with the eager gradients?"""
    a, b, flag = weight(tg, 3), weight(tg, 3), {"fail": False}

    def hook(g):
        if flag["fail"]:
            raise Own("in a hook")
        return g * 2

    def between(i):
        flag["fail"] = i in (2, 3)

    def step(x):
        a.grad = b.grad = None
        h = a * x
        h.register_hook(hook)
        (h * b).sum().backward()

    return Program(step, batches(tg, 3), lambda: (a, b), between, raises=(Own,))


@ask.either()
def raised_in_an_own_backward(tg):
    """Does an exception in a custom Function's backward come through?"""
    w, flag = weight(tg, 3), {"fail": False}

    class Fragile(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if flag["fail"]:
                raise Own("in backward")
            return g * 2

    def between(i):
        flag["fail"] = i in (2, 3)

    def step(x):
        w.grad = None
        Fragile.apply(w * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: w, between, raises=(Own,))


@ask.either()
def leaf_written_in_place(tg):
    """Does an in-place write to a leaf that requires grad raise at each call, and change nothing?"""
    w = weight(tg, 3)

    def step(x):
        w.add_(x)
        return w * 2

    return Program(step, batches(tg, 3), lambda: w, raises=(RuntimeError,))


@ask.either()
def backward_without_grad(tg):
    """Does backward() of what requires no gradient raise the eager error?"""
    return Program(lambda x: (x * 2).sum().backward(), batches(tg, 3), raises=(RuntimeError,))


@ask.either()
def wrong_dtype(tg):
    """Does a wrong dtype (an int matrix product with floats) raise the eager class each time?"""
    w = ramp(tg, 3, 2)
    return Program(
        lambda x: x @ w,
        lambda i: (ramp(tg, 2, 3) if i % 2 == 0 else tg.ones(2, 3).long(),),
        raises=(RuntimeError,),
    )


@ask.either()
def missing_argument(tg):
    """Does a call with a missing or unknown argument raise TypeError, and the next call work?"""

    def step(x, y):
        return x * y

    return Program(
        step,
        lambda i: (ramp(tg, 3), ramp(tg, 3) * i)[: 1 if i in (1, 3) else 2],
        raises=(TypeError,),
    )


@ask.either()
def missing_attribute(tg):
    """Does an attribute that is missing for one call raise AttributeError, and the next call work?"""

    class Config:
        pass

    config = Config()
    config.scale = 2.0

    def between(i):
        if i == 2:
            del config.scale
        if i == 3:
            config.scale = 5.0

    return Program(lambda x: x * config.scale, batches(tg, 3), tuple, between, raises=(AttributeError,))


@ask.either()
def missing_variable(tg):
    """Does a variable that is deleted for one call raise NameError, and the next call work?"""
    space = {"scale": 2.0}
    exec("def step(x):\n    return x * scale", space)

    def between(i):
        if i == 2:
            del space["scale"]
        if i == 3:
            space["scale"] = 5.0

    return Program(space["step"], batches(tg, 3), tuple, between, raises=(NameError,))


@ask.either()
def keyboard_interrupt_in_the_step(tg):
    """Does a KeyboardInterrupt that is raised inside leave the eager state?"""
    w, flag = ramp(tg, 3), {"stop": False}

    def between(i):
        flag["stop"] = i == 2

    def step(x):
        w.add_(x)
        if flag["stop"]:
            raise KeyboardInterrupt
        w.mul_(0.5)

    return Program(step, batches(tg, 3), lambda: w, between, raises=(KeyboardInterrupt,))


@ask.either()
def nested_functions_that_raise(tg, compiled):
    """Does an exception from a compiled function within a compiled function come through both?"""
    flag = {"fail": False}

    def inner(x):
        if flag["fail"]:
            raise Own("inner")
        return x * 2

    def between(i):
        flag["fail"] = i == 3

    inside = compiled(inner)
    return Program(lambda x: inside(x) + 1, batches(tg, 3), tuple, between, raises=(Own,))


@ask.either()
def anomaly_of_numbers(tg):
    """Are nan and inf that arise (log of 0, 0/0) values, without a warning or an error?"""

    def step(x):
        return (x * 0).log(), (x * 0) / (x * 0), x / 0, (x * 1e38) * 1e38

    return Program(step, lambda i: (batch(tg, i, 3),))


@pytest.mark.parametrize("question", ask.rows())
def test_exceptions(answer, question):
    answer(question)
