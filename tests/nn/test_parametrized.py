"""Parametrizations, old and new weight and spectral norms, against PyTorch's numbers (expected/parametrized.py)."""

import copy
import json
import pickle

import numpy as np
import pytest
from expected.compare import STORE, load
from expected.parametrized import LAYERS, trained

STORED = load("parametrized")
KEYS = json.loads((STORE / "parametrized.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LAYERS)
def test_training(tg, maybe_compile, name):
    found, keys = trained(tg, name, maybe_compile)
    # Five steps amplify roundings of float64, 1e-16, some ten thousand times.
    np.testing.assert_allclose(found, STORED[name], rtol=1e-10, atol=1e-11)
    assert keys == KEYS[name]


def doubled(tg):
    class Doubled(tg.nn.Module):
        def forward(self, x):
            return x * 2

        def right_inverse(self, x):
            return x / 2

    return Doubled()


def test_registering_and_removing(tg):
    parametrize, layer = tg.nn.utils.parametrize, tg.nn.Linear(2, 3)
    kind, weight, before = type(layer), layer.weight, layer.weight.tolist()
    parametrize.register_parametrization(layer, "weight", doubled(tg))
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, kind)
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is kind
    assert layer.parametrizations.weight.original is weight and layer.weight.tolist() == before
    layer.weight = tg.ones(3, 2)
    assert layer.parametrizations["weight"].original.tolist() == [[0.5, 0.5]] * 3
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert type(layer) is kind and layer.weight is weight and layer.weight.tolist() == [[0.5, 0.5]] * 3
    assert sorted(layer.state_dict()) == ["bias", "weight"] and not parametrize.is_parametrized(layer)
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")


def test_cached(tg):
    parametrize, layer, seen = tg.nn.utils.parametrize, tg.nn.Linear(2, 2), []

    class Counting(tg.nn.Module):
        def forward(self, x):
            seen.append(1)
            return x * 1

    parametrize.register_parametrization(layer, "weight", Counting())
    del seen[:]
    with parametrize.cached():
        assert layer.weight is layer.weight
        layer(tg.ones(1, 2))
    assert len(seen) == 1
    layer(tg.ones(1, 2))
    assert len(seen) == 2


@pytest.mark.parametrize(
    "forward, unsafe, words",
    [
        (lambda tg, x: x.double(), False, "may not change the dtype of the tensor"),
        (lambda tg, x: x[0], False, "may not change the shape of the tensor"),
        (lambda tg, x: 1.0, False, "A parametrization must return a tensor. Got float."),
    ],
)
def test_what_no_parametrization_does(tg, forward, unsafe, words):
    class Wrong(tg.nn.Module):
        def forward(self, x):
            return forward(tg, x)

    layer = tg.nn.Linear(2, 2)
    with pytest.raises(ValueError, match=words):
        tg.nn.utils.parametrize.register_parametrization(layer, "weight", Wrong())
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="does not have a parameter, a buffer, or a parametrized element with name"):
        tg.nn.utils.parametrize.register_parametrization(layer, "other", doubled(tg))


def test_copies_are_apart(tg):
    parametrize, layer = tg.nn.utils.parametrize, tg.nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", doubled(tg))
    copied = copy.deepcopy(layer)
    parametrize.remove_parametrizations(copied, "weight")
    assert parametrize.is_parametrized(layer) and tg.equal(layer.weight, copied.weight)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)


def test_transferred(tg):
    parametrize, one, other = tg.nn.utils.parametrize, tg.nn.Linear(2, 2), tg.nn.Linear(2, 2)
    parametrize.register_parametrization(one, "weight", doubled(tg))
    parametrize.transfer_parametrizations_and_params(one, other)
    assert other.parametrizations.weight.original is one.parametrizations.weight.original
    assert tg.equal(one.weight, other.weight)


def test_states_of_the_old_weight_norm(tg):
    old, new = tg.nn.utils.weight_norm(tg.nn.Linear(3, 2)), tg.nn.Linear(3, 2)
    tg.nn.utils.parametrizations.weight_norm(new)
    new.load_state_dict(old.state_dict())
    x = tg.ones(1, 3)
    assert tg.allclose(old(x), new(x))


@pytest.mark.parametrize("kind", ["weight", "spectral"])
def test_old_norms_that_are_removed(tg, kind):
    utils = tg.nn.utils
    put = utils.weight_norm if kind == "weight" else utils.spectral_norm
    remove = utils.remove_weight_norm if kind == "weight" else utils.remove_spectral_norm
    layer = put(tg.nn.Linear(3, 2))
    with pytest.raises(RuntimeError, match="Cannot register two"):
        put(layer)
    layer.eval()
    x = tg.ones(1, 3)
    before = layer(x)
    remove(layer)
    assert tg.allclose(layer(x), before) and sorted(layer.state_dict()) == ["bias", "weight"]
    assert not layer._forward_pre_hooks
    with pytest.raises(ValueError, match="not found in"):
        remove(layer)


def test_compiled_calls_notice_parametrizations(tg, maybe_compile):
    """Registered and removed between calls."""
    layer = tg.nn.Linear(2, 1, bias=False)
    with tg.no_grad():
        layer.weight.fill_(1.0)

    def step(x):
        layer.zero_grad()
        out = layer(x).sum()
        out.backward()
        return out.detach(), [p.grad.sum() for p in layer.parameters()]

    class Times3(tg.nn.Module):
        def forward(self, x):
            return x * 3

    step, parametrize = maybe_compile(step), tg.nn.utils.parametrize
    for i in range(12):
        if i == 4:
            parametrize.register_parametrization(layer, "weight", Times3())
        if i == 8:
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
        out, gradients = step(tg.full((1, 2), 1.0 + i))
        factor = 3.0 if 4 <= i < 8 else 1.0
        assert out.item() == factor * 2 * (1.0 + i) and gradients[0].item() == factor * 2 * (1.0 + i)


@pytest.mark.parametrize("tie", [True, False])
def test_functional_call(tg, maybe_compile, tie):
    model = tg.nn.Sequential(tg.nn.Linear(2, 2, bias=False), tg.nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    before = model[0].weight.tolist()

    def call(w, x):
        out = tg.nn.utils.stateless.functional_call(model, {"0.weight": w * 2}, (x,), tie_weights=tie)
        out.sum().backward()
        return out.detach()

    call = maybe_compile(call)
    for i in range(5):
        w, x = tg.full((2, 2), 1.0 + i, requires_grad=True), tg.ones(1, 2)
        model.zero_grad()
        out = call(w, x)
        reference = tg.full((2, 2), 1.0 + i, requires_grad=True)
        second = reference * 2 if tie else model[0].weight.detach()
        expected = x @ (reference * 2).t() @ second.t()
        expected.sum().backward()
        assert tg.allclose(out, expected) and tg.allclose(w.grad, reference.grad)
    assert model[0].weight.tolist() == before and model[1].weight is model[0].weight


def test_functional_call_with_wrong_names(tg):
    call, layer, x = tg.nn.utils.stateless.functional_call, tg.nn.Linear(2, 2), tg.ones(1, 2)
    with pytest.raises(RuntimeError, match="Error\\(s\\) in reparametrizing for Linear"):
        call(layer, {"weight": tg.ones(2, 2)}, x, strict=True)
    norm = tg.nn.BatchNorm1d(2)
    tensors = {name: value.clone() for name, value in norm.state_dict().items()}
    call(norm, tensors, tg.ones(3, 2))
    assert int(tensors["num_batches_tracked"]) == 1 and int(norm.num_batches_tracked) == 0


def test_fusion_with_batch_norm(tg):
    tg.manual_seed(0)
    fuse = tg.nn.utils.fusion
    x, flat = tg.randn(2, 3, 5), tg.randn(4, 3)
    conv, norm = tg.nn.Conv1d(3, 4, 2, bias=False), tg.nn.BatchNorm1d(4)
    linear = tg.nn.Linear(3, 4)
    norm(tg.randn(8, 4) * 3 + 1)
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        fuse.fuse_conv_bn_eval(conv, norm)
    for module in (conv, norm, linear):
        module.eval()
    assert tg.allclose(fuse.fuse_conv_bn_eval(conv, norm)(x), norm(conv(x)), atol=1e-6)
    assert tg.allclose(fuse.fuse_linear_bn_eval(linear, norm)(flat), norm(linear(flat)), atol=1e-6)


def test_skip_init(tg):
    layer = tg.nn.utils.skip_init(tg.nn.Linear, 2, 3)
    assert type(layer) is tg.nn.Linear and layer.weight.shape == (3, 2)
    before = tg.get_rng_state()
    tg.nn.utils.skip_init(tg.nn.Linear, 2, 3)
    assert tg.equal(tg.get_rng_state(), before)  # no initial number is drawn
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        tg.nn.utils.skip_init(tg.nn.Tanh)


def test_old_name_of_clip_grad_norm_(tg):
    w = tg.nn.Parameter(tg.ones(2))
    w.grad = tg.tensor([3.0, 4.0])
    with pytest.warns(FutureWarning, match="is now deprecated in favor of"):
        assert tg.nn.utils.clip_grad_norm([w], 1.0).item() == 5.0
    assert tg.nn.utils.get_total_norm([w.grad], foreach=True).item() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("map", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3)])
def test_strides_of_orthogonal_matrices(tg, map, sizes):
    """As LAPACK leaves them, column by column; a square one that is assigned keeps its own. As in PyTorch."""
    orthogonal = tg.nn.utils.parametrizations.orthogonal
    layer, n = orthogonal(tg.nn.Linear(*sizes), orthogonal_map=map), max(sizes)
    given = tg.linalg.qr(tg.randn(n, n))[0]
    assert layer.parametrizations.weight[0].base.stride() == (1, n)
    with tg.no_grad():
        for matrix, strides in ((given, (1, n)), (given.contiguous(), (n, 1) if sizes[0] == sizes[1] else (1, n))):
            layer.weight = matrix[: sizes[1], : sizes[0]]
            assert layer.parametrizations.weight[0].base.stride() == strides
    reflected = orthogonal(tg.nn.Linear(*sizes), orthogonal_map="householder", use_trivialization=False)
    is_wide = sizes[0] > sizes[1]
    assert reflected.parametrizations.weight.original.stride() == ((sizes[0], 1) if is_wide else (1, sizes[1]))
