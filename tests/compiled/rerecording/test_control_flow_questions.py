"""Control flow: what Python does with tensors' values."""

import numpy as np
import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Control flow and side effects")


def signed(tg, *shape):
    """Data whose sum changes its sign from call to call."""
    return lambda i: (ramp(tg, *shape) * (1.0 if i % 2 else -1.0) * (i + 1),)


@ask.rerecord()
def if_on_a_value(tg):
    """Does `if x.sum() > 0` go both ways?"""

    def step(x):
        if x.sum() > 0:  # here
            return x * 2
        return x - 1

    return Program(step, signed(tg, 3))


@ask.rerecord()
def while_on_a_value(tg):
    """Does `while norm > 1` go round as often as the numbers say?"""

    def step(x):
        while x.norm() > 1.0:  # here
            x = x * 0.5
        return x

    return Program(step, batches(tg, 3))


@ask.rerecord()
def conditional_expression_and_not(tg):
    """Do `a if t else b`, `not t`, `and` and `or` look at the value of this call?"""

    def step(x):
        positive = x.sum() > 0
        y = x if positive else -x  # here
        return y if not positive or x[0] > 3 else y * 3

    return Program(step, signed(tg, 3))


@ask.rerecord()
def branch_with_gradients(tg):
    """Is the branch that was taken the one that is differentiated?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        y = w * x
        loss = y.pow(2).sum() if y.sum() > 0 else y.abs().sum()  # here
        loss.backward()

    return Program(step, signed(tg, 3), lambda: w)


@ask.rerecord()
def early_stop(tg):
    """Does a loop that is left early on a loss leave the parameters as eager mode does?"""
    w = weight(tg, 3)

    def step(x):
        for _ in range(5):
            w.grad = None
            loss = (w * x).pow(2).sum()
            loss.backward()
            with tg.no_grad():
                w.sub_(0.01 * w.grad)
            if loss < 0.5:  # here
                break
        return loss

    return Program(step, lambda i: (batch(tg, 4 - i, 3) * 0.3,), lambda: w)


@ask.rerecord()
def skipped_update(tg):
    """Is an update that is skipped for a bad gradient (a NaN check) skipped?"""
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        (w * x).pow(2).sum().backward()
        if tg.isfinite(w.grad).all():  # here
            optimizer.step()

    return Program(step, lambda i: (batch(tg, i, 3) * (float("nan") if i in (1, 3) else 1.0),), lambda: w)


@ask.rerecord()
def float_of_a_tensor(tg):
    """Do float(t), int(t) and bool(t) give this call's value?"""
    return Program(lambda x: (float(x[0]), int(x.sum()), bool(x[1] > 0)), signed(tg, 3))  # here


@ask.rerecord()
def value_as_an_index(tg):
    """Does a Python list that is indexed by a tensor give this call's entry?"""
    words = ["a", "b", "c"]
    return Program(lambda x, k: (words[k], x * 2), lambda i: (ramp(tg, 3), tg.tensor(i % 3)))  # here


@ask.rerecord()
def value_that_shapes(tg):
    """Does a size that is read from a tensor shape this call's result?"""
    return Program(lambda n: tg.ones(int(n)) * n, lambda i: (tg.tensor(i + 1),))  # here


@ask.rerecord()
def value_in_a_range(tg):
    """Does `range(t)` go round t times?"""

    def step(x, n):
        for _ in range(n):  # here
            x = x * 2
        return x

    return Program(step, lambda i: (ramp(tg, 3), tg.tensor(i % 3)))


@ask.rerecord()
def numpy_of_a_result(tg):
    """Does .numpy() give this call's numbers, to numpy code that goes on?"""

    def step(x):
        middle = np.median((x * 2).numpy())  # here
        return x - float(middle)

    return Program(step, batches(tg, 5))


@ask.rerecord()
def numpy_and_back(tg):
    """Does a detour through numpy and from_numpy carry this call's numbers?"""

    def step(x):
        order = np.argsort(x.numpy())[::-1].copy()  # here
        return x[tg.from_numpy(order)] * 2

    return Program(step, signed(tg, 3))


@ask.rerecord()
def array_protocol(tg):
    """Do np.asarray(t) and numpy functions of a tensor see this call's numbers?"""
    return Program(lambda x: (np.asarray(x * 2), np.sum(np.array(x))), batches(tg, 3))  # here


@ask.rerecord()
def tolist(tg):
    """Does tolist() give this call's numbers?"""
    return Program(lambda x: (x * 2).tolist(), batches(tg, 2, 2))  # here


@ask.rerecord()
def numpy_argument(tg):
    """Is a numpy array that is passed read anew at each call?"""
    return Program(lambda x, a: x * tg.from_numpy(a), lambda i: (ramp(tg, 3), np.full(3, i, np.float32)))


@ask.rerecord()
def numpy_captured(tg):
    """Is a captured numpy array that changes in place read anew?"""
    table = np.ones(3, np.float32)

    def between(i):
        table[:] = i

    def step(x):
        return x + tg.from_numpy(table)  # here

    return Program(step, batches(tg, 3), tuple, between)


@ask.rerecord()
def boolean_mask(tg):
    """Does `x[x > 0]`, whose size depends on values, have this call's size?"""
    return Program(lambda x: x[x > 0] * 2, signed(tg, 5))  # here


@ask.rerecord()
def sorted_by_value(tg):
    """Are tensors sorted by this call's values?"""
    return Program(lambda x: sorted(x * 2), signed(tg, 3))  # here


@ask.rerecord()
def python_max_and_min(tg):
    """Do Python's max and min over tensors choose by this call's values?"""
    return Program(lambda x: (max(x[0], x[2]) * 1, min(x[0], x[1] * 2) * 1), signed(tg, 3))  # here


@ask.rerecord()
def equal_and_allclose(tg):
    """Do tg.equal and tg.allclose answer for this call's numbers?"""
    ones = tg.ones(3)

    def step(x):
        return (x * 2, tg.equal(x, ones), tg.allclose(x, ones))  # here

    return Program(step, lambda i: (tg.full((3,), float(i)),))


@ask.rerecord()
def tensor_in_a_list(tg):
    """Does `t in [...]`, which compares values, answer for this call?"""

    def step(x):
        return x * 2, x.sum() in [1.0, 6.0]  # here

    return Program(step, lambda i: (tg.full((3,), float(i)),))


@ask.rerecord()
def assertion_on_a_value(tg):
    """Does an assert on a value fail at the calls where it fails in eager mode?"""
    w = ramp(tg, 3)

    def step(x):
        w.add_(1.0)
        assert x.sum() > 0, "negative"  # here
        return w * x

    return Program(step, signed(tg, 3), lambda: w, raises=(AssertionError,))


@ask.rerecord()
def multinomial_walk(tg):
    """Does a random walk that follows drawn indices in Python go the eager way?"""
    names = ["left", "right", "stay"]

    def step(p):
        return [names[int(k)] for k in tg.multinomial(p, 4, replacement=True)]  # here

    return Program(step, lambda i: (tg.tensor([0.2, 0.3, 0.5]),))


@ask.replay()
def selected_without_a_branch(tg):
    """Does tg.where, which is what to write instead of `if`, keep the function replayed?"""
    return Program(lambda x: tg.where(x.sum() > 0, x * 2, x - 1), signed(tg, 3))


@ask.replay()
def structure_asked_only(tg):
    """Do len(), .shape, .dtype, `is None` and isinstance leave the function replayed?"""

    def step(x, y=None):
        assert isinstance(x, tg.Tensor) and x.dtype == tg.float32 and x.dim() == 2
        return x.sum() / len(x) if y is None and x.requires_grad is False else x

    return Program(step, batches(tg, 2, 3))


@pytest.mark.parametrize("question", ask.rows())
def test_control_flow(answer, question):
    answer(question)
