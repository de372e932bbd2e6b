"""Hooks of saved tensors around a compiled call: what they give back is what the derivative is computed from."""

import contextlib

import pytest

from tracegrad.compiler.errors import CaptureError

STEPS = {
    "trains": lambda tg, w: lambda x: (w * x).exp().sum().backward(),
    "differentiable": lambda tg, w: lambda x: (w * x).exp().sum(),
    "looks": lambda tg, w: lambda x: ((w * x).exp().sum().backward(), float(w.grad.sum())),
}
COMPILED = {"compiled": lambda tg: tg.compile, "fullgraph": lambda tg: lambda f: tg.compile(f, fullgraph=True)}


def gradients(tg, how, compiled, at):
    """The gradient after each of six calls, and how often the hook packed; the hooks are there at the calls `at`."""
    w, packed, found = tg.ones(2, requires_grad=True), [0], []

    def pack(tensor):
        packed[0] += 1
        return tensor * 2

    step = compiled(STEPS[how](tg, w))
    for i in range(6):
        w.grad, before = None, packed[0]
        hooks = tg.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept) if i in at else contextlib.nullcontext()
        with hooks:
            out = step(tg.ones(2) * (i + 1) * 0.1)
        if how == "differentiable":
            out.backward()
        found.append((w.grad.tolist(), packed[0] > before))
    return found


@pytest.mark.parametrize("at", [(0,), (0, 1), (3, 4), (2, 5), range(6)], ids=str)
@pytest.mark.parametrize(
    ("how", "compiled"), [(how, c) for how in STEPS for c in COMPILED if (how, c) != ("looks", "fullgraph")]
)
def test_hooks_are_obeyed(tg, how, compiled, at):
    expected = gradients(tg, how, lambda step: step, at)
    assert [is_packed for _, is_packed in expected] == [i in at for i in range(6)]
    for (found, is_packed), (eager, was_packed) in zip(
        gradients(tg, how, COMPILED[compiled](tg), at), expected, strict=True
    ):
        assert found == pytest.approx(eager, rel=1e-6) and is_packed is was_packed


def test_replays_go_on_outside(tg):
    """Hooks make no other program: a call within them is eager, and the next one is replayed as before."""
    w = tg.ones(2, requires_grad=True)
    step = tg.compile(STEPS["trains"](tg, w))
    ways = []
    for i in range(6):
        hooks = tg.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x) if i == 3 else contextlib.nullcontext()
        with hooks:
            step(tg.ones(2))
        ways.append(step.way)
    assert ways[2:] == ["replay", "eager", "replay", "replay"] and len(step.specialisations) <= 2


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("how", [how for how in STEPS if how != "looks"])
def test_hooks_within_the_function(tg, how, compiled):
    """What they keep of a result that is differentiated outside is the program's business: no program knows it."""

    def within(compile, factor):
        w, found = tg.ones(2, requires_grad=True), []

        def step(x):
            with tg.autograd.graph.saved_tensors_hooks(lambda kept: kept * factor[0], lambda kept: kept + 1):
                return STEPS[how](tg, w)(x)

        step = compile(step)
        for i in range(6):
            w.grad, factor[0] = None, 1.0 + i // 3
            out = step(tg.ones(2) * (i + 1) * 0.1)
            if how == "differentiable":
                out.backward()
            found.append(w.grad.tolist())
        return found

    if (how, compiled) == ("differentiable", "fullgraph"):
        with pytest.raises(CaptureError, match="tensors that hooks have saved"):
            within(COMPILED[compiled](tg), [1.0])
    else:
        expected = within(lambda step: step, [1.0])
        assert within(COMPILED[compiled](tg), [1.0]) == [pytest.approx(eager, rel=1e-6) for eager in expected]
