"""One program for all sizes of a batch: every size gives the eager result, and gcc is run twice at most."""

import numpy as np
import pytest
from compiled.conftest import Program

#: In this order the first call has a usual size, the second is larger, then sizes come back and new ones come between.
SIZES = (32, 33, 7, 100, 2, 64, 32, 1, 100, 33, 7, 64, 2, 1)


def numbers(tg, i, *shape, seed=0):
    """Different numbers for each call, around zero."""
    values = np.random.RandomState(100 * seed + i).standard_normal(shape)
    return tg.tensor(values.astype(np.float32))


def labels(tg, i, n, classes):
    return tg.tensor(np.random.RandomState(i).randint(0, classes, n))


def trained(tg, model, loss, make_args, optimizer=None):
    """A training step of `model`, whose state is all that it has."""
    optimizer = optimizer or tg.optim.Adam(model.parameters(), lr=0.01)

    def step(*args):
        optimizer.zero_grad()
        value = loss(model, *args)
        value.backward()
        optimizer.step()
        return value

    def state():
        return [*model.parameters(), *model.buffers()]

    return Program(step, make_args, state)


def regression(tg, *layers):
    """Layers from six features to three targets, with a mean loss."""
    model = tg.nn.Sequential(*layers)
    return trained(
        tg,
        model,
        lambda model, x, y: ((model(x) - y) ** 2).mean(),
        lambda i: (numbers(tg, i, SIZES[i], 6), numbers(tg, i, SIZES[i], 3, seed=1)),
    )


def linear(tg):
    return regression(tg, tg.nn.Linear(6, 3))


def mlp(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 17), nn.ReLU(), nn.Linear(17, 3))


def wide_mlp(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 130), nn.ReLU(), nn.Linear(130, 260), nn.ReLU(), nn.Linear(260, 3))


def batch_norm(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Linear(10, 3))


def layer_norm(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 10), nn.LayerNorm(10), nn.GELU(), nn.Linear(10, 3))


def dropout(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 10), nn.Dropout(0.3), nn.ReLU(), nn.Linear(10, 3))


def classifier(tg):
    nn = tg.nn
    return trained(
        tg,
        nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 5)),
        lambda model, x, y: nn.functional.cross_entropy(model(x), y),
        lambda i: (numbers(tg, i, SIZES[i], 6), labels(tg, i, SIZES[i], 5)),
    )


def gathered_loss(tg):
    def loss(model, x, y):
        scores = tg.log_softmax(model(x), 1)
        return -scores.gather(1, y.unsqueeze(1)).mean()

    return trained(
        tg,
        tg.nn.Linear(6, 5),
        loss,
        lambda i: (numbers(tg, i, SIZES[i], 6), labels(tg, i, SIZES[i], 5)),
    )


def embedding(tg):
    nn = tg.nn
    return trained(
        tg,
        nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 3)),
        lambda model, x, y: (model(x) * y).mean(),
        lambda i: (labels(tg, i, SIZES[i], 11), numbers(tg, i, SIZES[i], 3)),
    )


def forward(tg, function, *shapes):
    """``function(*inputs)``, and the gradients of all inputs; each shape is a function of the size."""

    def step(*inputs):
        leaves = [x.detach().requires_grad_() for x in inputs]
        out = function(*leaves)
        return (out.detach(), *tg.autograd.grad((out * out).sum(), leaves))

    def args(i):
        return tuple(numbers(tg, i, *shape(SIZES[i]), seed=k) for k, shape in enumerate(shapes))

    return Program(step, args)


def of(function, *shapes):
    return lambda tg: forward(tg, lambda *xs: function(tg, *xs), *shapes)


def rows(n):
    return (n, 6)


PARTS = {
    "elementwise": of(lambda tg, x: (x * 2).sin() + 1, rows),
    "mean_of_all": of(lambda tg, x: x.mean(), rows),
    "mean_of_columns": of(lambda tg, x: x.mean(0), rows),
    "sum_of_rows": of(lambda tg, x: x.sum(1), rows),
    "largest_of_columns": of(lambda tg, x: x.amax(0), rows),
    "largest": of(lambda tg, x: x.max(), rows),
    "variance_of_columns": of(lambda tg, x: x.var(0, unbiased=False), rows),
    "softmax_of_rows": of(lambda tg, x: x.softmax(1), rows),
    "softmax_of_columns": of(lambda tg, x: x.softmax(0), rows),
    "logsumexp": of(lambda tg, x: x.logsumexp(1), rows),
    "transposed": of(lambda tg, x: x.t() * 2, rows),
    "gram_of_columns": of(lambda tg, x: x.t() @ x, rows),
    "gram_of_rows": of(lambda tg, x: x @ x.t(), rows),
    "attention_over_rows": of(lambda tg, x: (x @ x.t()).softmax(1) @ x, rows),
    "vector_times_rows": of(lambda tg, x, v: v @ x, rows, lambda n: (n,)),
    "rows_times_vector": of(lambda tg, x: x @ x.sum(0), rows),
    "few_columns": of(lambda tg, x, w: x @ w, rows, lambda n: (6, 2)),
    "one_column": of(lambda tg, x, w: x @ w, rows, lambda n: (6, 1)),
    "long_products": of(lambda tg, x, w: x @ w, lambda n: (n, 1100), lambda n: (1100, 20)),
    "batched_products": of(lambda tg, x, w: x @ w, lambda n: (n, 4, 6), lambda n: (n, 6, 5)),
    "flattened": of(lambda tg, x: x.reshape(-1) * 2, lambda n: (n, 2, 3)),
    "images_as_rows": of(lambda tg, x, w: x.flatten(1) @ w, lambda n: (n, 2, 3), lambda n: (6, 4)),
    "merged_with_time": of(lambda tg, x, w: x.reshape(-1, 6) @ w, lambda n: (n, 3, 6), lambda n: (6, 4)),
    "joined_along_the_batch": of(lambda tg, x, y: tg.cat([x, y, x * 2]), rows, lambda n: (n, 6)),
    "joined_with_a_constant": of(lambda tg, x, y: tg.cat([x, y]), rows, lambda n: (3, 6)),
    "stacked": of(lambda tg, x: tg.stack([x, x * 2], 1), rows),
    "without_the_first": of(lambda tg, x: x[:, 1:] * x[:, :-1], rows),
    "row_parts": of(lambda tg, x: x[:1] * 2, rows),
    "all_but_one_row": of(lambda tg, x: x[1:].sum(0), lambda n: (n + 1, 6)),
    "flipped": of(lambda tg, x: x.flip(0) * x, rows),
    "running_sums": of(lambda tg, x: x.cumsum(0), rows),
    "rows_of_pairs": of(lambda tg, x: x.unsqueeze(0) - x.unsqueeze(1), rows),
    "two_lengths": of(lambda tg, x, y: x.mean() * y.mean(), rows, lambda n: (2 * n, 3)),
    "einsum": of(lambda tg, x, y: tg.einsum("bi,bj->ij", x, y), rows, lambda n: (n, 4)),
    "expanded": of(lambda tg, x, y: x.expand(y.shape[0], 6) * y, lambda n: (1, 6), rows),
    "chosen": of(lambda tg, x: tg.where(x > 0, x, x.exp()), rows),
    "norm": of(lambda tg, x: x / (x.norm() + 1), rows),
    "made_inside": of(lambda tg, x: x * tg.arange(x.shape[0]).unsqueeze(1) + tg.ones(x.shape[0], 6), rows),
}


def second_order(tg):
    weight = numbers(tg, 0, 6, 4).requires_grad_()

    def step(x):
        out = (x @ weight).tanh().mean()
        (slope,) = tg.autograd.grad(out, weight, create_graph=True)
        (again,) = tg.autograd.grad((slope * slope).sum() + out, weight)
        return out.detach(), again

    return Program(step, lambda i: (numbers(tg, i, SIZES[i], 6),))


def normalised_for_use(tg):
    layer = tg.nn.BatchNorm1d(6).eval()
    return Program(lambda x: layer(x).detach().mean(0), lambda i: (numbers(tg, i, SIZES[i], 6),))


def random_noise(tg):
    return Program(lambda x: x + tg.rand(x.shape[0], 6), lambda i: (numbers(tg, i, SIZES[i], 6),))


WHOLE = [
    linear,
    mlp,
    wide_mlp,
    layer_norm,
    dropout,
    classifier,
    gathered_loss,
    embedding,
    second_order,
    normalised_for_use,
    random_noise,
]


@pytest.mark.parametrize("make", WHOLE, ids=lambda make: make.__name__)
def test_all_sizes_share_one_program(agree, make):
    step = agree(make, calls=len(SIZES))
    assert step.programs.built == 2


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_programs_share_one_for_all_sizes(agree, name):
    step = agree(PARTS[name], calls=len(SIZES))
    assert step.programs.built == 2
