"""Values that are still to be computed: whoever sees memory sees numbers, and what a wrapper adds is added once."""

import copy
import ctypes
import inspect
import io
import os
import pickle
import sys
from types import FunctionType

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import multiprocessing as mp
from tracegrad import nn
from tracegrad.nn import functional as F
from tracegrad.tensors.shared_memory import array_in, mapping_of

VALUES = [1.0, 3.0, 5.0, 7.0]
CALLS = 4  # noted, recorded, built, expected


def pending():
    return tg.arange(4.0) * 2 + 1


def saved(x):
    file = io.BytesIO()
    tg.save(x, file)
    file.seek(0)
    return tg.load(file).tolist()


def shared_parameter(x):
    layer = nn.Linear(1, 1, bias=False)
    layer.weight = nn.Parameter(x)
    return layer.share_memory().weight.tolist()


def through_a_file(x):
    reading, writing = os.pipe()
    os.write(writing, x.numpy())
    return np.frombuffer(os.read(reading, 16), np.float32).tolist()


#: Each way in which numbers leave tensors.
EXITS = {
    "tolist": lambda x: x.tolist(),
    "item": lambda x: [each.item() for each in x],
    "numpy": lambda x: x.numpy().tolist(),
    "asarray": lambda x: np.asarray(x).tolist(),
    "dlpack": lambda x: np.from_dlpack(x).tolist(),
    "data_ptr": lambda x: list((ctypes.c_float * 4).from_address(x.data_ptr())),
    "storage": lambda x: np.array(x.untyped_storage().tolist(), np.uint8).view(np.float32).tolist(),
    "copy": lambda x: copy.copy(x).tolist(),
    "deepcopy": lambda x: copy.deepcopy(x).tolist(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "save": saved,
    "file": through_a_file,
    "set_": lambda x: tg.ones(1).set_(x).tolist(),
    "view": lambda x: x.view(tg.int32).numpy().view(np.float32).tolist(),
    "share_memory_": lambda x: x.share_memory_().tolist(),
    "share_memory": shared_parameter,
}
_SHARED = ("share_memory_", "share_memory")


@pytest.mark.parametrize("name", EXITS)
def test_every_way_out_waits_for_numbers(name):
    if sys.platform == "win32" and name in _SHARED:
        pytest.skip("refused there")
    for _ in range(CALLS):
        with tg.deferred():
            assert EXITS[name](pending()) == VALUES


@pytest.mark.skipif(sys.platform == "win32", reason="refused there")
def test_shared_memory_is_read_and_written_at_once():
    for _ in range(CALLS):
        with tg.deferred():
            x = tg.ones(3).share_memory_()
            others = array_in(mapping_of(x), 0, (3,), None, np.dtype(np.float32))
            doubled = x * 2
            others[:] = 5  # as another process does
            tripled = x * 3
            assert doubled.tolist() == [2, 2, 2] and tripled.tolist() == [15, 15, 15]
            x += 1
            assert others.tolist() == [6, 6, 6]
            x.mul_(tripled)
            assert others.tolist() == [90, 90, 90]


def send_pending(connection):
    with tg.deferred():
        for x in (pending(), pending()[1:3], nn.Parameter(pending())):
            connection.send(x)
        connection.recv()


@pytest.mark.skipif(sys.platform == "win32", reason="refused there")
def test_what_a_process_sends_waits_for_numbers():
    own, other = mp.Pipe()
    process = mp.get_context("fork").Process(target=send_pending, args=(other,))
    process.start()
    received = [own.recv().tolist() for _ in range(3)]
    own.send("done")
    process.join(60)
    assert process.exitcode == 0 and received == [VALUES, VALUES[1:3], VALUES]


# ------------------------------------------------------------------------------------------------- written in place


_RANDOM = {"bernoulli", "cauchy", "exponential", "geometric", "log_normal", "normal", "random", "rrelu", "uniform"}


def _is_random(name):
    return name in _RANDOM or "dropout" in name


def _functions_in_place():
    for name in sorted(dir(tg.Tensor)):
        if name.endswith("_") and name[0] != "_" and hasattr(tg.Tensor, name[:-1]) and not _is_random(name[:-1]):
            yield f"Tensor.{name}", getattr(tg.Tensor, name)
    for name in sorted(dir(F)):
        function = getattr(F, name)
        if not isinstance(function, FunctionType) or name.startswith("_") or _is_random(name):
            continue
        if "inplace" in inspect.signature(function).parameters:
            yield f"F.{name}", lambda x, *args, function=function: function(x, *args, inplace=True)


FUNCTIONS = dict(_functions_in_place())
#: What may have to be given besides the tensor.
ARGUMENTS = ((), (0.3,), (tg.tensor([0.5, 0.2, 0.7, 0.4]),), (0.3, 0.6), (0, 0))


def gradient_of(function, arguments):
    """The values and the gradient of what stands in memory that `function` has written to."""
    leaf = tg.tensor([0.1, -0.4, 0.6, 0.9], requires_grad=True)
    x = leaf * 0.7 + 0.1
    out = function(x, *arguments)
    (x.double() * tg.arange(1.0, 5.0)).sum().backward()
    return out.tolist() == x.tolist(), x.tolist(), leaf.grad.tolist()


def arguments_of(function):
    """Those that eager mode takes and differentiates."""
    for arguments in ARGUMENTS:
        try:
            gradient_of(function, arguments)
        except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError):
            continue
        return arguments
    return None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_what_is_written_in_place(name):
    arguments = arguments_of(FUNCTIONS[name])
    if arguments is None:
        pytest.skip("eager mode refuses it for such a tensor")
    is_same, values, gradient = gradient_of(FUNCTIONS[name], arguments)
    for _ in range(CALLS):
        with tg.deferred():
            found = gradient_of(FUNCTIONS[name], arguments)
        assert found[0] is is_same
        # C's elementary functions differ from numpy's by a few units of the last place
        np.testing.assert_allclose(found[1], values, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found[2], gradient, rtol=2e-6, atol=1e-7)


def test_the_table_is_about_most_functions():
    differentiated = [name for name, function in FUNCTIONS.items() if arguments_of(function) is not None]
    assert len(differentiated) > 60 and {"F.leaky_relu", "F.relu", "F.elu", "Tensor.mul_"} <= set(differentiated)


# --------------------------------------------------------------------------------------------- differentiated again


#: Layers whose derivative needs what only the forward pass knew.
RANDOM_LAYERS = {
    "dropout": lambda: nn.Dropout(0.4),
    "alpha_dropout": lambda: nn.AlphaDropout(0.4),
    "rrelu": lambda: nn.RReLU(),
    "dropout in place": lambda: nn.Dropout(0.4, inplace=True),
    "two dropouts": lambda: nn.Sequential(nn.Dropout(0.2), nn.Tanh(), nn.Dropout(0.3)),
}


def penalties(layer):
    tg.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), layer(), nn.Tanh(), nn.Linear(8, 1))
    optimizer, found = tg.optim.SGD(model.parameters(), 0.1), []
    for _ in range(CALLS + 1):
        x = tg.rand(6, 3, requires_grad=True)
        (slope,) = tg.autograd.grad(model(x).sum(), x, create_graph=True)
        penalty = (slope.norm(dim=1) - 1).pow(2).mean()
        optimizer.zero_grad()
        penalty.backward()
        optimizer.step()
        found.append(penalty.item())
    return found


@pytest.mark.parametrize("name", RANDOM_LAYERS)
def test_gradients_of_gradients_of_random_layers(name):
    eager = penalties(RANDOM_LAYERS[name])
    with tg.deferred():
        found = penalties(RANDOM_LAYERS[name])
    # five steps of float32, of which each starts from the last one's weights
    np.testing.assert_allclose(found, eager, rtol=1e-5)


# --------------------------------------------------------------------------------------------------- around a call


class Added(nn.Sequential):
    """A class with a call of its own."""

    def __call__(self, x):
        return super().__call__(x) + 1


class AddedWithin(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Added(nn.Linear(3, 4), nn.ReLU())

    def forward(self, x):
        return self.inner(x) * 2


def patched(monkeypatch):
    call = nn.Module.__call__
    monkeypatch.setattr(nn.Module, "__call__", lambda self, *args, **kwargs: call(self, *args, **kwargs) + 1)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU())


WRAPPED = {
    "class": lambda monkeypatch: Added(nn.Linear(3, 4), nn.ReLU()),
    "layer of a class": lambda monkeypatch: AddedWithin(),
    "patch": patched,
}


def results_of(model):
    for parameter in model.parameters():
        nn.init.constant_(parameter, 0.5)
    found = []
    for number in range(CALLS + 2):
        model.zero_grad()
        loss = model(tg.full((2, 3), number + 1.0)).square().mean()
        loss.backward()
        found.append((loss.item(), [parameter.grad.sum().item() for parameter in model.parameters()]))
    return found


@pytest.mark.parametrize("name", WRAPPED)
def test_what_a_wrapper_of_calls_adds_is_added_once(name, monkeypatch):
    model = WRAPPED[name](monkeypatch)
    eager = results_of(model)
    with tg.deferred():
        found = results_of(model)
    for (loss, gradients), (expected, of) in zip(found, eager, strict=True):
        assert loss == pytest.approx(expected, rel=1e-5)
        assert gradients == pytest.approx(of, rel=1e-5)
