"""What differs from call to call makes no programs: numbers at several places, numbers that are stored, sizes of what
is done between two looks at numbers."""

import functools
import itertools

import numpy as np
import pytest

from tracegrad.runtime import provide


@pytest.fixture
def made(monkeypatch):
    """A list that grows by one with each program."""
    programs, load = [], provide.load
    monkeypatch.setattr(provide, "load", lambda *args, **kwargs: (programs.append(1), load(*args, **kwargs))[1])
    return programs


# ------------------------------------------------------------------------------- one number at several places

#: Places at which a step meets a number: where and how it is used.
USES = {
    "times": lambda tg, x, by: x * by,
    "divided": lambda tg, x, by: x / by,
    "in place": lambda tg, x, by: x.add_(by),
    "bound": lambda tg, x, by: x.clamp(max=by),
    "stored": lambda tg, x, by: x.index_fill(0, tg.tensor([1]), by),
    "element": lambda tg, x, by: stored(x, by),
    "power": lambda tg, x, by: x.abs() ** (by / 2),
}


def stored(x, by):
    x[2] = by
    return x


def scaled(tg, uses, wrap, made):
    """What a step does that uses one number everywhere, which changes every six calls; and how many programs came up
    when it had changed three times."""
    weight, state, found, early = tg.ones(3, requires_grad=True), {"by": 4.0}, [], 0

    def step(x):
        y = x * 1.0
        for use in uses:
            y = USES[use](tg, y, state["by"])
        loss = (y * weight).sum() * state["by"]
        weight.grad = None
        loss.backward()
        if loss.item() == 0.5:
            state["by"] = 1.0
        return loss.item(), weight.grad.tolist()

    step = wrap(step)
    for i in range(36):
        found.append(step(tg.tensor([0.5, 1.5, 2.5]) + i / 36))
        if i % 6 == 5:
            state["by"] *= 1.25
        if i == 20:
            early = len(made)
    return found, len(made) - early


PAIRS = list(itertools.combinations(USES, 3))


@pytest.mark.long(fast=23, by_size=True)
@pytest.mark.parametrize("uses", PAIRS, ids=" ".join)
def test_a_number_that_goes_on_changing_makes_no_programs(tg, made, uses):
    expected, _ = scaled(tg, uses, lambda step: step, made)
    given, late = scaled(tg, uses, tg.compile, made)
    for one, other in zip(given, expected, strict=True):
        assert one[0] == pytest.approx(other[0], rel=1e-4)
        assert one[1] == pytest.approx(other[1], rel=1e-4)
    # Half of the number is another one, which becomes data by itself: when it changes for the second time.
    assert made
    assert late == 0


# ----------------------------------------------------------------------------------- numbers that are stored

STORES = {
    "row": lambda memory, at, value: memory.__setitem__(at, value),
    "element": lambda memory, at, value: memory.__setitem__((at, at % 3), value),
    "fill_": lambda memory, at, value: memory[at].fill_(value),
    "integers": lambda memory, at, value: memory.__setitem__(at, int(value * 4)),
}


@pytest.mark.parametrize("store", STORES)
def test_numbers_that_are_stored_make_no_programs(tg, made, store):
    def run(wrap):
        memory, weight, found = tg.zeros(8, 3), tg.ones(3, requires_grad=True), []

        def step(at, value):
            STORES[store](memory, at, value)
            loss = (memory @ weight).sum()
            loss.backward()
            found.append(loss.item())
            return weight.grad.tolist()

        step = wrap(step)
        for i in range(40):
            found.append(step(i % 8, (i * 7 % 11) / 4))
        return found, memory.tolist()

    expected = run(lambda step: step)
    del made[:]
    given = run(tg.compile)
    for one, other in zip(given[0], expected[0], strict=True):
        assert one == pytest.approx(other, rel=1e-5)
    assert given[1] == expected[1]
    assert len(made) <= 4


# ---------------------------------------------------------------------------------- a few ops between two looks


def means(tg, model, x, y, kept, i):
    for c in range(3):
        rows = x[y == c]
        if len(rows):
            kept[c] = 0.9 * kept[c] + 0.1 * rows.mean(dim=0)


def checks(tg, model, x, y, kept, i):
    for p in model.parameters():
        if not bool(tg.isfinite(p).all()) or p.abs().max().item() > 50:
            kept[0] += 1


def long_at_last(tg, model, x, y, kept, i):
    """What has been a few ops at first goes on for longer in later calls, and takes part in the gradients."""
    for c in range(4):
        if kept[c % 3].sum().item() < 1e6:
            row = x[c] * 0.5
            for _ in range(30 if i > 12 else 2):
                row = row * 0.9 + 0.01
            kept[c % 3] += row
    if i > 12:
        (model[0].weight * row).sum().backward()


def mixed(tg, model, x, y, kept, i):
    """Ops behind a look that are small in some calls and large in others, with numpy looking at their results."""
    width = 3 if i % 2 else 4000
    total = kept.sum().item()
    large = tg.full((width, 3), total) * 0.001 + x[0]
    kept[i % 3] = large[: i % 3 + 1].mean(0)
    kept[1].numpy()[0] += 1.0
    model(large[:2]).sum().backward()


BETWEEN = (means, checks, long_at_last, mixed)


def with_looks(tg, between, wrap):
    tg.manual_seed(0)
    model, kept, found = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 3)), tg.zeros(3, 3), []
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)

    def step(x, y, i):
        loss = tg.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        with tg.set_grad_enabled(between not in (means, checks)):
            between(tg, model, x, y, kept, i)
        optimizer.step()
        return loss.item()

    step = wrap(step)
    for i in range(40):
        y = tg.tensor([(i * k + k * k) % 3 for k in range(9)])
        found.append(step((tg.arange(27.0).reshape(9, 3) + i).sin(), y, i))
        found.append(kept.sum().item())
    return found + [np.array(p.detach().numpy()).sum().item() for p in model.parameters()]


@pytest.mark.parametrize("between", BETWEEN, ids=lambda between: between.__name__)
def test_what_comes_between_looks_is_as_in_eager_mode(tg, between):
    run = functools.partial(with_looks, tg, between)
    assert run(tg.compile) == pytest.approx(run(lambda step: step), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("between", [means, checks], ids=lambda between: between.__name__)
def test_a_few_ops_between_looks_are_no_programs(tg, made, between):
    with_looks(tg, between, tg.compile)
    assert 1 <= len(made) <= 3


# ------------------------------------------------------------------------------- ways through layers


def skipping(tg, layers, wrap, ways):
    """The losses of steps in which the bits of the numbers `ways` say which layers run."""
    ways, count = iter(ways), len(ways)

    class Net(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = tg.nn.Linear(4, 4)
            self.layers = tg.nn.ModuleList(tg.nn.Linear(4, 4) for _ in range(layers))

        def forward(self, x):
            x, bits = self.first(x), next(ways)
            for i, layer in enumerate(self.layers):
                if bits >> i & 1:
                    x = x + layer(x).tanh()
            return x

    tg.manual_seed(0)
    model = Net()
    optimizer = tg.optim.Adam(model.parameters(), lr=0.05)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    step = wrap(step)
    return [step(tg.linspace(-1, 1, 8).reshape(2, 4)) for _ in range(count)]


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_each_way_is_right(tg, layers):
    ways = [i % 2**layers for i in range(7 * 2**layers)]
    expected = skipping(tg, layers, lambda step: step, ways)
    assert skipping(tg, layers, tg.compile, ways) == pytest.approx(expected, rel=1e-4)  # Adam divides by small numbers
