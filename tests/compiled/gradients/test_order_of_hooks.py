"""Hooks on leaves of a compiled function are called in the order of eager mode, whose engine comes to one leaf after
the other: a compiled call gives its gradients all at once. What an error in one of them leaves undone is the same."""

import pytest

import tracegrad as tg

KINDS = ("register_hook", "register_post_accumulate_grad_hook")


def model():
    tg.manual_seed(0)
    w, layer = tg.randn(2, requires_grad=True), tg.nn.Linear(2, 1)
    return {"w": w, "weight": layer.weight, "bias": layer.bias}, lambda x: layer(w).tanh() * x


def heard(compile, kind, names, since):
    """Who is told of gradients in each call; `names` have hooks from call `since` on, without them from 6 on."""
    leaves, function = model()
    step, log, handles, told = compile(function), [], [], []
    for i in range(8):
        if i == since:
            handles = [getattr(leaves[name], kind)(lambda _, name=name: log.append(name)) for name in names]
        if i == 6:
            for handle in handles:
                handle.remove()
        step(tg.ones(1)).sum().backward()
        told.append(tuple(log))
        log.clear()
    return told


@pytest.mark.parametrize("since", [0, 3])
@pytest.mark.parametrize("names", [("w",), ("bias", "w"), ("w", "weight", "bias"), ("weight", "w", "bias")])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_is_that_of_eager_mode(kind, names, since):
    expected = heard(lambda function: function, kind, names, since)
    assert heard(tg.compile, kind, names, since) == expected
    assert set(expected[4]) == set(names) and not expected[7]


def left_by_an_error(compile, kind, name):
    """The gradients of all leaves after calls whose backward pass fails in the hook of one."""
    leaves, function = model()
    step, grads = compile(function), []

    def fail(_):
        raise ArithmeticError

    getattr(leaves[name], kind)(fail)
    for _ in range(4):
        with pytest.raises(ArithmeticError):
            step(tg.ones(1)).sum().backward()
        grads.append([None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves.values()])
    return grads


@pytest.mark.parametrize("name", ["w", "weight", "bias"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_in_a_hook_leaves_the_same_undone(kind, name):
    assert left_by_an_error(tg.compile, kind, name) == left_by_an_error(lambda function: function, kind, name)
