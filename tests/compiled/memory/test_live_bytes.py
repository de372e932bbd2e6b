"""What a recording keeps alive: not more than eager mode does with the same ops, and nothing when it is done.

Counted is the memory that ops make: each array from where it is made to where it is freed, with the collector of
garbage switched off.
"""

import gc

import pytest
from live_bytes import LiveBytes

from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import interpreted
from tracegrad.tape.tape import Tape
from tracegrad.tensors.tensor import make as make_tensor

ROWS = 128
LARGE = ROWS * ROWS * 4  # bytes of one tensor of these programs
SLACK = LARGE // 16  # numbers and rows: what a recording makes of the program's own literals

PROGRAMS = []


def program(build):
    """`build(tg, nn)` gives a function of one tensor and the leaves that it differentiates by."""
    PROGRAMS.append(build)
    return build


def square(tg):
    return tg.randn(ROWS, ROWS)


@program
def chain(tg, nn):
    """gelu, layer_norm and softmax: composites of many ops."""
    F = nn.functional
    a, b = tg.ones(ROWS, requires_grad=True), tg.zeros(ROWS, requires_grad=True)

    def step(x):
        s = F.softmax(F.layer_norm(F.gelu(x * a + b), (ROWS,)), dim=-1)
        (s * s).sum().backward()

    return step, [a, b]


@program
def deep(tg, nn):
    model = nn.Sequential(*(layer for _ in range(6) for layer in (nn.Linear(ROWS, ROWS), nn.Tanh())))

    def step(x):
        model(x).square().mean().backward()

    return step, list(model.parameters())


@program
def residual(tg, nn):
    layers = [nn.Sequential(nn.LayerNorm(ROWS), nn.Linear(ROWS, ROWS), nn.GELU()) for _ in range(4)]

    def step(x):
        for layer in layers:
            x = x + layer(x)
        loss = x.mean()
        loss.backward()
        return loss

    return step, [p for layer in layers for p in layer.parameters()]


@program
def attention(tg, nn):
    w = [square(tg).mul_(0.1).requires_grad_() for _ in range(4)]

    def step(x):
        q, k, v = x @ w[0], x @ w[1], x @ w[2]
        scores = (q @ k.transpose(0, 1)) / ROWS**0.5
        return ((tg.softmax(scores, dim=-1) @ v) @ w[3]).pow(2).mean().backward()

    return step, w


@program
def convolution(tg, nn):
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 1, 3))

    def step(x):
        model(x.reshape(1, 1, ROWS, ROWS)).sum().backward()

    return step, list(model.parameters())


@program
def without_gradients(tg, nn):
    w = square(tg)

    def step(x):
        with tg.no_grad():
            for _ in range(8):
                x = (x @ w).relu() + 1
            return x.sum()

    return step, []


@program
def in_place(tg, nn):
    def step(x):
        total = tg.zeros(ROWS, ROWS)
        for i in range(8):
            total += x * i
            total[i] = 0
            total.mul_(0.5)
        return total.detach().sum()

    return step, []


@program
def views(tg, nn):
    w = square(tg).requires_grad_()

    def step(x):
        for _ in range(4):
            x = tg.cat([(x * w)[: ROWS // 2], (x + w)[ROWS // 2 :]]).t().reshape(ROWS, ROWS)
        x.chunk(2)[0].sum().backward()

    return step, [w]


@program
def second_derivatives(tg, nn):
    w = square(tg).requires_grad_()

    def step(x):
        y = tg.tanh(x * w)
        (g,) = tg.autograd.grad(y.sum(), w, create_graph=True)
        (g * g).sum().backward()

    return step, [w]


@program
def recurrent(tg, nn):
    cell, readout = nn.RNNCell(ROWS, ROWS), nn.Linear(ROWS, 1)

    def step(x):
        h = tg.zeros(ROWS, ROWS)
        for _ in range(5):
            h = cell(x, h)
        readout(h).mean().backward()

    return step, [*cell.parameters(), *readout.parameters()]


@pytest.fixture(autouse=True)
def no_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("build", PROGRAMS, ids=lambda build: build.__name__)
def test_a_recording_keeps_no_more_than_eager_mode(tg, monkeypatch, build):
    step, leaves = build(tg, tg.nn)
    x = square(tg)
    eager = LiveBytes(monkeypatch)
    interpreted(Tape(Evaluator(), make_tensor), step, x)
    kept = eager.now  # the gradients
    for leaf in leaves:
        leaf.grad = None
    assert eager.now <= SLACK
    monkeypatch.undo()
    recorded = LiveBytes(monkeypatch)
    compiled = tg.compile(step)
    compiled.programs.later = True  # the C is of no interest
    compiled(x)
    assert eager.peak >= 2 * LARGE, "the program makes large tensors"
    assert recorded.peak <= eager.peak + SLACK
    assert recorded.now <= kept + SLACK, "when it is done, nothing is left but gradients"
    assert compiled.specialisations, compiled.reasons
