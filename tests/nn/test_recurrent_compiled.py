"""Recurrent layers in compiled code: steps, models, calls of which Python runs a part; the size of the programs."""

import copy
import re

import numpy as np
import pytest
from expected import recurrent
from expected.compare import assert_same_tree
from side_by_side import Program, agreeing

from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.pipeline import compile_graph
from tracegrad.functional.recurrent.cells import lstm_step
from tracegrad.ops.core import interpreting
from tracegrad.ops.scan.loop import last_of
from tracegrad.ops.scan.primitive import apply_loop, traced
from tracegrad.ops.types import Type, float32

LAYERS = {"LSTM": {}, "GRU": {"batch_first": True, "bias": False}}
LARGER = {
    "LSTM": {"num_layers": 2, "bidirectional": True, "proj_size": 2},
    "GRU": {"num_layers": 2},
    "RNN": {"num_layers": 2, "nonlinearity": "relu", "dropout": 0.5},
}
KINDS = [*LAYERS.items(), *(pytest.param(*item, marks=pytest.mark.long) for item in LARGER.items())]


class Tagger:
    """A layer with a head, and its optimizer."""

    def __init__(self, tg, kind, options):
        tg.manual_seed(1)
        self.tg, self.rnn = tg, getattr(tg.nn, kind)(3, 5, **options)
        outputs = (self.rnn.proj_size or 5) * (1 + self.rnn.bidirectional)
        self.model = tg.nn.ModuleList([self.rnn, tg.nn.Linear(outputs, 2)])
        self.optimizer = tg.optim.Adam(self.model.parameters(), lr=0.01)

    def loss(self, x, hx=None):
        out, hidden = self.rnn(x, hx)
        states = hidden if isinstance(hidden, tuple) else (hidden,)
        return (self.model[1](out) ** 2).mean() + sum((s * s).sum() for s in states)

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.loss(x)
        loss.backward()
        self.optimizer.step()
        return loss

    def state(self):
        return [*self.model.parameters(), *(p.grad for p in self.model.parameters())]


def drawn(tg, i, *shape):
    return recurrent.values(tg, i, shape, "float32").detach()


@pytest.mark.long(fast="first")
@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_a_whole_step(tg, kind, options):
    def make(tg):
        tagger = Tagger(tg, kind, options)
        return Program(tagger.step, lambda i: (drawn(tg, i, 4, 3, 3),), tagger.state, specialisations=1)

    agreeing(tg, make)


@pytest.mark.long(every=7)
@pytest.mark.parametrize("label", [label for label, *_ in recurrent.layers()])
def test_every_layer_of_the_stored_ones(tg, label):
    """Values and first gradients, in one program where no lengths have to be looked at."""
    kind, sizes, options, call = next(rest for name, *rest in recurrent.layers() if name == label)
    options = {k: v for k, v in options.items() if k != "dropout"}
    layer = getattr(tg.nn, kind)(*sizes, **options, dtype=getattr(tg, call["dtype"]))

    tensors = recurrent.given(tg, layer, sizes, call)
    wrt = [*tensors, *layer.parameters()]

    def function():
        results = recurrent.called(tg, layer, tensors, call)
        gradients = tg.autograd.grad(sum(recurrent.weighted(tg, r) for r in results), wrt)
        return [r.detach() for r in results], gradients

    compiled, expected = tg.compile(function), function()
    for _ in range(3):
        assert_same_tree(compiled(), expected)
    assert "lengths" in call or compiled.way == "replay"


@pytest.mark.parametrize("kind", ["LSTM", pytest.param("GRU", marks=pytest.mark.long)])
def test_a_compiled_model_in_an_eager_loop(tg, kind):
    """With states that one call hands to the next."""

    def losses(wrap):
        tagger, hidden, found = Tagger(tg, kind, {}), None, []
        layer = wrap(tagger.rnn)
        for i in range(5):
            out, hidden = layer(drawn(tg, i, 4, 3, 3), hidden)
            hidden = tuple(h.detach() for h in hidden) if isinstance(hidden, tuple) else hidden.detach()
            loss = (tagger.model[1](out) ** 2).mean()
            tagger.optimizer.zero_grad()
            loss.backward()
            tagger.optimizer.step()
            found.append(loss)
        return found, tagger.state(), layer

    *expected, _ = losses(lambda layer: layer)
    *found, layer = losses(tg.compile)
    assert_same_tree(found, expected)
    assert layer.way == "replay"


def test_lengths_are_looked_at_at_each_call(tg):
    rnn = tg.nn.utils.rnn

    def make(tg):
        tagger = Tagger(tg, "GRU", {"batch_first": True})

        def step(x, lengths):
            packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            out, _ = rnn.pad_packed_sequence(tagger.rnn(packed)[0], batch_first=True)
            tagger.optimizer.zero_grad()
            loss = tagger.model[1](out).square().mean()
            loss.backward()
            tagger.optimizer.step()
            return loss

        lengths = [[3, 1, 4], [2, 2, 2], [1, 4, 1]]
        return Program(step, lambda i: (drawn(tg, i, 3, 4, 3), tg.tensor(lengths[i % 3])), tagger.state)

    agreeing(tg, make)


def source(turns, loops=1):
    """The C of some loops, one behind the other."""
    state, rows, weight = (Type(float32, shape) for shape in ((3, 5), (3 * turns, 20), (5, 20)))
    loop, _ = traced(lstm_step, turns, [state] * 2, [Type(float32, (3, 20))], [weight], True, False)
    builder = Builder()
    inputs = tuple(builder.input(f"x{n}", of) for n, of in enumerate([state, state, *[rows] * loops, weight]))
    h, c, *streams, w = inputs
    with interpreting(builder):
        for stream in streams:
            out = apply_loop(loop, [h, c, stream, w])
            h, c = (last_of(loop, out, number) for number in range(2))
    return compile_graph(Graph("turns", inputs, (Result("h", h), Result("c", c)))).source


def test_the_program_does_not_grow_with_time():
    short, long = (re.sub(r"\d+", "N", source(turns)) for turns in (2, 500))
    assert short == long


def test_equal_layers_share_their_code():
    assert re.findall(r"static void (scan_\d+)\(", source(3, loops=4)) == ["scan_0"]


def test_results_have_memory_of_their_own(tg):
    """What PyTorch allows: writing to the output before the backward pass."""
    layer, x = tg.nn.LSTM(3, 5), drawn(tg, 0, 4, 2, 3)
    out, (h, c) = layer(x)
    expected = tg.autograd.grad((out * 2).sum() + c.sum(), list(layer.parameters()), retain_graph=True)
    last = h.detach().clone()
    out.mul_(2)
    assert_same_tree(h.detach(), last)
    assert_same_tree(tg.autograd.grad(out.sum() + c.sum(), list(layer.parameters())), expected)


def test_a_graph_is_used_once(tg):
    layer = tg.nn.GRU(3, 5)
    loss = layer(drawn(tg, 0, 4, 2, 3))[0].sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_weights_that_were_written_to_are_noticed(tg):
    layer = tg.nn.RNN(3, 5)
    loss = layer(drawn(tg, 0, 4, 2, 3))[0].sum()
    with tg.no_grad():
        layer.weight_hh_l0.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_copies_and_saved_states(tg, tmp_path):
    tg.manual_seed(2)
    layer, x = tg.nn.LSTM(3, 5, num_layers=2, bidirectional=True), drawn(tg, 0, 4, 2, 3)
    tg.save(layer.state_dict(), tmp_path / "state.pt")
    other = tg.nn.LSTM(3, 5, num_layers=2, bidirectional=True)
    other.load_state_dict(tg.load(tmp_path / "state.pt"))
    for same in (other, copy.deepcopy(layer)):
        assert_same_tree(same(x), layer(x))
    assert [len(weights) for weights in layer.all_weights] == [4] * 4
    layer.flatten_parameters()
    layer.weight_ih_l0 = tg.nn.Parameter(tg.zeros(20, 3))
    assert not np.array_equal(layer(x)[0].detach().numpy(), other(x)[0].detach().numpy())


def test_dropout_between_layers_is_for_training(tg):
    layer, x = tg.nn.GRU(3, 5, num_layers=2, dropout=0.5), drawn(tg, 0, 4, 2, 3)
    assert not np.array_equal(layer(x)[0].detach().numpy(), layer(x)[0].detach().numpy())
    layer.eval()
    assert_same_tree(layer(x), layer(x))
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        tg.nn.GRU(3, 5, dropout=0.5)
