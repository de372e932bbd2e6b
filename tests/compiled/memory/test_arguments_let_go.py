"""Tensors that a compiled function was given, and what a deferred program computed: the program alone keeps them."""

import gc
import weakref

import pytest

import tracegrad as tg
import tracegrad.nn.functional as F


def model():
    tg.manual_seed(0)
    return tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 3))


def of_numbers():
    return tg.compile(lambda x: (x * 2).sum())


def of_a_model():
    return tg.compile(model())


def of_a_step():
    net = model()
    optimizer = tg.optim.SGD(net.parameters(), lr=0.1)

    @tg.compile
    def step(x):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), x)
        loss.backward()
        optimizer.step()
        return loss

    return step


def that_looks_at_a_number():
    net = model()

    @tg.compile
    def step(x):
        y = net(x)
        return y if y.sum().item() < 1e9 else x

    return step


def of_views_in_a_list():
    step = tg.compile(lambda rows: rows[0] + rows[1])
    return lambda x: step([x[0], x[1:][0]])


def of_an_input_that_requires_grad():
    step = tg.compile(model())

    def call(x):
        y = step(x.requires_grad_())
        y.sum().backward()
        return x.grad

    return call


def of_a_result_that_requires_grad():
    net, loss_of = model(), tg.compile(lambda y: y.square().mean())
    return lambda x: loss_of(net(x)).backward()


def with_a_derivative_of_it():
    step = tg.compile(lambda x: tg.autograd.grad((x**3).sum(), x)[0])
    return lambda x: step(x.requires_grad_())


def given_twice():
    step = tg.compile(lambda x, y: (x * y).sum())
    return lambda x: step(x, x)


def of_a_keyword():
    step = tg.compile(lambda *, x: x + 1)
    return lambda x: step(x=x)


MAKERS = [
    of_numbers, of_a_model, of_a_step, that_looks_at_a_number, of_views_in_a_list, of_an_input_that_requires_grad,
    of_a_result_that_requires_grad, with_a_derivative_of_it, given_twice, of_a_keyword,
]  # fmt: skip


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("make", MAKERS)
def test_arguments_of_compiled_functions(make):
    call, seen = make(), []
    for size in (4, 4, 4, 5, 5, 6):
        x = tg.rand(size, 3)
        seen.append(weakref.ref(x))
        call(x)
        del x
    gc.collect()
    assert [of() is None for of in seen] == [True] * len(seen)


@pytest.mark.parametrize("size_of", [lambda i: 8, lambda i: 4 + i % 3, lambda i: 4 + i])
def test_arguments_and_results_in_deferred_programs(size_of):
    net = model()
    optimizer = tg.optim.SGD(net.parameters(), lr=0.1)
    seen = []
    block = tg.deferred()
    with block:
        for i in range(12):
            x = tg.rand(size_of(i), 3)
            out = net(x)
            loss = F.mse_loss(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += map(weakref.ref, (x, out, loss))
        del x, out, loss
        gc.collect()
        assert [of() is None for of in seen] == [True] * len(seen)
    assert block.segments.start.next  # they were noted
