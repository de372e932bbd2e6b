"""``utils.checkpoint``: the numbers of the call itself, eager and compiled, and how often the function runs."""

import warnings

import numpy as np
import pytest


def network(tg, dropout):
    nn = tg.nn
    layers = [nn.Linear(3, 5), nn.Tanh(), nn.Dropout(0.3 if dropout else 0.0), nn.Linear(5, 4), nn.Tanh()]
    model = nn.Sequential(*layers, nn.Linear(4, 1)).double()
    with tg.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(tg.tensor(np.sin(np.arange(p.numel()) + i).reshape(tuple(p.shape))))
    return model


def trained(tg, wrap, checkpoint, dropout):
    tg.manual_seed(0)
    model = network(tg, dropout)
    first, second = model[:3], model[3:]
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        h = checkpoint(first, (x * 1).requires_grad_())
        y, z = checkpoint(lambda a, b: (second(a) + b, a * 2), h, h.sum())
        loss = (y**2).mean() + z.mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = wrap(step)
    x = tg.tensor(np.sin(np.arange(24.0)).reshape(8, 3))
    return [step(x * (1 + i)).item() for i in range(5)] + [p.grad.sum().item() for p in model.parameters()]


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("reentrant", [False, True])
def test_steps(tg, maybe_compile, reentrant, dropout):
    def checkpointed(function, *args):
        return tg.utils.checkpoint.checkpoint(function, *args, use_reentrant=reentrant)

    found = trained(tg, maybe_compile, checkpointed, dropout)
    expected = trained(tg, lambda step: step, lambda function, *args: function(*args), dropout)
    # Float64; what saturated layers leave of a gradient is as exact as the numbers near 1 that it is a difference of.
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("reentrant", [False, True])
def test_the_function_runs_again(tg, reentrant):
    seen = []

    def function(x):
        seen.append(tg.is_grad_enabled())
        return x.sin() * x

    x = tg.tensor([1.0, 2.0], requires_grad=True)
    out = tg.utils.checkpoint.checkpoint(function, x, use_reentrant=reentrant)
    assert seen == [not reentrant]
    out.sum().backward()
    assert seen == [not reentrant, True]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        out.sum().backward()
    expected = tg.tensor([1.0, 2.0], requires_grad=True)
    function(expected).sum().backward()
    assert tg.allclose(x.grad, expected.grad)


def test_gradients_of_gradients_and_of_captured_tensors(tg):
    x, w = tg.tensor([1.0, 2.0], requires_grad=True), tg.tensor(3.0, requires_grad=True)
    function = lambda x: (x * w).sin() * x  # noqa: E731
    found = []
    for call in (function, lambda x: tg.utils.checkpoint.checkpoint(function, x, use_reentrant=False)):
        x.grad = w.grad = None
        of_x, of_w = tg.autograd.grad(call(x).sum(), (x, w), create_graph=True)
        (of_x.sum() + of_w).backward()
        found.append([*of_x.tolist(), of_w.item(), *x.grad.tolist(), w.grad.item()])
    assert np.allclose(*found, rtol=1e-5)


def test_an_operand_that_another_is_made_of(tg):
    """Gradients that go on outside are counted once."""
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    tg.utils.checkpoint.checkpoint(lambda a, b: a * b, x, y, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0] and seen == [[1.0, 2.0]]


def test_sequences(tg):
    tg.manual_seed(0)
    model, x = network(tg, False), tg.ones(2, 3, dtype=tg.float64, requires_grad=True)
    expected = model(x)
    for segments in (1, 2, 3, 6):
        out = tg.utils.checkpoint.checkpoint_sequential(model, segments, x, use_reentrant=False)
        assert tg.equal(out, expected)
    out.sum().backward()
    with pytest.raises(ValueError, match="Unexpected keyword arguments: more"):
        tg.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False, more=1)


def test_arguments(tg):
    checkpoint, x = tg.utils.checkpoint.checkpoint, tg.ones(2, requires_grad=True)
    assert checkpoint(lambda x, k: x * k, x, k=3.0, use_reentrant=False).tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="Unexpected keyword arguments: k"):
        checkpoint(lambda x, k: x * k, x, k=3.0, use_reentrant=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(lambda x: x * 2, x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(lambda y: y * x, tg.ones(2), use_reentrant=True).requires_grad
    with tg.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checkpoint(lambda x: x * 2, x, use_reentrant=False).grad_fn is None


def test_contexts_of_both_calls(tg):
    seen = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *exc_info):
            seen.append(f"end of {self.name}")

    x = tg.ones(2, requires_grad=True)
    out = tg.utils.checkpoint.checkpoint(
        lambda x: x * x, x, use_reentrant=False, context_fn=lambda: (Note("first"), Note("second"))
    )
    assert seen == ["first", "end of first"]
    out.sum().backward()
    assert seen[2:] == ["second", "end of second"]


def test_functions_that_compute_something_else(tg):
    sizes = iter([2, 3])
    x = tg.ones(3, requires_grad=True)
    out = tg.utils.checkpoint.checkpoint(lambda x: x[: next(sizes)].exp(), x, use_reentrant=False)
    with pytest.raises(tg.utils.checkpoint.CheckpointError, match="have different metadata"):
        out.sum().backward()


TRANSFORMED = {
    "vmap": lambda func, f, x: func.vmap(f)(x),
    "grad": lambda func, f, x: func.grad(f)(x[0]),
    "jvp": lambda func, f, x: func.jvp(f, (x[0],), (x[1],))[1],
    "jacrev": lambda func, f, x: func.jacrev(f)(x[0]),
    "grad of vmap": lambda func, f, x: func.grad(lambda x: func.vmap(f)(x).sum())(x),
    "vmap of grad": lambda func, f, x: func.vmap(func.grad(f))(x),
    "vmap of vmap of grad": lambda func, f, x: func.vmap(func.vmap(func.grad(f)))(x[None]),
}


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("reentrant", [False, True])
def test_within_transforms(tg, maybe_compile, name, reentrant):
    """The numbers, and the gradients that somebody outside asks for, are those of the function itself."""
    checkpoint = tg.utils.checkpoint.checkpoint

    def f(x):
        return ((x * w).sin() * 2).exp().sum()

    def outcome(function):
        x = tg.arange(6.0).reshape(3, 2).requires_grad_()
        step = maybe_compile(lambda x: TRANSFORMED[name](tg.func, function, x))
        *_, found = (step(x) for _ in range(3))
        (found * found).sum().backward()
        gradients, w.grad = [x.grad, w.grad], None
        return [found.detach(), *gradients]

    w = tg.tensor([0.3, -0.2], requires_grad=True)
    expected = outcome(f)
    got = outcome(lambda x: checkpoint(f, x, use_reentrant=reentrant))
    for a, b in zip(got, expected, strict=True):
        tg.testing.assert_close(a, b)


@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("reentrant", [False, True])
def test_draws_within_transforms(tg, randomness, reentrant):
    """Slices draw what they draw without a checkpoint, and so does who draws afterwards."""

    def outcome(function):
        tg.manual_seed(0)
        return tg.func.vmap(tg.func.grad(function), randomness=randomness)(tg.ones(3, 4)), tg.rand(1)

    def f(x):
        return (tg.nn.functional.dropout(x) * x).sum()

    expected = outcome(f)
    got = outcome(lambda x: tg.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant))
    assert all(tg.equal(a, b) for a, b in zip(got, expected, strict=True))


@pytest.mark.parametrize("hooked", [False, True])
def test_numbers_that_change_are_none_of_the_tensors_saved(tg, maybe_compile, hooked):
    """In compiled functions they are data of the program: as tensors, which no hook of saved tensors is shown."""
    w, shown = tg.ones(1, dtype=tg.float64, requires_grad=True), []
    power = 0.5

    def scaled(p):
        return (p * power).sum()

    def shapes(tensor):
        shown.append(tuple(tensor.shape))
        return tensor

    def step(x):
        nonlocal power
        power = power * 0.5
        if hooked:
            with tg.autograd.graph.saved_tensors_hooks(shapes, lambda tensor: tensor):
                out = scaled(w) * x
        else:
            out = tg.utils.checkpoint.checkpoint(scaled, w, use_reentrant=False) * x
        w.lerp(0.7 * out, 0.3).mean().backward()

    step, found = maybe_compile(step), []
    for i in range(6):
        w.grad, power = None, 0.5 * i
        shown.clear()
        step(tg.ones(1, dtype=tg.float64))
        found.append((w.grad.item(), list(shown)))
    gradients = [0.7 + 0.3 * 0.7 * 0.25 * i for i in range(6)]
    assert [gradient for gradient, _ in found] == pytest.approx(gradients, rel=1e-12)
    assert all(shapes == found[0][1] for _, shapes in found)


def test_a_reentrant_call_refuses_passes_to_named_inputs(tg, maybe_compile):
    checkpoint = tg.utils.checkpoint.checkpoint

    def run(x, ask):
        y = checkpoint(lambda x: (x * x).exp(), x, use_reentrant=True)
        return ask(y.sum(), x)

    asks = {
        "grad": lambda y, x: tg.autograd.grad(y, x),
        "inputs": lambda y, x: y.backward(inputs=[x]),
    }
    for ask in asks.values():
        step = maybe_compile(lambda x, ask=ask: run(x, ask))
        for _ in range(2):
            with pytest.raises(
                RuntimeError, match="torch.utils.checkpoint is incompatible with .grad\\(\\) or passing"
            ):
                step(tg.ones(2, requires_grad=True))
