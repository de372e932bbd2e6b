"""Derivatives in inference mode, of inference tensors, and of functions that read some: as outside of it."""

from contextlib import ExitStack

import pytest

MODES = {
    "inference": lambda tg: [tg.inference_mode()],
    "with grad mode": lambda tg: [tg.inference_mode(), tg.enable_grad()],
    "none": lambda tg: [],
}
TRANSFORMS = {
    "grad": lambda func, f, x: func.grad(f)(x),
    "grad of grad": lambda func, f, x: func.grad(lambda y: func.grad(f)(y).sum())(x),
    "vmap of grad": lambda func, f, x: func.vmap(func.grad(lambda y: y**3))(x),
    "vjp": lambda func, f, x: func.vjp(f, x)[1](func.vjp(f, x)[0])[0],
    "jvp": lambda func, f, x: func.jvp(f, (x,), (x,))[1],
    "linearize": lambda func, f, x: func.linearize(f, x)[1](x),
    "jacrev": lambda func, f, x: func.jacrev(f)(x),
    "jacfwd": lambda func, f, x: func.jacfwd(f)(x),
    "hessian": lambda func, f, x: func.hessian(f)(x),
}


def derived(tg, name, modes, seen=None):
    with contexts(modes):
        x, weights = tg.tensor([1.0, 2.0, 3.0]), tg.tensor([2.0, 3.0, 4.0])

        def f(y):
            if seen is not None:
                seen.append((tg.is_grad_enabled(), tg.is_inference_mode_enabled()))
            return (y**3 * weights).sum()

        return TRANSFORMS[name](tg.func, f, x)


def contexts(modes):
    stack = ExitStack()
    for mode in modes:
        stack.enter_context(mode)
    return stack


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_derivatives_are_the_same_in_all_modes(tg, name, mode):
    before = tg.is_grad_enabled(), tg.is_inference_mode_enabled()
    seen = []
    found, expected = derived(tg, name, MODES[mode](tg), seen), derived(tg, name, [])
    assert found.tolist() == expected.tolist() and not found.requires_grad and not found.is_inference()
    assert before == (tg.is_grad_enabled(), tg.is_inference_mode_enabled())
    if name in ("grad", "jacrev", "hessian"):
        assert set(seen) == {(True, False)}


@pytest.mark.parametrize("name", ["grad", "jacrev", "hessian"])
def test_derivatives_in_compiled_functions(tg, name):
    run = tg.compile(lambda: derived(tg, name, [tg.inference_mode()]))
    for _ in range(3):
        assert run().tolist() == derived(tg, name, []).tolist()


def test_inference_tensors_outside_of_inference_mode(tg):
    with tg.inference_mode():
        x, weights = tg.ones(3), tg.tensor([1.0, 2.0, 3.0])
    assert tg.func.grad(lambda y: (y * weights).sum())(x).tolist() == [1.0, 2.0, 3.0]
    w = tg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        w * weights


def test_nothing_beyond_the_arguments_is_recorded_in_inference_mode(tg):
    w = tg.ones(3, requires_grad=True)
    with tg.inference_mode():
        assert not tg.func.grad(lambda y: (y * w).sum())(tg.ones(3)).requires_grad
