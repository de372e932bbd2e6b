"""What a checkpointed call saves is computed again: when, how often, and with which numbers."""

import contextlib
import gc
import json
import weakref

import numpy as np
import pytest
from expected import checkpoints, saved_tensors
from expected.compare import FLOAT64_ATOL, STORE

import tracegrad as tg
from tracegrad.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_debug_enabled

STORED = json.loads((STORE / "checkpoints.json").read_text(encoding="utf-8"))


def assert_same(found, expected):
    """Numbers of float64 agree to some roundings, all else is equal."""
    if isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), (found, expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        # Sums in another order: some roundings of 1e-16 of numbers up to 1e3.
        assert found == pytest.approx(expected, rel=1e-12, abs=FLOAT64_ATOL)
    else:
        assert found == expected


@pytest.mark.parametrize("name", checkpoints.PROGRAMS)
def test_programs_do_what_they_do_with_pytorch(name):
    found = checkpoints.outcome(tg, checkpoints.PROGRAMS[name])
    assert found["log"] == STORED[name]["log"]
    assert_same(found["found"], STORED[name]["found"])


@pytest.mark.parametrize("name", checkpoints.PROGRAMS)
def test_compiled_programs_do_what_they_do_with_pytorch(name):
    found = checkpoints.outcome(tg, checkpoints.PROGRAMS[name], tg.compile)
    assert found["log"] == STORED[name]["log"]
    assert_same(found["found"], STORED[name]["found"])


def gradients(expression, requiring, way):
    """The value of an expression and its gradients; and how often it was computed."""
    known, calls = saved_tensors.leaves(tg), []
    tg.manual_seed(0)
    for name in saved_tensors.FLOATING:
        known[name] = known[name].clone().double().requires_grad_(name in requiring)

    def function(*operands):
        calls.append(expression)
        # Copies, which may be written to.
        given = {name: x * 1 if name in requiring else x.clone() for name, x in zip(known, operands, strict=True)}
        return eval(expression, {"tg": tg, "F": tg.nn.functional, **given})

    if way == "plain":
        out = function(*known.values())
    elif way == "hooks":
        with tg.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            out = function(*known.values())
    else:
        out = checkpoint(function, *known.values(), use_reentrant=False, early_stop=way == "early")
    if out.requires_grad:
        out.sum().backward()
    grads = [known[name].grad for name in requiring]
    return [out.detach(), *[tg.tensor(np.nan) if g is None else g for g in grads]], len(calls)


@pytest.mark.parametrize("way", ["hooks", "early", "to its end"])
@pytest.mark.parametrize("expression", saved_tensors.expressions())
def test_gradients_of_operations(expression, way):
    """Of each operation, in place ones too: what is packed is what the derivative reads, whatever is written then."""
    names = [name for name in saved_tensors.operands_of(expression) if name in saved_tensors.FLOATING]
    for requiring in [names, *([name] for name in names if len(names) > 1)]:
        (found, calls), (expected, _) = (gradients(expression, requiring, each) for each in (way, "plain"))
        assert calls <= (1 if way == "hooks" else 2)
        for one, other in zip(found, expected, strict=True):
            # In float64 composites are computed in one go, or by their primitives: some tens of roundings of 1e-16.
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-12)


def test_nothing_but_the_arguments_is_kept():
    alive = []

    def function(x):
        for _ in range(5):
            x = x.sin() * 1.5
            alive.append(weakref.ref(x.ndarray))
        return x

    x = tg.ones(2, requires_grad=True)
    out = checkpoint(function, x, use_reentrant=False)
    assert [reference() is None for reference in alive] == [True] * 4 + [False]
    out.sum().backward()
    assert [reference() is None for reference in alive[5:]] == [True] * len(alive[5:]) and len(alive) > 5


def test_a_write_to_what_is_saved_is_an_error_again():
    """PyTorch computes with what was written."""

    def function(x):
        y, z = x.sin(), x.cos()
        saved = y * z
        y.add_(1)
        return saved * y

    for call in (function, lambda x: checkpoint(function, x, use_reentrant=False)):
        x = tg.tensor([1.0, 2.0], requires_grad=True)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            call(x).sum().backward()


@pytest.mark.parametrize("globally", [False, True])
def test_debug_shows_the_operations_of_both_calls(globally):
    calls = []

    def function(x):
        calls.append(x)
        return x.exp().sin() if len(calls) == 1 else x.exp()

    x = tg.ones(2, requires_grad=True)
    with set_checkpoint_debug_enabled(True if globally else None):
        out = checkpoint(function, x, use_reentrant=False, debug=not globally)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved") as caught:
        out.sum().backward()
    first, again = str(caught.value).split("Operations executed during recomputation")
    line = f"{__file__}:{function.__code__.co_firstlineno + 2}"
    assert f"sin(f32[2])  at {line}" in first and f"exp(f32[2])  at {line}" in first
    assert "exp(f32[2])" in again and "sin(" not in again
    assert f"{function.__qualname__} at {__file__}" in first


def test_errors_name_the_call_and_the_help():
    calls = []
    x = tg.ones(2, requires_grad=True)
    out = checkpoint(lambda x: (calls.append(x), x[: len(calls)].exp())[1], x, use_reentrant=False)
    with pytest.raises(CheckpointError) as caught:
        out.sum().backward()
    message = str(caught.value)
    assert "saved metadata: {'shape': tracegrad.Size([1])" in message and f"at {__file__}:" in message
    assert "must compute the same each time" in message and "debug=True" in message


def test_functions_that_catch_exceptions_do_not_see_that_all_is_there():
    seen = []

    def function(x):
        try:
            y = x.exp()
        except Exception:
            seen.append("caught")
            return x
        seen.append("computed")
        return y

    x = tg.ones(2, requires_grad=True)
    checkpoint(function, x, use_reentrant=False).sum().backward()
    assert seen == ["computed"] and tg.equal(x.grad, x.exp())


class Hooked:
    """A step in which hooks of saved tensors have effects; none of them may be missing, or be there twice."""

    def __init__(self, wrap):
        self.seen, self.w = [], tg.tensor([1.0, 2.0], requires_grad=True)
        self.step = wrap(self.call)

    def call(self, x):
        self.w.grad = None
        with tg.autograd.graph.saved_tensors_hooks(self.pack, self.unpack):
            out = (x * self.w).exp().sum()
        out.backward()
        return out.detach()

    def pack(self, tensor):
        self.seen.append("pack")
        return tensor * 2

    def unpack(self, tensor):
        self.seen.append("unpack")
        return tensor

    def run(self):
        found = [(self.step(tg.ones(2) * 0.1 * i).item(), self.w.grad.tolist()) for i in range(6)]
        return found, self.seen


def test_hooks_in_compiled_functions_are_called_as_in_eager_mode():
    (found, seen), (expected, all_seen) = Hooked(tg.compile).run(), Hooked(lambda step: step).run()
    assert seen == all_seen
    np.testing.assert_allclose(
        np.hstack([np.hstack(each) for each in found]), np.hstack([np.hstack(e) for e in expected]), rtol=1e-6
    )


@pytest.mark.parametrize("way", ["hooks", "checkpoint"])
def test_histories_with_hooks_are_not_replayed(way):
    """A compiled forward pass differentiated outside: hooks would not be asked, functions not be called again."""
    seen, w = [], tg.tensor([1.0, 2.0], requires_grad=True)

    def inside(x):
        seen.append("call")
        return (x * w).exp()

    def forward(x):
        if way == "checkpoint":
            return checkpoint(inside, x, use_reentrant=False)
        with tg.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
            return inside(x)

    found = []
    for call in (forward, tg.compile(forward)):
        seen.clear()
        for _ in range(5):
            w.grad = None
            call(tg.ones(2)).sum().backward()
        found.append((len(seen), w.grad.tolist()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)  # float32: one rounding is 6e-8 of the number


def test_training_steps_are_replayed():
    model = tg.nn.Sequential(
        tg.nn.Linear(3, 4), tg.nn.GELU(), tg.nn.Dropout(0.3), tg.nn.BatchNorm1d(4), tg.nn.Linear(4, 1)
    )
    optimizer = tg.optim.Adam(model.parameters())

    @tg.compile
    def step(x):
        optimizer.zero_grad()
        hidden = checkpoint(model[0], x, use_reentrant=False)
        loss = checkpoint(model[1:], hidden, use_reentrant=False).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    ways = [(step(tg.ones(5, 3)), step.way)[1] for _ in range(4)]
    assert ways[1:] == ["replay"] * 3


def test_nothing_is_left_of_a_backward_pass():
    x = tg.ones(3, requires_grad=True)
    out = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    node = weakref.ref(out.grad_fn)
    out.sum().backward()
    del out
    gc.collect()
    assert node() is None


@pytest.mark.parametrize("where", ["compiled", "deferred"])
def test_a_forward_pass_in_a_program_and_a_backward_pass_outside(where):
    """The first call computes composites in steps, so the second does; each layer is one for which these differ."""
    layers = [tg.nn.LayerNorm(4), tg.nn.GELU(), tg.nn.Softplus(), tg.nn.SiLU(), tg.nn.Softmax(-1), tg.nn.LeakyReLU()]
    block = tg.nn.Sequential(tg.nn.Linear(4, 4), *layers)

    def forward(x):
        return tg.utils.checkpoint.checkpoint(block, x, use_reentrant=False).pow(2).sum()

    def gradients(forward, around):
        found = []
        for i in range(4):
            block.zero_grad()
            with around():
                loss = forward(tg.arange(8.0).view(2, 4) / 8 - i)
            loss.backward()
            found.append([p.grad.clone() for p in block.parameters()])
        return found

    expected = gradients(forward, contextlib.nullcontext)
    compiled = tg.compile(forward) if where == "compiled" else forward
    found = gradients(compiled, tg.deferred if where == "deferred" else contextlib.nullcontext)
    for one, other in zip(found, expected, strict=True):  # a few roundings: in steps and by numpy's forms
        assert all(tg.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(one, other, strict=True))


WAYS = {
    "eager": lambda function: function,
    "deferred": lambda function: tg.deferred()(function),
    "compiled": lambda function: tg.compile(function),
}
COMPOSITES = {
    "linear": lambda: tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.ReLU(), tg.nn.Linear(8, 4)),
    "normalised": lambda: tg.nn.Sequential(tg.nn.LayerNorm(4), tg.nn.Linear(4, 4), tg.nn.GELU()),
    "batches": lambda: tg.nn.Sequential(tg.nn.Linear(4, 4), tg.nn.BatchNorm1d(4), tg.nn.SiLU()),
    "attention": lambda: tg.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True),
    "recurrent": lambda: tg.nn.GRU(4, 4),
    "convolution": lambda: tg.nn.Sequential(tg.nn.Unflatten(1, (1, 4)), tg.nn.Conv1d(1, 2, 3), tg.nn.Softmax(-1)),
}


@pytest.mark.long(fast=13)
@pytest.mark.parametrize("name", COMPOSITES)
@pytest.mark.parametrize("backward", WAYS)
@pytest.mark.parametrize("forward", WAYS)
def test_one_way_forward_and_another_one_back(forward, backward, name):
    """A program that begins in eager mode is noted from some step on, be it between the passes."""
    tg.manual_seed(0)
    model = COMPOSITES[name]().double()

    def loss(x):
        out = checkpoint(model, x, use_reentrant=False)
        return (out[0] if isinstance(out, tuple) else out).square().mean()

    there, back = WAYS[forward](loss), WAYS[backward](lambda value: value.backward())
    for i in range(4):
        x = tg.linspace(-1, 1 + i, 12, dtype=tg.float64).sin().reshape(3, 4)
        model.zero_grad()
        loss(x).backward()
        expected = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        back(there(x))
        for found, wanted in zip([p.grad for p in model.parameters()], expected, strict=True):
            # float64: sums in another order, some roundings of 1e-16 of numbers about 1.
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-10, atol=1e-12)


#: What becomes of the operands of an operation when it is done again.
OTHERWISE = {
    "rows": lambda x: x[:1], "columns": lambda x: x[..., :2], "more": lambda x: tg.cat([x, x]),
    "one axis": lambda x: x.reshape(-1), "an axis more": lambda x: x[None],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # about sizes that differ, and means of nothing
@pytest.mark.parametrize("otherwise", OTHERWISE)
@pytest.mark.parametrize("expression", saved_tensors.expressions())
def test_derivatives_refuse_operands_of_another_size(expression, otherwise):
    """Where nobody compares, each derivative meets what it is given: a gradient, or an error of PyTorch's kind. What
    the function itself refuses is the function's."""
    names = [name for name in saved_tensors.operands_of(expression) if name in saved_tensors.FLOATING]
    for changed in [names, *([name] for name in names if len(names) > 1)]:
        leaves, first, refused = saved_tensors.leaves(tg), [True], []
        for name in saved_tensors.FLOATING:
            leaves[name] = leaves[name].clone().requires_grad_()

        def function(*operands, leaves=leaves, changed=changed, first=first, refused=refused):
            change = (lambda x: x) if first.pop() else OTHERWISE[otherwise]
            first.append(False)
            known = {name: x.clone() for name, x in zip(leaves, operands, strict=True)}
            known.update({name: change(known[name]) for name in changed})
            try:
                return eval(expression, {"tg": tg, "F": tg.nn.functional, **known})
            except Exception as error:
                refused.append(error)
                raise

        out = checkpoint(function, *leaves.values(), use_reentrant=False, determinism_check="none")
        if not out.requires_grad:
            continue
        try:
            out.sum().backward()
        except RuntimeError:
            continue
        except Exception as error:
            if error not in refused:
                raise
            continue
        for name in names:
            grad = leaves[name].grad
            assert grad is None or grad.shape == leaves[name].shape


@pytest.mark.parametrize("product", ["x @ w", "F.linear(x, w.t())", "tg.mm(x, w)"])
def test_products_of_another_size_are_refused_in_their_words(product):
    x, w, calls = tg.ones(2, 3, requires_grad=True), tg.ones(3, 4, requires_grad=True), []

    def function(x):
        calls.append(x)
        return eval(product, {"tg": tg, "F": tg.nn.functional, "x": x[: 3 - len(calls)], "w": w}).exp()

    out = checkpoint(function, x, use_reentrant=False, determinism_check="none")
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(3x1 and 2x4\)"):
        out.sum().backward()
