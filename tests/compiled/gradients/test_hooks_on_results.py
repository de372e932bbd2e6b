"""Hooks and retain_grad() on what a compiled function returns: they are heard in later calls, as in eager mode.

A replay takes a returned view anew, so that what somebody has asked of its gradients would be lost: such a function is
re-recorded.
"""

import itertools

import pytest

import tracegrad as tg

MADE = {
    "of a parameter": "t = w{view}",
    "of an operation": "y = w * 2\n    t = y{view}",
    "of an argument": "t = x{view}",
    "of a view": "t = (w{view}).view(-1)",
    "beside a view of it": "t = w{view}\n    s = t.view(-1)",
}
ASKED = {
    "hook": "t.register_hook(lambda g: g * 10)",
    "retain_grad": "t.retain_grad()",
    "hook of the node": "t.grad_fn.register_hook(lambda into, from_: (into[0] * 5, *into[1:]))",
    "hook before the node": "t.grad_fn.register_prehook(lambda from_: (from_[0] * 5,))",
    "hook that is removed": "t.register_hook(lambda g: g * 10).remove()",
}
RETURNED = ("t", "(t, w)", "(t, y)", "(s, t)", "s")
VIEWS = ("[1:]", "[:]", ".view(-1)", "[0]", ".unsqueeze(0)", " * 1")


def outcomes(compile, source):
    """The gradients after each of five calls, and how the last was served."""
    w = tg.tensor([1.0, 2.0, 3.0]).requires_grad_()
    names = {"w": w}
    exec(source, names)
    step, out = compile(names["step"]), []
    for i in range(5):
        w.grad, x = None, (tg.ones(3) * i).requires_grad_()
        result = step(x)
        found = result if isinstance(result, tuple) else (result,)
        sum((r * r).sum() for r in found if r is not w).backward()
        out.append([t._grad if t._grad is None else t._grad.tolist() for t in (w, x, *found)])
    return out, getattr(step, "way", None)


def programs(made, asked):
    for view, returned in itertools.product(VIEWS, RETURNED):
        body = f"{MADE[made].replace('{view}', view)}\n    {ASKED[asked]}"
        if all(name not in returned or f"{name} = " in body for name in "ys"):
            yield f"def step(x):\n    {body}\n    return {returned}"


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("made", MADE)
def test_a_result_with_a_hook(made, asked):
    for source in programs(made, asked):
        expected, _ = outcomes(lambda step: step, source)
        actual, way = outcomes(tg.compile, source)
        assert actual == expected, source
        assert way == "re-record" or asked == "hook that is removed", source
