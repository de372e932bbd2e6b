"""Hooks of modules of every kind: their order, what they may replace, and that compiled calls notice them.

The programs run with PyTorch as well (``TRACEGRAD_REFERENCE=torch``); the expected values are its.
"""

import importlib
import warnings
from collections import OrderedDict

import numpy as np
import pytest


def global_hooks(tg):
    return importlib.import_module(f"{tg.__name__}.nn.modules.module")


class Doubled:
    """``y = factor * 2 x``, with a factor of one number, and what it has noted."""

    def __new__(cls, tg):
        class Layer(tg.nn.Module):
            def __init__(self):
                super().__init__()
                self.factor = tg.nn.Parameter(tg.ones(1))

            def forward(self, x, more=0.0, fails=False):
                if fails:
                    raise ValueError("as asked")
                return x * 2 * self.factor + more

        return Layer()


# ------------------------------------------------------------------------------------------------------------ calls


def test_order_of_all(tg):
    layer, seen, module = Doubled(tg), [], global_hooks(tg)
    note = lambda name: lambda *args: seen.append(name)  # noqa: E731
    layer.register_forward_pre_hook(note("pre"))
    layer.register_forward_pre_hook(note("pre first"), prepend=True)
    layer.register_forward_hook(note("forward"))
    layer.register_full_backward_pre_hook(note("backward pre"))
    layer.register_full_backward_hook(note("backward"))
    handles = [
        module.register_module_forward_pre_hook(note("all pre")),
        module.register_module_forward_hook(note("all forward")),
        module.register_module_full_backward_pre_hook(note("all backward pre")),
        module.register_module_full_backward_hook(note("all backward")),
    ]
    try:
        layer(tg.ones(2, requires_grad=True)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [
        "all pre", "pre first", "pre", "all forward", "forward",
        "all backward pre", "backward pre", "all backward", "backward",
    ]  # fmt: skip
    layer(tg.ones(1))
    assert seen[9:] == ["pre first", "pre", "forward"]
    assert isinstance(layer._forward_hooks, OrderedDict) and len(layer._forward_hooks) == 1


def test_with_kwargs(tg):
    layer = Doubled(tg)
    layer.register_forward_pre_hook(lambda m, args, kwargs: ((args[0] + 1,), {"more": 10.0}), with_kwargs=True)
    layer.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["more"], with_kwargs=True)
    assert layer(tg.ones(1)).tolist() == [24.0]


def test_always_called(tg):
    layer, seen = Doubled(tg), []
    layer.register_forward_hook(lambda m, args, out: seen.append(("never", out)))
    layer.register_forward_hook(lambda m, args, out: seen.append(("always", out)), always_call=True)
    layer.register_forward_hook(lambda m, args, out: 1 / 0, always_call=True)
    with pytest.raises(ValueError, match="as asked"), pytest.warns(UserWarning, match="silenced as another error"):
        layer(tg.ones(1), fails=True)
    assert seen == [("always", None)]


def test_an_error_in_a_hook(tg):
    layer, seen = Doubled(tg), []
    layer.register_forward_hook(lambda m, args, out: 1 / 0)
    layer.register_forward_hook(lambda m, args, out: seen.append(out.tolist()), always_call=True)
    with pytest.raises(ZeroDivisionError):
        layer(tg.ones(1))
    assert seen == [[2.0]]


def test_forward_hooks_see_the_output_before_the_border(tg):
    """What a forward hook replaces is what the backward hooks are about."""
    layer, seen = Doubled(tg), []
    layer.register_full_backward_hook(lambda m, inputs, outputs: seen.append((inputs[0].item(), outputs[0].item())))
    layer.register_forward_hook(lambda m, args, out: out * 3)
    x = tg.ones(1, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [(6.0, 1.0)]


def test_old_backward_hooks(tg):
    layer, seen = Doubled(tg), []
    handle = layer.register_backward_hook(lambda m, inputs, outputs: seen.append((len(inputs), outputs[0].tolist())))
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        layer.register_full_backward_hook(lambda *args: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer(tg.ones(2, requires_grad=True)).sum().backward()
    assert seen == [(2, [1.0, 1.0])]
    handle.remove()
    layer = Doubled(tg)
    layer.register_full_backward_hook(lambda *args: None)
    with pytest.raises(RuntimeError, match="Cannot use both"):
        layer.register_backward_hook(lambda *args: None)


def test_registration_hooks(tg):
    module, seen = global_hooks(tg), []
    handles = [
        module.register_module_parameter_registration_hook(lambda m, name, p: seen.append(f"parameter {name}")),
        module.register_module_buffer_registration_hook(lambda m, name, b: seen.append(f"buffer {name}")),
        module.register_module_module_registration_hook(lambda m, name, sub: tg.nn.Identity()),
    ]
    try:
        outer = tg.nn.Module()
        outer.w = tg.nn.Parameter(tg.ones(1))
        outer.register_buffer("b", tg.ones(1))
        outer.inner = tg.nn.Tanh()
    finally:
        for handle in handles:
            handle.remove()
    assert seen == ["parameter w", "buffer b"] and type(outer.inner).__name__ == "Identity"


KINDS = ["forward", "pre", "backward", "all forward", "kwargs"]


def register(tg, layer, kind):
    if kind == "forward":
        return layer.register_forward_hook(lambda m, args, out: out * 3)
    if kind == "pre":
        return layer.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    if kind == "backward":
        return layer.register_full_backward_hook(lambda m, inputs, outputs: (inputs[0] * 5,))
    if kind == "kwargs":
        return layer.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["more"], with_kwargs=True)
    return global_hooks(tg).register_module_forward_hook(lambda m, args, out: out * 7)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_calls_notice_hooks(tg, maybe_compile, kind):
    """Three calls without, three with, three without one."""

    def run(wrap):
        layer, found = Doubled(tg), []

        def step(x):
            x = x * 1
            layer.factor.grad = None
            out = layer(x, more=0.5)
            out.sum().backward()
            return out.detach(), layer.factor.grad.clone()

        step = wrap(step)
        for i in range(9):
            if i == 3:
                handle = register(tg, layer, kind)
            if i == 6:
                handle.remove()
            x = tg.tensor([1.0 + i, -2.0], requires_grad=True)
            out, of_factor = step(x)
            found.append([*out.tolist(), of_factor.item(), *x.grad.tolist()])
        return np.array(found)

    np.testing.assert_allclose(run(maybe_compile), run(lambda step: step), rtol=1e-6)


# ------------------------------------------------------------------------------------------------------------- state


def test_hooks_of_saving(tg):
    model, seen = tg.nn.Sequential(Doubled(tg)), []
    model[0].register_state_dict_pre_hook(lambda m, prefix, keep: seen.append((prefix, keep)))

    def add(m, state, prefix, metadata):
        state[prefix + "more"] = metadata["version"]

    model[0].register_state_dict_post_hook(add)
    state = model.state_dict()
    assert list(state) == ["0.factor", "0.more"] and state["0.more"] == 1 and seen == [("0.", False)]
    assert state._metadata["0"] == {"version": 1}
    handle = model._register_state_dict_hook(lambda m, state, prefix, metadata: {"other": 1})
    assert model.state_dict() == {"other": 1}
    handle.remove()
    model.register_state_dict_post_hook(lambda m, state, prefix, metadata: state)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        model.state_dict()


def test_hooks_before_loading(tg):
    model, seen = tg.nn.Sequential(Doubled(tg)), []

    def rename(state, prefix, metadata, strict, missing, unexpected, errors):
        seen.append((prefix, strict))
        if prefix + "old" in state:
            state[prefix + "factor"] = state.pop(prefix + "old")

    model[0]._register_load_state_dict_pre_hook(rename)
    model[0].register_load_state_dict_pre_hook(lambda m, *args: seen.append(m is model[0]))
    assert model.load_state_dict({"0.old": tg.full((1,), 4.0)}).missing_keys == []
    assert model[0].factor.item() == 4.0 and seen == [("0.", True), True]


def test_hooks_after_loading(tg):
    model, seen = tg.nn.Sequential(Doubled(tg)), []

    def after(m, keys):
        seen.append((m.factor.item(), list(keys.missing_keys), list(keys.unexpected_keys)))
        keys.unexpected_keys.clear()

    handle = model[0].register_load_state_dict_post_hook(after)
    model.load_state_dict({"0.factor": tg.full((1,), 4.0), "0.x": tg.ones(1)})
    assert seen == [(4.0, [], ["0.x"])]
    handle.remove()
    model.register_load_state_dict_post_hook(lambda m, keys: keys)
    with pytest.raises(AssertionError, match="are not expected to return new values"):
        model.load_state_dict({"0.factor": tg.full((1,), 5.0)})


def test_state_dict_by_position(tg):
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        assert list(Doubled(tg).state_dict({}, "a.")) == ["a.factor"]


# ------------------------------------------------------------------------------------------------------------ others


def test_set_submodule(tg):
    model = tg.nn.Sequential(tg.nn.Sequential(tg.nn.Linear(1, 2)), tg.nn.Tanh())
    model.set_submodule("0.0", tg.nn.ReLU())
    model.set_submodule("0.new", tg.nn.Sigmoid())
    assert [type(m).__name__ for m in model[0]] == ["ReLU", "Sigmoid"]
    with pytest.raises(ValueError, match="Cannot set the submodule without a target name"):
        model.set_submodule("", tg.nn.ReLU())
    with pytest.raises(AttributeError, match="Sequential has no attribute `x`"):
        model.set_submodule("x.y", tg.nn.ReLU())
    with pytest.raises(AttributeError, match="Sequential has no attribute `x`"):
        model.set_submodule("x", tg.nn.ReLU(), strict=True)


def test_to_empty(tg):
    layer = tg.nn.Linear(2, 3)
    weight, address = layer.weight, layer.weight.data_ptr()
    assert layer.to_empty(device="cpu") is layer and layer.weight is weight and weight.shape == (3, 2)
    assert weight.data_ptr() != address


def test_module_compile(tg):
    tg.manual_seed(0)
    layer = tg.nn.Linear(2, 2)
    x = tg.ones(3, 2)
    expected = layer(x).detach().tolist()
    assert layer.compile() is None
    for _ in range(4):
        out = layer(x)
        assert np.allclose(out.detach().tolist(), expected, rtol=1e-6)
        layer.zero_grad()
        out.sum().backward()
        assert layer.weight.grad.tolist() == [[3.0, 3.0]] * 2
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_sequences_that_are_joined(tg):
    nn = tg.nn
    a, b = nn.Sequential(nn.Tanh()), nn.Sequential(nn.ReLU(), nn.Sigmoid())
    names = lambda modules: [type(m).__name__ for m in modules]  # noqa: E731
    assert names(a + b) == ["Tanh", "ReLU", "Sigmoid"] and names(b * 2) == names(2 * b) == ["ReLU", "Sigmoid"] * 2
    assert (b * 2)[0] is b[0] and len(b) == 2
    a += b
    a *= 2
    assert names(a) == ["Tanh", "ReLU", "Sigmoid"] * 2
    with pytest.raises(ValueError, match="supports only objects of Sequential class"):
        a + nn.Tanh()
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        b * 0
    with pytest.raises(TypeError, match="unsupported operand type"):
        b * 1.5
    assert names(nn.ModuleList([nn.Tanh()]) + [nn.ReLU()]) == ["Tanh", "ReLU"]
