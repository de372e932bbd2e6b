"""Checkpointed calls that are one operation: what they do with PyTorch, in each way to run a step."""

import json
import re
import warnings

import pytest
from expected import reentrant
from expected.compare import FLOAT64_ATOL, STORE

import tracegrad as tg
from tracegrad.utils.checkpoint import CheckpointFunction, checkpoint, checkpoint_sequential

STORED = json.loads((STORE / "reentrant.json").read_text(encoding="utf-8"))
WAYS = {
    "eager": lambda function: function,
    "deferred": lambda function: tg.deferred()(function),
    "compiled": lambda function: tg.compile(function),
}


def assert_same(found, expected):
    """Numbers of float64 agree to some roundings, all else is equal."""
    if isinstance(expected, (list, tuple)):
        assert isinstance(found, (list, tuple)) and len(found) == len(expected), (found, expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        # Products that are rounded to bfloat16 are the same, everything else is some roundings of 1e-16.
        assert found == pytest.approx(expected, rel=1e-12, abs=FLOAT64_ATOL)
    else:
        assert type(found) is type(expected) and found == expected


def test_all_is_stored():
    assert STORED.keys() == reentrant.PROGRAMS.keys()


@pytest.mark.parametrize("name", reentrant.PROGRAMS)
@pytest.mark.parametrize("way", WAYS)
def test_steps_do_what_they_do_with_pytorch(way, name):
    assert_same(reentrant.outcome(tg, name, WAYS[way]), STORED[name])


@pytest.mark.parametrize("name", reentrant.PROGRAMS)
@pytest.mark.parametrize("way", WAYS)
def test_steps_that_note_nothing_give_the_same_numbers(way, name):
    """A compiled function replays a third of these, whose functions then do not run again."""
    for found, expected in zip(reentrant.outcome(tg, name, WAYS[way], notes=False), STORED[name], strict=True):
        assert_same([found[0], found[2]], [expected[0], expected[2]])


@pytest.mark.parametrize("way", WAYS)
def test_training_has_the_numbers_of_training_without(way):
    """A whole network with dropout and statistics; what has no part in the loss has zeros instead of no gradient."""

    def network():
        tg.manual_seed(0)
        parts = [tg.nn.Sequential(tg.nn.Linear(4, 4), tg.nn.BatchNorm1d(4), tg.nn.GELU()) for _ in range(3)]
        return tg.nn.ModuleList([*parts, tg.nn.Dropout(0.2), tg.nn.Linear(4, 4)]).double()

    def losses(call, wrap):
        model = network()
        optimizer = tg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def both(x):
            return model[2](x), model[4](x).exp()

        def step(x):
            optimizer.zero_grad()
            x = call(model[0], x.requires_grad_())
            x = call(lambda x: call(model[1], x) + x, x)
            first, _ = call(both, model[3](x))
            loss = first.square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        step, found = wrap(step), []
        tg.manual_seed(1)
        for i in range(5):
            found.append(step(tg.linspace(-1, 1 + i, 24, dtype=tg.float64).reshape(6, 4)).item())
        return found, model[0][1].num_batches_tracked.item(), model[4].weight.grad

    expected, _, unused = losses(lambda function, x: function(x), WAYS["eager"])
    found, batches, of_unused = losses(lambda function, x: checkpoint(function, x, use_reentrant=True), WAYS[way])
    # float64: sums in another order, some roundings of 1e-16 of numbers about 1, through five steps.
    assert found == pytest.approx(expected, rel=1e-9)
    assert batches == 10  # two runs in each step
    assert unused is None and of_unused.tolist() == [[0.0] * 4] * 4


def test_training_steps_are_replayed():
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.GELU(), tg.nn.Dropout(0.3), tg.nn.BatchNorm1d(4))
    optimizer = tg.optim.Adam(model.parameters())

    @tg.compile
    def step(x):
        optimizer.zero_grad()
        hidden = checkpoint(model[0], x, use_reentrant=True)
        loss = checkpoint(model[1:], hidden, use_reentrant=True).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    ways = [(step(tg.ones(5, 3).requires_grad_()), step.way)[1] for _ in range(4)]
    assert ways[1:] == ["replay"] * 3


class Inside(tg.autograd.Function):
    """Its backward makes a pass of its own, through a checkpointed call."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        with tg.enable_grad():
            y = tg.ones(2, requires_grad=True)
            checkpoint(lambda y: y * y, y, use_reentrant=True).sum().backward()
        return g * y.grad


@pytest.mark.parametrize("way", WAYS)
def test_passes_to_named_inputs_are_refused_in_passes_within_them_too(way):
    asks = {
        "grad": lambda out, x: tg.autograd.grad(out, x), "inputs": lambda out, x: out.backward(inputs=[x]),
        "all": lambda out, x: out.backward(),
    }  # fmt: skip
    for name, ask in asks.items():
        step = WAYS[way](lambda x, ask=ask: ask(Inside.apply(x).sum(), x))
        for _ in range(3):
            x = tg.ones(2, requires_grad=True)
            if name == "all":
                step(x)
                assert x.grad.tolist() == [2.0, 2.0]
            else:
                with pytest.raises(RuntimeError, match=re.escape("incompatible with .grad() or passing an `inputs`")):
                    step(x)


def test_hooks_of_saved_tensors_see_the_arguments():
    seen, x = [], tg.tensor([1.0, 2.0], requires_grad=True)
    with tg.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.tolist()) or t, lambda t: t * 10):
        out = checkpoint(lambda x, n: x * x * n, x, 3, use_reentrant=True)
    assert seen == [[1.0, 2.0]]
    out.sum().backward()
    assert tg.allclose(x.grad, 6 * 10 * x)  # of what the hook has given back


def test_tangents_are_refused():
    with tg.autograd.forward_ad.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = tg.autograd.forward_ad.make_dual(tg.ones(2), tg.ones(2))
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            checkpoint(lambda x: x * 2, x, use_reentrant=True)


def test_the_function_that_is_applied():
    """By its name, with the two arguments before those of the call; the same as the call."""
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    out = CheckpointFunction.apply(lambda x, n: x**n, True, x, 2)
    assert type(out.grad_fn).__name__ == "CheckpointFunctionBackward" and out.tolist() == [1.0, 4.0]
    out.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


#: How many functions, how many segments, and PyTorch's error; or how many parts are checkpointed.
SEGMENTS = {
    (4, 1): 0, (4, 2): 1, (4, 3): 2, (4, 4): 3, (5, 2): 1, (5, 3): 2, (4, -1): 0, (0, 1.5): TypeError,
    (4, 0): ZeroDivisionError, (4, 5): ValueError, (4, 9): ValueError, (0, 1): ValueError, (4, 2.5): TypeError,
    (4, "2"): TypeError, (4, None): TypeError,
}  # fmt: skip


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize(("length", "segments"), SEGMENTS)
def test_segments(length, segments, use_reentrant):
    calls, x = [], tg.ones(2, requires_grad=True)
    functions = [lambda x, i=i: (calls.append(i), (x * 2).exp().log())[1] for i in range(length)]
    expected = SEGMENTS[length, segments]
    if not isinstance(expected, int):
        with pytest.raises(expected):
            checkpoint_sequential(functions, segments, x, use_reentrant=use_reentrant)
        return
    checkpoint_sequential(functions, segments, x, use_reentrant=use_reentrant).sum().backward()
    again = expected * (length // segments)
    assert sorted(calls) == sorted([*range(length), *range(again)])
    assert tg.allclose(x.grad, tg.full((2,), 2.0**length))


MODELS = {
    "linear": lambda: tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.ReLU(), tg.nn.Linear(8, 4)),
    "normalised": lambda: tg.nn.Sequential(tg.nn.LayerNorm(4), tg.nn.Linear(4, 4), tg.nn.GELU()),
    "attention": lambda: tg.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True),
    "recurrent": lambda: tg.nn.GRU(4, 4),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backward", WAYS)
@pytest.mark.parametrize("forward", WAYS)
def test_one_way_forward_and_another_one_back(forward, backward, name):
    tg.manual_seed(0)
    model = MODELS[name]().double()

    def loss(x):
        out = checkpoint(model, x, use_reentrant=True)
        return (out[0] if isinstance(out, tuple) else out).square().mean()

    there, back = WAYS[forward](loss), WAYS[backward](lambda value: value.backward())
    for i in range(4):
        x = tg.linspace(-1, 1 + i, 12, dtype=tg.float64).sin().reshape(3, 4).requires_grad_()
        found = []
        for make, go_back in ((loss, lambda value: value.backward()), (there, back)):
            x.grad = None
            model.zero_grad()
            go_back(make(x))
            found.append([x.grad, *[p.grad for p in model.parameters()]])
        for one, other in zip(*found, strict=True):
            # float64: sums in another order, some roundings of 1e-16 of numbers about 1.
            assert tg.allclose(one, other, rtol=1e-10, atol=1e-12)
