"""Grad and inference modes around re-recorded calls that are expected, and then come in another mode."""

import itertools

import pytest

import tracegrad as tg

ALIKE = 6  # calls in one mode, so that their events are expected in it
MODES = {"grad": tg.enable_grad, "no_grad": tg.no_grad, "inference": tg.inference_mode}
WORK = {
    "a model": lambda model, x: model(x),
    "a function": lambda model, x: tg.softmax(model(x), 1),
    "a view": lambda model, x: model(x)[0],
    "a loss": lambda model, x: tg.nn.functional.mse_loss(model(x), x),
    "ops": lambda model, x: x * 2 + 1,
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize(("first", "then"), itertools.product(MODES, MODES))
def test_results_are_what_their_call_makes_of_them(work, first, then):
    model, numbers = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.ReLU()), []

    def function(x):
        result = WORK[work](model, x)
        numbers.append(result.sum().item())  # seen: Python runs at each call
        numbers[-1] = round(numbers[-1], 3)
        return result

    step, x = tg.compile(function), tg.randn(3, 3)
    for mode in [first] * ALIKE + [then] * 3 + [first]:
        with MODES[mode]():
            compiled, eager = step(x), function(x)
        assert compiled.is_inference() is eager.is_inference() is (mode == "inference")
        assert compiled.requires_grad is eager.requires_grad
    assert step.way == "re-record"
