"""Memory: what a step writes, what is written between calls, and who shares it with whom."""

import numpy as np
import pytest
from side_by_side import Program, batch, ramp

PROGRAMS = []


def program(make):
    PROGRAMS.append(make)
    return make


@program
def parameter_updated_in_place(tg):
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        w.grad = None
        loss = ((w * x) ** 2).sum()
        loss.backward()
        with tg.no_grad():
            w.sub_(0.1 * w.grad)
        return loss

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, specialisations=1)


@program
def augmented_assignment_in_no_grad(tg):
    p = [ramp(tg, 3).requires_grad_()]

    def step(x):
        loss = ((p[0] * x) ** 2).sum()
        loss.backward()
        with tg.no_grad():
            for w in p:
                w -= 0.1 * w.grad
                w.grad.zero_()
        return loss

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: p)


@program
def data_updated_in_place(tg):
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        w.grad = None
        loss = ((w * x) ** 2).sum()
        loss.backward()
        w.data -= 0.1 * w.grad
        return loss

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w)


@program
def written_from_outside(tg):
    w = ramp(tg, 3)

    def between(i):
        w.add_(float(i))

    return Program(lambda x: x * w, lambda i: (batch(tg, i, 3),), lambda: w, between, specialisations=1)


@program
def data_rebound_from_outside(tg):
    w = ramp(tg, 3)

    def between(i):
        w.data = ramp(tg, 3) * i

    return Program(lambda x: x * w, lambda i: (batch(tg, i, 3),), lambda: w, between, specialisations=1)


@program
def closure_rebound(tg):
    w = ramp(tg, 3)

    def step(x):
        return x * w

    def between(i):
        nonlocal w
        w = ramp(tg, 3) + i

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, between)


@program
def transposed_in_place_from_outside(tg):
    w = ramp(tg, 3, 3)
    return Program(lambda x: x @ w, lambda i: (batch(tg, i, 2, 3),), lambda: w, lambda i: w.t_() if i % 2 else None)


@program
def view_of_captured_written(tg):
    w = ramp(tg, 4, 3)

    def step(x):
        w[1] = x
        w[2:].mul_(0.5)
        return w.sum()

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, specialisations=1)


@program
def captured_view_and_whole(tg):
    w = ramp(tg, 4, 3)
    row = w[1]

    def step(x):
        w.add_(1.0)
        return row * x

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: (w, row))


@program
def captured_transpose(tg):
    w = ramp(tg, 4, 3)
    wt = w.t()
    return Program(lambda x: x @ wt, lambda i: (batch(tg, i, 2, 3),), between=lambda i: w.add_(i), specialisations=1)


@program
def written_through_detach(tg):
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        w.detach().mul_(0.5)
        return (w * x).sum()

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w)


@program
def same_tensor_twice(tg):
    same = ramp(tg, 3).requires_grad_()
    other = ramp(tg, 3).requires_grad_()

    def step(a, b):
        a.grad = b.grad = None
        (a * b * b).sum().backward()

    return Program(step, lambda i: (same, other) if i % 2 else (same, same), lambda: (same, other))


@program
def slices_of_a_dataset(tg):
    data = ramp(tg, 64, 3)
    return Program(lambda x: (x * x).sum(0), lambda i: (data[i * 8 : i * 8 + 8],), specialisations=1)


@program
def overlapping_slices_of_a_dataset(tg):
    data = ramp(tg, 64)
    return Program(lambda x, y: x * y, lambda i: (data[i : i + 8], data[i + 1 : i + 9]), specialisations=1)


@program
def nested_arguments_move(tg):
    data = ramp(tg, 64)

    def step(whole, part):
        return whole[0:8] + part

    return Program(step, lambda i: (data, data[i * 8 : i * 8 + 8]))


@program
def strided_arguments(tg):
    data = ramp(tg, 6, 8)
    return Program(lambda x: x @ x.t(), lambda i: (data[:, i : i + 3],), specialisations=1)


@program
def argument_written(tg):
    def step(x):
        x.mul_(2.0)
        return x.sum()

    return Program(step, lambda i: (batch(tg, i, 3),), specialisations=1)


@program
def strided_or_not(tg):
    data = ramp(tg, 6, 6)
    return Program(lambda x: x.sum(0), lambda i: ((data[:, :3], data[:3].clone(), data.t()[:, :3])[i % 3],))


@program
def short_last_batch(tg):
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        w.grad = None
        loss = (w * x).mean()
        loss.backward()
        return loss

    return Program(step, lambda i: (batch(tg, i, 5 if i % 3 == 2 else 8, 3),), lambda: w, specialisations=2)


@program
def no_rows(tg):
    return Program(lambda x: (x.sum(), x * 2), lambda i: (batch(tg, i, i % 2, 3),), specialisations=2)


@program
def other_dtype(tg):
    dtypes = [tg.float32, tg.float64, tg.int64]
    return Program(lambda x: x * 2 + 1, lambda i: (batch(tg, i, 3).to(dtypes[i % 3]),), specialisations=3)


@program
def running_statistics(tg):
    model = tg.nn.BatchNorm1d(3)

    def step(x):
        return model(x)

    return Program(step, lambda i: (batch(tg, i, 4, 3),), lambda: dict(model.state_dict()))


@program
def argument_is_the_captured_parameter(tg):
    w = ramp(tg, 3)
    other = ramp(tg, 3) * 2

    def step(x):
        w.mul_(2.0)
        return x + 1

    return Program(step, lambda i: (w if i == 3 else other,), lambda: w)


@program
def two_functions_share_a_model(tg):
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def train(x):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    evaluate = tg.compile(lambda x: model(x).detach())
    data = ramp(tg, 4, 3)
    seen = []

    def between(i):
        seen.append(evaluate(data))
        if i == 3:
            train(data)  # eager

    return Program(train, lambda i: (batch(tg, i, 4, 3),), lambda: (list(model.parameters()), seen), between)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_state(agree, make):
    agree(make)


def test_parameters_stay_in_their_memory(tg):
    w = ramp(tg, 3).requires_grad_()
    memory = w.detach().numpy()
    optimizer = tg.optim.Adam([w], lr=0.1)

    @tg.compile
    def step(x):
        optimizer.zero_grad()
        (w * x).sum().backward()
        optimizer.step()

    before = memory.copy()
    for i in range(4):
        step(batch(tg, i, 3))
        assert np.shares_memory(w.detach().numpy(), memory) and not np.array_equal(memory, before)
        before = memory.copy()
