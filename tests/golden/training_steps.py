"""The programs whose levels are kept in this folder. Their lines are named there: a line added here shows in all files.

Each function makes a training step and the arguments of its calls.
"""

import tracegrad as tg
from tracegrad import nn, optim
from tracegrad.nn import functional as F


def bce_classifier():
    """The linear classifier of the autograd tutorials."""
    x, y = tg.ones(5), tg.zeros(3)
    w = tg.randn(5, 3, requires_grad=True)
    b = tg.randn(3, requires_grad=True)
    optimizer = optim.SGD([w, b], lr=0.1)

    def train_step(x, y):
        optimizer.zero_grad()
        z = tg.matmul(x, w) + b
        loss = F.binary_cross_entropy_with_logits(z, y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step, (x, y)


def digits_mlp():
    """Two layers, ReLU, cross entropy and Adam."""
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)

    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step, (tg.randn(8, 12), tg.randint(0, 4, (8,)))


def hinge_mlp():
    """Three layers, a hinge loss with a penalty on every parameter, and gradient descent: the benchmarks' T1."""
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def train_step(x, y):
        optimizer.zero_grad()
        score = model(x).squeeze(1)
        loss = F.relu(1 - y * score).mean() + 1e-4 * sum((p * p).sum() for p in model.parameters())
        loss.backward()
        optimizer.step()
        return loss

    return train_step, (tg.randn(32, 2), tg.randn(32).sign())


def dropout_layer_norm():
    """Random numbers within a step: forward and backward, no optimizer."""
    model = nn.Sequential(nn.LayerNorm(8), nn.Dropout(0.25), nn.Linear(8, 3))

    def train_step(x):
        model.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    return train_step, (tg.randn(4, 8),)


PROGRAMS = {f.__name__: f for f in (bce_classifier, digits_mlp, hinge_mlp, dropout_layer_norm)}


def regression_of_size():
    """A linear layer with a mean loss and gradient descent: the step, and its arguments for a size."""
    weight, bias = tg.randn(3, 20).requires_grad_(), tg.zeros(20).requires_grad_()
    optimizer = tg.optim.SGD([weight, bias], lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = ((x @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step, lambda size: (tg.randn(size, 3), tg.randn(size, 20))
