"""Gradients recorded through results of compiled calls that have hooks or keep their gradient: those of eager mode,
or refused where a result's own derivative reads it and the recorded gradient would lead past the hook."""

import pytest

import tracegrad as tg
from tracegrad import nn

LAYERS = {
    "tanh": lambda layer, x: tg.tanh(layer(x)),
    "sigmoid": lambda layer, x: layer(x).sigmoid(),
    "exp": lambda layer, x: layer(x).exp(),
    "softmax": lambda layer, x: layer(x).softmax(-1),
    "linear": lambda layer, x: layer(x),
    "relu": lambda layer, x: tg.relu(layer(x)),
    "sine": lambda layer, x: layer(x).sin(),
    "copy of tanh": lambda layer, x: tg.tanh(layer(x)) * 1,
}
WATCHED = {
    "retain_grad": lambda h, seen: h.retain_grad(),
    "hook": lambda h, seen: h.register_hook(lambda g: seen.append(g.sum().item())),
    "hook that changes": lambda h, seen: h.register_hook(lambda g: g * 2),
    "nothing": lambda h, seen: None,
}


def outcomes(function, layer, watch):
    found = []
    for i in range(4):
        layer.zero_grad()
        x = tg.linspace(-1, 1 + i, 6, dtype=tg.float64).reshape(2, 3).requires_grad_()
        h, seen = function(x), []
        watch(h, seen)
        try:
            (g,) = tg.autograd.grad(h.square().sum(), layer.weight, create_graph=True)
            g.square().sum().backward()
        except RuntimeError as error:
            assert "a gradient is recorded (create_graph=True) through a result" in str(error)
            found.append("refused")
            continue
        kept = [h.grad] if h.retains_grad else []
        found.append([*seen, *(x.sum().item() for x in (*kept, layer.weight.grad, x.grad) if x is not None)])
    return found


@pytest.mark.parametrize("way", [tg.compile, lambda f: tg.deferred()(f)], ids=["compiled", "deferred"])
@pytest.mark.parametrize("watch", WATCHED)
@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_those_of_eager_mode_or_refused(name, watch, way, request):
    if (name, watch) == ("softmax", "hook that changes"):
        request.applymarker(
            pytest.mark.xfail(strict=True, reason="recorded primitives of softmax do not read its result")
        )
    tg.manual_seed(0)
    layer = nn.Linear(3, 4).double()

    def function(x):
        return LAYERS[name](layer, x)

    expected = outcomes(function, layer, WATCHED[watch])
    found = outcomes(way(function), layer, WATCHED[watch])
    reads_itself = name in ("tanh", "sigmoid", "exp", "softmax", "relu")
    for one, other in zip(found, expected, strict=True):
        if one == "refused":
            assert reads_itself and watch != "nothing"
        else:
            assert one == pytest.approx(other, rel=1e-10)  # float64: sums in another order
