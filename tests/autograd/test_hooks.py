"""Tensor hooks: what they see, what they may change, and their order."""

import pytest
from expected.compare import assert_close


def test_hook_sees_the_gradient(tg):
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * y).sum().backward()
    assert seen == [[6.0, 12.0]]


def test_hook_replaces_the_gradient(tg, call):
    def gradient(x):
        y = x * 3
        y.register_hook(lambda g: g * 10)
        y.sum().backward()
        return x.grad

    assert_close(call(gradient, lambda: [tg.tensor([1.0], requires_grad=True)]), [30.0])


def test_hooks_run_in_order_of_registration(tg):
    x = tg.tensor([1.0], requires_grad=True)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (x * 2).backward()
    assert x.grad.item() == 30.0


def test_removed_hook_does_not_run(tg):
    x = tg.tensor([1.0], requires_grad=True)
    handle = x.register_hook(lambda g: g * 0)
    handle.remove()
    (x * 2).backward()
    assert x.grad.item() == 2.0


def test_leaf_hook_sees_the_whole_gradient_once(tg):
    x = tg.tensor([2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x + x).backward()
    assert seen == [5.0]


def test_leaf_hook_runs_before_accumulation(tg):
    x = tg.tensor([1.0], requires_grad=True)
    x.register_hook(lambda g: g * 10)
    (x * 2).backward()
    (x * 2).backward()
    assert x.grad.item() == 40.0


def test_hook_runs_before_the_gradient_is_retained(tg):
    x = tg.tensor([1.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.backward()
    assert y.grad.item() == 5.0 and x.grad.item() == 10.0


def test_hooks_change_what_grad_returns(tg):
    x = tg.tensor([1.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 7)
    assert tg.autograd.grad(y, y, retain_graph=True)[0].item() == 7.0
    assert tg.autograd.grad(y, x)[0].item() == 14.0


def test_hooks_run_from_root_to_leaf(tg):
    order = []
    x = tg.tensor([1.0], requires_grad=True)
    y = x * 2
    z = y * 3
    for name, tensor in (("x", x), ("y", y), ("z", z)):
        tensor.register_hook(lambda g, name=name: order.append(name))
    z.backward()
    assert order == ["z", "y", "x"]


def test_post_accumulate_hook(tg):
    x = tg.tensor([1.0], requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.item()))
    (x * 2).backward()
    (x * 2).backward()
    assert seen == [2.0, 4.0]


def test_hook_needs_a_tracked_tensor(tg):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        tg.ones(1).register_hook(print)


@pytest.mark.parametrize(
    ("hook", "error", "words"),
    [
        (lambda g: g.sum(), RuntimeError, "hook '<lambda>' has changed the size of value"),
        (lambda g: g[None] * 1, RuntimeError, "hook '<lambda>' has changed the size of value"),
        (lambda g: g.double(), RuntimeError, "hook '<lambda>' has changed the type of value"),
        (lambda g: 1.0, TypeError, "expected Variable, but hook returned 'float'"),
    ],
)
@pytest.mark.parametrize("of_leaf", [True, False])
def test_a_hook_must_return_what_is_like_the_gradient(tg, of_leaf, hook, error, words):
    x = tg.ones(2, requires_grad=True)
    y = x * 2
    (x if of_leaf else y).register_hook(hook)
    with pytest.raises(error, match=words):
        y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Linear", "Conv1d", "LayerNorm"])
def test_a_leaf_has_its_gradient_before_the_pass_goes_on(tg, kind, passes):
    """In each pass, however long the leaf has been known to the tape."""
    made = {"Linear": lambda: tg.nn.Linear(4, 4), "Conv1d": lambda: tg.nn.Conv1d(4, 4, 1)}
    layers = [made.get(kind, lambda: tg.nn.LayerNorm(4))() for _ in range(3)]
    seen, graphs = [], []
    for i, layer in enumerate(layers):
        layer.register_full_backward_hook(lambda *_, i=i: seen.append(i))
        for p in layer.parameters():
            p.register_hook(lambda g, i=i: seen.append(f"hook {i}"))
            p.register_post_accumulate_grad_hook(lambda p, i=i: seen.append(f"grad {i}"))
    for _ in range(passes):
        seen.clear()
        x = tg.ones(4, 4, requires_grad=True)
        for layer in layers:
            x = layer(x)
        x.sum().backward()
        graphs.append(x)
    assert seen == [each for i in (2, 1, 0) for each in (f"hook {i}", f"grad {i}", f"hook {i}", f"grad {i}", i)]
