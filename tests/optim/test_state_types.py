"""State that an optimizer cannot go on with: the classes and words are PyTorch 2.13's, and nothing is updated."""

import re

import pytest


def moments_in(dtype, *names):
    def change(tg, optimizer, p):
        for name in names:
            optimizer.state[p][name] = optimizer.state[p][name].to(getattr(tg, dtype))

    return change


def switched_on(tg, optimizer, p):
    optimizer.param_groups[0]["amsgrad"] = True


def taken_away(tg, optimizer, p):
    del optimizer.state[p]["exp_avg"]


def parameters_in_float64(tg, optimizer, p):
    p.data = p.data.double()
    p.grad = tg.ones(2, dtype=tg.float64)


INT = "result type Float can't be cast to the desired output type Long"
#: name: (optimizer, options, what changes after a step, class, words)
REFUSED = {
    "amsgrad": ("Adam", {}, switched_on, KeyError, "max_exp_avg_sq"),
    "amsgrad of AdamW": ("AdamW", {}, switched_on, KeyError, "max_exp_avg_sq"),
    "no mean": ("Adam", {}, taken_away, KeyError, "exp_avg"),
    "a wide mean": ("Adam", {}, moments_in("float64", "exp_avg"), RuntimeError, "expected dtype double for `end`"),
    "whole squares": ("Adam", {}, moments_in("int64", "exp_avg_sq"), RuntimeError, INT),
    "wide parameters": ("Adam", {}, parameters_in_float64, RuntimeError, "expected dtype float for `end` but"),
    "a whole velocity": ("SGD", {"momentum": 0.9}, moments_in("int64", "momentum_buffer"), RuntimeError, INT),
}
#: name: (optimizer, options, what changes after a step)
ACCEPTED = {
    "wide squares": ("Adam", {}, moments_in("float64", "exp_avg_sq")),
    "wide largest squares": ("Adam", {"amsgrad": True}, moments_in("float64", "max_exp_avg_sq")),
    "a wide velocity": ("SGD", {"momentum": 0.9}, moments_in("float64", "momentum_buffer")),
}


def after_a_step(tg, kind, options):
    p = tg.nn.Parameter(tg.ones(2))
    optimizer = getattr(tg.optim, kind)([p], lr=0.1, **options)
    p.grad = tg.ones(2)
    optimizer.step()
    return p, optimizer


@pytest.mark.parametrize("name", REFUSED)
def test_state_that_is_refused(tg, maybe_compile, name):
    kind, options, change, error, words = REFUSED[name]
    p, optimizer = after_a_step(tg, kind, options)
    step = maybe_compile(optimizer.step)
    step()
    change(tg, optimizer, p)
    before = p.tolist()
    for _ in range(2):
        with pytest.raises(error, match=re.escape(words)):
            step()
    assert p.tolist() == before


@pytest.mark.parametrize("name", ACCEPTED)
def test_state_that_is_accepted(tg, maybe_compile, name):
    kind, options, change = ACCEPTED[name]
    p, optimizer = after_a_step(tg, kind, options)
    change(tg, optimizer, p)
    maybe_compile(optimizer.step)()
    expected = {"wide squares": 0.8, "wide largest squares": 0.8, "a wide velocity": 0.71}[name]
    assert p.tolist() == pytest.approx([expected] * 2, rel=1e-6) and p.dtype is tg.float32


def test_state_begins_anew_where_it_was_cleared(tg):
    p, optimizer = after_a_step(tg, "Adam", {})
    optimizer.state[p] = {}
    switched_on(tg, optimizer, p)
    optimizer.step()
    assert sorted(optimizer.state[p]) == ["exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step"]
