"""What compiled functions return in and around `inference_mode()` is an inference tensor where it is one in eager mode.

Autograd refuses to save such tensors: a call that made others would hide the error.
"""

import pytest

import tracegrad as tg

BODIES = {
    "its own mode": "with tg.inference_mode():\n        t = x * 2\n    return t",
    "its own mode, a view": "with tg.inference_mode():\n        t = x[1:]\n    return t",
    "its own mode, a part": "with tg.inference_mode():\n        t = x * 2\n    return t[1:], t",
    "work on it": "with tg.inference_mode():\n        t = x * 2\n    return t + 1",
    "a copy of it": "with tg.inference_mode():\n        t = x * 2\n    return t.clone()",
    "the mode is off": "with tg.inference_mode(False):\n        t = x * 2\n    return t",
    "no mode": "return x * 2",
    "a parameter": "return w * 2",
    "a container": "with tg.no_grad():\n        t = w * x\n    return {'a': t, 'b': [t[:1]]}",
    "several": "return [x * 1, x + 1]",
    "a look": "t = x * 2\n    if t.sum().item() > 100:\n        print()\n    return t",
    "it asks for the mode": "return x * 2 if tg.is_inference_mode_enabled() else x + 1",
    "it asks a tensor": "t = x * 2\n    return t if t.is_inference() else t + 1",
    "it asks, with gradients": "with tg.enable_grad():\n        return w + int(tg.is_inference_mode_enabled())",
    "a number": "t = (x * 2).sum()\n    return t.item(), t",
}
CALLERS = {
    "gradients": lambda i: tg.enable_grad(),
    "no_grad": lambda i: tg.no_grad(),
    "inference": lambda i: tg.inference_mode(),
    "no_grad and inference": lambda i: tg.inference_mode() if i % 2 else tg.no_grad(),
    "inference and no_grad": lambda i: tg.no_grad() if i % 2 else tg.inference_mode(),
    "all": lambda i: (tg.inference_mode, tg.enable_grad, tg.no_grad)[i % 3](),
}


def seen(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [seen(each) for each in tree]
    return tree if isinstance(tree, float) else (tree.is_inference(), tree.requires_grad, tree.tolist())


def outcomes(compile, body, caller):
    names = {"tg": tg, "w": tg.ones(3).requires_grad_()}
    exec(f"def step(x):\n    {body}", names)
    step, out = compile(names["step"]), []
    for i in range(8):
        x = tg.ones(3) * i
        with caller(i):
            result = step(x)
        out.append(seen(result))
    return out, getattr(step, "way", None)


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("body", BODIES)
def test_inference_tensors(body, caller):
    expected, _ = outcomes(lambda step: step, BODIES[body], CALLERS[caller])
    actual, way = outcomes(tg.compile, BODIES[body], CALLERS[caller])
    assert actual == expected
    if body in ("no mode", "a parameter", "several"):
        assert way == "replay"


def test_the_error_that_hung_on_it():
    step, w = tg.compile(lambda x: x * 2), tg.ones(3).requires_grad_()
    for _ in range(5):
        with tg.inference_mode():
            result = step(tg.ones(3))
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            (result * w).sum()
    assert step.way == "replay"


MADE = {
    "an argument": "def step(x):\n    return (x * w).sum()",
    "an argument that is asked": "def step(x):\n    return x * 2 if x.is_inference() else x + 1",
    "an argument that is written": "def step(x):\n    return x.add_(1)",
    "a variable": "def step(x):\n    return (kept * w).sum()",
    "an entry": "def step(x):\n    return (entries['a'] * w).sum()",
}


@pytest.mark.parametrize("looks", [False, True], ids=["", "looks"])
@pytest.mark.parametrize("made", MADE)
def test_tensors_that_are_given(made, looks):
    """A tensor of inference mode is another argument than one like it: autograd refuses to save it."""

    def outcomes(compile):
        seen_calls = []
        names = {"tg": tg, "w": tg.ones(3).requires_grad_(), "entries": {}}
        exec(MADE[made], names)
        function = names["step"]

        def looking(x):
            seen_calls.append(1)
            return function(x)

        step, out = compile(looking if looks else function), []
        for i in range(8):
            with tg.inference_mode(i in (3, 4, 6)):
                x = tg.ones(3) * i
            names["kept"] = names["entries"]["a"] = x
            try:
                out.append(seen(step(x)))
            except RuntimeError as error:
                out.append(str(error))
        return out

    assert outcomes(tg.compile) == outcomes(lambda step: step)
