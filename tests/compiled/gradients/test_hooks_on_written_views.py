"""Hooks of views whose memory was written to belong to what the view is then: they run, eagerly and compiled."""

import pytest

import tracegrad as tg

VIEWS = {
    "a row": lambda x: x[0],
    "rows": lambda x: x[:1],
    "flat": lambda x: x.view(-1),
    "turned": lambda x: x.t(),
}


def quietly(x):
    with tg.no_grad():
        x.mul_(0.5)


WRITES = {
    "nothing": lambda x, v: None,
    "the base": lambda x, v: x.mul_(0.5),
    "the base, unrecorded": lambda x, v: quietly(x),
    "the view": lambda x, v: v.add_(1),
    "an empty part, then the base": lambda x, v: (v[3:].add_(1), quietly(x)),
    "the view, then the base": lambda x, v: (v.add_(1), x.mul_(0.5)),
    "the view, then the base, unrecorded": lambda x, v: (v.add_(1), quietly(x)),
    "another view": lambda x, v: x[0].mul_(3),
}
HOOKS = {
    "a hook": lambda v: v.register_hook(lambda g: g * 3),
    "kept": lambda v: v.retain_grad(),
    "both": lambda v: (v.register_hook(lambda g: g * 3), v.retain_grad()),
}


def outcome(step):
    w = tg.tensor([[0.2, 0.7, 1.2]], dtype=tg.float64, requires_grad=True)
    kept, value = step(w)
    return w.grad.flatten().tolist(), kept, value


@pytest.mark.long(fast=31, by_size=True)
@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_the_slope_is_that_of_the_hook(view, write, hook):
    def step(w):
        x = w * 2
        v = VIEWS[view](x)
        WRITES[write](x, v)
        HOOKS[hook](v)
        ((v - 0.5) ** 2).sum().backward()
        return (None if v.grad is None else v.grad.flatten().tolist()), v.flatten().tolist()

    slopes, kept, value = outcome(step)
    times = 1 if hook == "kept" else 3
    slope = [2 * (v - 0.5) * times for v in value]
    recorded = {"the base": 0.5, "the view, then the base": 0.5, "another view": 3}.get(write, 1)
    assert slopes == pytest.approx([s * recorded * 2 for s in slope])
    assert (kept is None) == (hook == "a hook") and (kept is None or kept == pytest.approx(slope))
    compiled = tg.compile(step)
    for _ in range(3):
        assert outcome(compiled) == (pytest.approx(slopes), None if kept is None else pytest.approx(kept), value)
