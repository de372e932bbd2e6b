"""Containers and layers: structure, values and gradients (stored; see expected/layers.py)."""

from collections import OrderedDict

import numpy as np
import pytest
from expected.compare import assert_close, load
from expected.layers import NETWORKS, build, gradients, points

STORED = load("layers")


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("network", NETWORKS)
def test_network(tg, call, network):
    model = build(tg, network)
    found = call(lambda x: gradients(model, x), lambda: [points(tg)])
    for name, tensor in found.items():
        assert_close(tensor, STORED[f"{network}|{name}"])


def test_linear_shapes(tg):
    layer = tg.nn.Linear(3, 2)
    assert (
        layer.weight.shape == (2, 3) and layer.bias.shape == (2,) and layer.in_features == 3 and layer.out_features == 2
    )
    assert (
        layer(tg.ones(3)).shape == (2,)
        and layer(tg.ones(5, 4, 3)).shape == (5, 4, 2)
        and layer(tg.ones(0, 3)).shape == (0, 2)
    )
    assert (
        tg.nn.Linear(3, 2, bias=False).bias is None and tg.nn.Linear(3, 2, dtype=tg.float64).weight.dtype is tg.float64
    )


def test_linear_value(tg):
    layer = tg.nn.Linear(3, 2)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert_close(layer(tg.tensor(x)), x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy())


def test_sequential(tg):
    first, second = tg.nn.Linear(2, 3), tg.nn.Linear(3, 1)
    model = tg.nn.Sequential(first, tg.nn.ReLU())
    model.append(second)
    assert len(model) == 3 and model[0] is first and model[-1] is second and list(model)[2] is second
    assert isinstance(model[:2], tg.nn.Sequential) and len(model[:2]) == 2
    named = tg.nn.Sequential(OrderedDict([("fc", first), ("out", second)]))
    assert named.fc is first and list(named.state_dict()) == ["fc.weight", "fc.bias", "out.weight", "out.bias"]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        model[3]


def test_module_list(tg):
    layers = tg.nn.ModuleList([tg.nn.Linear(2, 2)])
    layers.append(tg.nn.Tanh())
    layers.extend([tg.nn.ReLU()])
    assert len(layers) == 3 and isinstance(layers[1], tg.nn.Tanh) and isinstance(layers[:2], tg.nn.ModuleList)
    assert [type(layer).__name__ for layer in layers] == ["Linear", "Tanh", "ReLU"] and len(
        list(layers.parameters())
    ) == 2
    layers[2] = tg.nn.Sigmoid()
    assert isinstance(layers[-1], tg.nn.Sigmoid)


def test_module_dict_and_parameter_list(tg):
    modules = tg.nn.ModuleDict({"a": tg.nn.Linear(1, 1)})
    modules["b"] = tg.nn.ReLU()
    assert (
        list(modules.keys()) == ["a", "b"] and "a" in modules and list(modules.state_dict()) == ["a.weight", "a.bias"]
    )
    parameters = tg.nn.ParameterList([tg.nn.Parameter(tg.ones(1)), tg.nn.Parameter(tg.ones(2))])
    assert len(parameters) == 2 and list(parameters.state_dict()) == ["0", "1"]


def test_flatten(tg):
    x = tg.zeros(2, 3, 4)
    assert (
        tg.nn.Flatten()(x).shape == (2, 12)
        and tg.nn.Flatten(0)(x).shape == (24,)
        and tg.nn.Flatten(0, 1)(x).shape == (6, 4)
    )


def test_embedding(tg, call):
    table = tg.nn.Embedding(4, 2, padding_idx=0)

    def run_embedding(index):
        table.weight.grad = None
        out = table(index)
        (out * tg.tensor([1.0, 2.0])).sum().backward()
        return out.detach(), table.weight.grad

    out, gradient = call(run_embedding, lambda: [tg.tensor([[1, 3], [3, 0]])])
    assert out.shape == (2, 2, 2) and out[1, 1].tolist() == [0.0, 0.0]
    assert gradient.tolist() == [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [2.0, 4.0]]


def test_dropout_in_training_and_evaluation(tg):
    dropout, x = tg.nn.Dropout(0.25), tg.ones(1000, requires_grad=True)
    y = dropout(x)
    assert set(np.round(y.detach().numpy(), 4)) == {np.float32(0.0), np.float32(1.3333)}
    y.sum().backward()
    assert_close(x.grad, y.detach())
    dropout.eval()
    assert dropout(x).tolist() == [1.0] * 1000
    assert tg.nn.functional.dropout(x, 0.5, training=False).tolist() == [1.0] * 1000


def test_compiled_model_follows_train_and_eval(tg, maybe_compile):
    model = tg.nn.Sequential(tg.nn.Linear(4, 4), tg.nn.Dropout(0.5))
    forward = maybe_compile(lambda x: model(x).detach())
    x = tg.ones(2, 4)
    for _ in range(3):
        tg.manual_seed(11)
        trained = forward(x)
        tg.manual_seed(11)
        assert_close(trained, model(x))
        model.eval()
        assert_close(forward(x), model[0](x))
        model.train()


def test_invalid_dropout(tg):
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got 2"):
        tg.nn.Dropout(2)


def test_compiled_batch_of_another_size(tg, maybe_compile):
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 2))
    forward = maybe_compile(lambda x: model(x).detach())
    for size in (5, 5, 5, 2, 2, 2, 5, 1, 0):
        x = tg.randn(size, 3)
        assert_close(forward(x), model(x))


def test_weights_changed_between_compiled_calls(tg, maybe_compile):
    layer = tg.nn.Linear(3, 2)
    forward = maybe_compile(lambda x: layer(x).detach())
    for i in range(5):
        with tg.no_grad():
            layer.weight.fill_(float(i))
        assert_close(forward(tg.ones(1, 3)), (3 * i + layer.bias)[None])
    layer.load_state_dict({"weight": tg.ones(2, 3), "bias": tg.zeros(2)})
    assert forward(tg.ones(1, 3)).tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize(
    "name, args",
    [
        ("xavier_uniform_", ()),
        ("xavier_normal_", ()),
        ("kaiming_uniform_", ()),
        ("kaiming_normal_", ()),
        ("normal_", (0.0, 0.02)),
        ("uniform_", (-1.0, 1.0)),
        ("constant_", (0.3,)),
        ("zeros_", ()),
        ("ones_", ()),
    ],
)
def test_init_writes_in_place(tg, name, args):
    weight = tg.nn.Parameter(tg.full((20, 30), 7.0))
    assert getattr(tg.nn.init, name)(weight, *args) is weight
    assert weight.requires_grad and weight.is_leaf and not (weight == 7.0).any()
