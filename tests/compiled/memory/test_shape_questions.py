"""Shapes: short last batches, other lengths and dtypes, no rows at all."""

import pytest
from compiled.table import Section
from side_by_side import Program, batch, ramp, weight

ask = Section("Shapes")
SIZES = [8, 8, 5, 8, 3, 8, 1, 2, 5]  # each size is recorded once, and served by a program that other sizes share
FIVE_RECORDED = 4  # calls of C among the nine


def over_sizes(tg, step, state, sizes=SIZES, columns=3):
    return Program(step, lambda i: (batch(tg, i % 3, sizes[i % len(sizes)], columns),), state)


@ask.replay(specialisations=2, calls=9, c_calls=FIVE_RECORDED)
def mean_loss_of_a_short_batch(tg):
    """Is the mean loss of a short batch its mean, at one more specialisation for all sizes?"""
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)

    def step(x):
        optimizer.zero_grad()
        loss = (model(x) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return over_sizes(tg, step, lambda: list(model.parameters()))


@ask.either(calls=7)
def batch_norm_of_a_short_batch(tg):
    """Are the statistics of BatchNorm those of the short batch, the unbiased variance included?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 2), tg.nn.BatchNorm1d(2), tg.nn.ReLU(), tg.nn.Linear(2, 1))

    def step(x):
        model.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss

    return over_sizes(tg, step, lambda: dict(model.state_dict()), SIZES[:6])


@ask.either(calls=8)
def cross_entropy_of_a_short_batch(tg):
    """Is a classifier's loss right for each size, with its targets?"""
    model = tg.nn.Linear(3, 4)

    def step(x, y):
        model.zero_grad()
        loss = tg.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss, (model(x).argmax(1) == y).sum()

    def args(i):
        n = SIZES[i]
        return batch(tg, i % 3, n, 3), (tg.arange(n) + i) % 4

    return Program(step, args, lambda: list(model.parameters()))


@ask.either(calls=8)
def dropout_of_a_short_batch(tg):
    """Does a short batch draw as many random numbers as in eager mode?"""
    drop = tg.nn.Dropout(0.5)
    return over_sizes(tg, lambda x: drop(x), tuple)


@ask.replay(specialisations=2, calls=9, c_calls=FIVE_RECORDED)
def size_in_python_arithmetic(tg):
    """Is `len(x)` or `x.shape[0]` that the step computes with the size of this batch?"""
    return over_sizes(tg, lambda x: (x.sum() / len(x), x.sum(0) / x.shape[0] ** 0.5, x.numel() / 2), tuple)


@ask.either(calls=8)
def size_that_decides(tg):
    """Does `if len(x) < 4` go both ways?"""
    return over_sizes(tg, lambda x: x.sum() if len(x) < 4 else x.mean(), tuple)


@ask.either(calls=6)
def size_that_is_returned(tg):
    """Is a shape that is returned the shape of this call?"""
    return over_sizes(tg, lambda x: (x.shape, x.size(0), x.numel(), list(x.shape), x * 2), tuple)


@ask.either(calls=8)
def loop_over_rows(tg):
    """Does a loop over the rows go round once for each?"""

    def step(x):
        total = tg.zeros(3)
        for row in x:
            total = total * 0.5 + row
        return total

    return over_sizes(tg, step, tuple)


@ask.either(calls=6)
def rows_by_python_index(tg):
    """Are `x[-1]`, `x[len(x) // 2]` and `x[1:]` taken from this batch?"""
    return over_sizes(tg, lambda x: (x[-1], x[len(x) // 2], x[1:], x[: len(x) - 1]), tuple, [4, 4, 6, 3, 2, 5])


@ask.either(calls=6)
def batch_of_one(tg):
    """Is a batch of one broadcast where eager mode broadcasts it?"""
    table = ramp(tg, 4, 3)
    return over_sizes(tg, lambda x: x + table, tuple, [4, 4, 1, 4, 1, 4])


@ask.either(calls=6)
def squeezed_batch_of_one(tg):
    """Does squeeze() drop the batch axis of a batch of one only?"""
    return over_sizes(tg, lambda x: (x.squeeze() * 2, x.squeeze().dim()), tuple, [4, 4, 1, 4, 1, 4])


@ask.either(calls=6)
def no_rows(tg):
    """Are results of a batch without rows the eager ones (sum 0, mean nan)?"""
    return over_sizes(tg, lambda x: (x.sum(), x.mean(), x * 2, x.sum(0)), tuple, [4, 0, 4, 0, 2, 0])


@ask.either(calls=6)
def no_rows_in_training(tg):
    """Does a batch without rows give the eager gradients?"""
    model = tg.nn.Linear(3, 2)

    def step(x):
        model.zero_grad()
        model(x).sum().backward()

    return over_sizes(tg, step, lambda: list(model.parameters()), [4, 0, 4, 0, 2, 0])


@ask.replay(specialisations=3, calls=6)
def dtypes_by_turns(tg):
    """Are other dtypes other programs?"""
    dtypes = [tg.float32, tg.float64, tg.int64]
    return Program(lambda x: x * 2 + 1, lambda i: (batch(tg, i, 3).to(dtypes[i % 3]),))


@ask.replay(specialisations=2, calls=6)
def numbers_of_axes(tg):
    """Is another number of axes another program?"""
    return Program(lambda x: (x.sum(-1), x * 2), lambda i: (batch(tg, i, *((3,) if i % 2 else (2, 3))),))


@ask.either(calls=6)
def two_sizes_that_agree_by_chance(tg):
    """Are two sizes that were equal at the recording told apart when they differ?"""

    def args(i):
        n, m = [(4, 4), (4, 4), (4, 2), (3, 3), (2, 5), (4, 4)][i]
        return batch(tg, i, n, 3), batch(tg, i, m, 3)

    return Program(lambda a, b: (a @ b.t(), a.sum(0) + b.sum(0)), args)


@ask.either(calls=6)
def size_that_equals_a_constant_by_chance(tg):
    """Is a batch size that equals a layer's size at the recording not mistaken for it?"""
    w = weight(tg, 3, 3)

    def step(x):
        return (x @ w).reshape(len(x), 3).t().detach(), x.reshape(-1, 3).mean(0)

    return over_sizes(tg, step, tuple, [3, 3, 5, 3, 1, 4])


@ask.either(calls=6)
def shapes_made_of_sizes(tg):
    """Are zeros, ones, arange and rand of the batch's size as long as this batch?"""

    def step(x):
        n = x.shape[0]
        noise = tg.rand(n, 1) + tg.zeros(n, 3) + tg.arange(n).unsqueeze(1)
        return x + noise, tg.randperm(n), tg.eye(n).sum()

    return over_sizes(tg, step, tuple, [4, 4, 6, 4, 3, 5])


@ask.either(calls=6)
def chunks_of_a_batch(tg):
    """Are chunk and split of another size the eager ones?"""

    def step(x):
        return [part.sum(0) for part in x.chunk(2)], [part.mean() for part in x.split(2)]

    return over_sizes(tg, step, tuple, [4, 4, 6, 5, 3, 4])


@ask.either(calls=8)
def sequences_of_changing_length(tg):
    """Does a recurrent net over sequences of changing length train?"""
    cell, head = tg.nn.Linear(5, 2), tg.nn.Linear(2, 1)

    def step(x):
        cell.zero_grad()
        h = tg.zeros(2)
        for frame in x:
            h = tg.tanh(cell(tg.cat([frame, h])))
        loss = head(h).pow(2).sum()
        loss.backward()
        return loss

    return over_sizes(tg, step, lambda: list(cell.parameters()), [2, 2, 3, 2, 4, 3, 2, 1])


@ask.either(calls=6)
def wrong_shape_then_right(tg):
    """Does a wrong shape raise the eager error at each call, and the next call work?"""
    model = tg.nn.Linear(3, 2)

    def step(x):
        return model(x).detach()

    def args(i):
        return (batch(tg, i, 4, 5 if i in (2, 4) else 3),)

    return Program(step, args, raises=(RuntimeError,))


@pytest.mark.parametrize("question", ask.rows())
def test_shapes(answer, question):
    answer(question)
