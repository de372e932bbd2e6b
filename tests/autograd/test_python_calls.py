"""How many of Python's functions a plain eager call runs: numpy's work aside, that is what a small one costs.

The counts are the same on each machine. One that is exceeded means that a layer has come in between: it stands here so
that it is seen.
"""

import gc
import sys

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.functional.forms import common
from tracegrad.nn import functional as F
from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import interpreted
from tracegrad.tape.plain import PlainTape
from tracegrad.tape.tape import Tape
from tracegrad.tensors.blank import FIELDS, blank
from tracegrad.tensors.device import remaking
from tracegrad.tensors.meta.meta_tensor import AttentiveTape
from tracegrad.tensors.overriding import subclasses
from tracegrad.tensors.tensor import EAGER, Tensor, make

x, y, tracked = tg.randn(8, 8), tg.randn(8, 8), tg.randn(8, 8, requires_grad=True)
weight, bias = tg.ones(8), tg.zeros(8)
norm, layer = tg.nn.BatchNorm2d(3), tg.nn.Linear(8, 4)
images, targets = tg.randn(2, 3, 4, 4), tg.tensor([1, 0, 2, 3, 1, 0, 2, 3])

#: A call, and the most that it may run.
CALLS = {
    "add": (lambda: x + y, 6),
    "add, gradient": (lambda: tracked + y, 15),
    "add of integers": (lambda: targets + 1, 7),
    "relu": (lambda: F.relu(x), 11),
    "clamp": (lambda: x.clamp(-1, 1), 12),
    "softmax": (lambda: F.softmax(x, -1), 17),
    "sum": (lambda: x.sum(), 15),
    "mean of rows": (lambda: x.mean(-1), 27),
    "cat": (lambda: tg.cat((x, y), 1), 18),
    "stack": (lambda: tg.stack((x, y)), 15),
    "view": (lambda: x.view(2, 32), 15),
    "t, gradient": (lambda: tracked.t(), 16),
    "row": (lambda: x[1], 8),
    "region": (lambda: x[1:, 2], 16),
    "element, gradient": (lambda: tracked[1, 2], 22),
    "picks": (lambda: x[targets, targets], 22),
    "write": (lambda: x.__setitem__((1, 2), 3), 17),
    "write of picks": (lambda: x.__setitem__(targets, y), 13),
    "stack, gradient": (lambda: tg.stack((tracked, y)), 20),
    "unbind of eight": (lambda: x.unbind(), 94),
    "eight rows": (lambda: list(x), 77),
    "eight rows, gradient": (lambda: list(tracked), 115),
    "layer_norm": (lambda: F.layer_norm(x, (8,), weight, bias), 30),
    "batch_norm": (lambda: norm(images), 147),  # one moves the running statistics, before or after the output
    "linear": (lambda: F.linear(x, y, bias), 27),
    "layer": (lambda: layer(x), 64),
    "cross_entropy": (lambda: F.cross_entropy(x, targets), 55),  # four look at the kinds of its arguments
}


def python_calls(function):
    """Which of Python's own functions `function` runs, the second time; a collection of garbage that falls into it does
    not count."""
    function()
    seen = []

    def note(frame, event, argument):
        if event == "call":
            seen.append(frame.f_code.co_name)

    before = sys.getprofile()
    gc.disable()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
        gc.enable()
    return seen[1:]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_runs_no_more_of_python_than_it_did(name, monkeypatch):
    in_a_new_process(monkeypatch)
    function, most = CALLS[name]
    seen = python_calls(function)
    assert len(seen) <= most, seen


def in_a_new_process(monkeypatch):
    """Where there is a subclass, or a tensor on the device meta, operands are asked whether they are one."""
    monkeypatch.setattr(subclasses, "exist", False)
    monkeypatch.setattr(subclasses, "of_program", False)
    monkeypatch.setattr(remaking, "alive", {})
    monkeypatch.setattr(EAGER, "__class__", PlainTape)


def model():
    return tg.nn.Sequential(tg.nn.Linear(8, 6), tg.nn.BatchNorm1d(6), tg.nn.ReLU(), tg.nn.Linear(6, 4))


#: How models on the device meta get their numbers: whatever is left of the tensors that had none is given back.
MATERIALIZED = {
    "to_empty": lambda net, state: net.to_empty(device="cpu").load_state_dict(state),
    "assign": lambda net, state: net.load_state_dict(state, assign=True),
    "given up": lambda net, state: None,
}


@pytest.mark.parametrize("way", MATERIALIZED)
def test_tensors_without_numbers_cost_nothing_when_they_are_gone(way, monkeypatch):
    in_a_new_process(monkeypatch)
    trained = model()
    optimizer = tg.optim.SGD(trained.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        trained(x).sum().backward()
        optimizer.step()
        return x[0], x + y

    before = python_calls(step)
    with tg.device("meta"):
        net = model()
        out = net(tg.empty(5, 8))
    held = tg.empty(3000, 3000, device="meta")[1:, 2:].t()  # large ones have another memory
    assert len(python_calls(step)) > len(before)
    MATERIALIZED[way](net, trained.state_dict())
    del net, out
    assert remaking.alive and tg.add(held, 1).is_meta, "a view is alive"
    del held
    assert not remaking.alive
    assert python_calls(step) == before


def test_the_tape_looks_for_them_again_when_there_are_new_ones(monkeypatch):
    in_a_new_process(monkeypatch)
    for _ in range(3):
        held = tg.ones(3, device="meta")
        assert tg.nn.functional.gelu(held).is_meta and isinstance(EAGER, AttentiveTape)
        assert tg.nn.Linear(3, 2, device="meta")(held).is_meta
        del held
        assert tg.cat([x, y]).tolist() and type(EAGER) is PlainTape


def test_tensors_are_made_with_the_fields_of_a_blank_one():
    made, other = make(np.zeros(2)), blank(Tensor)
    assert {name: getattr(made, name) for name in FIELDS} == {name: getattr(other, name) for name in FIELDS}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (15, 3), (16, 3), (64, 10), (2, 9, 5), (16, 512), (16, 513), (3, 700)])
def test_the_largest_of_rows_are_numpys(dtype, shape):
    values = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    values[0, ..., :2] = np.nan
    values[shape[0] // 2, ..., :2] = np.inf
    values[-1] = -np.inf
    for axes in ((len(shape) - 1,), (0,), tuple(range(len(shape)))):
        expected = np.maximum.reduce(values, axis=axes, keepdims=True)
        np.testing.assert_array_equal(common.largest(values, axes), expected)
    np.testing.assert_array_equal(
        common.largest(values.T, (len(shape) - 1,)), np.maximum.reduce(values.T, axis=-1, keepdims=True)
    )


@pytest.mark.parametrize("dtype", [tg.float32, tg.float64, tg.bfloat16], ids=str)
@pytest.mark.parametrize("momentum", [0.1, 0.3, 1.0, None])
def test_running_statistics_have_the_bits_of_the_ops(dtype, momentum):
    def moved():
        tg.manual_seed(0)
        layer = tg.nn.BatchNorm1d(5, momentum=momentum).to(dtype)
        for _ in range(3):
            layer(tg.randn(7, 5).to(dtype))
        buffers = [layer.running_mean, layer.running_var, layer.num_batches_tracked]
        return [(b.tolist(), b._version) for b in buffers]

    assert moved() == interpreted(Tape(Evaluator(), make), moved)


def test_a_gradient_with_respect_to_a_late_tensor_does_not_look_at_what_led_to_it():
    """An inner loop of learning differentiates each of its steps, whose graph goes on from all earlier ones."""

    def steps(count):
        w = tg.ones(3, requires_grad=True) * 1
        for _ in range(count):
            (slope,) = tg.autograd.grad((w * w).sum(), w, create_graph=True)
            w = w - 0.1 * slope
        return lambda: tg.autograd.grad((w * w).sum(), w, create_graph=True)

    assert python_calls(steps(1)) == python_calls(steps(30))
