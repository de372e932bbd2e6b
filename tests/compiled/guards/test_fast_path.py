"""What the usual call must notice by itself: it is called again and again before, so that it is the one that looks."""

import types

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.replay.fast_path import MISS

ITEMS = [1.0, 2.0]
TABLE = {"a": 1.0}
PAIR = (1.0, 2.0)
SCALE = 1.0
SETTINGS = types.SimpleNamespace(scale=1.0)


def warmed(function, *args):
    """`function`, compiled, whose calls are usual by now."""
    step = tg.compile(function)
    for _ in range(4):
        step(*args)
    assert step._usual is not None and step._usual(args) is not MISS
    return step


def uses_list(x):
    return x * (sum(ITEMS) if ITEMS is not None else 10.0)


def uses_dict(x):
    return x * TABLE.get("a", 5.0)


def uses_tuple(x):
    return x * PAIR[0]


def uses_global(x):
    return x * SCALE


def uses_attribute(x):
    return x * getattr(SETTINGS, "scale", 7.0)


CHANGES = {
    "a list is bound to None": (uses_list, lambda m: m.setitem(globals(), "ITEMS", None)),
    "an item of a list": (uses_list, lambda m: m.setitem(globals(), "ITEMS", [1.0, 3.0])),
    "a list grows": (uses_list, lambda m: m.setitem(globals(), "ITEMS", [1.0, 2.0, 3.0])),
    "a dict's value": (uses_dict, lambda m: m.setitem(TABLE, "a", 2.0)),
    "a dict's key goes": (uses_dict, lambda m: m.delitem(TABLE, "a")),
    "another tuple": (uses_tuple, lambda m: m.setitem(globals(), "PAIR", (3.0, 2.0))),
    "a global": (uses_global, lambda m: m.setitem(globals(), "SCALE", 4.0)),
    "an attribute": (uses_attribute, lambda m: m.setattr(SETTINGS, "scale", 4.0)),
    "an attribute goes": (uses_attribute, lambda m: m.delattr(SETTINGS, "scale")),
    "an attribute comes": (uses_attribute, lambda m: m.setattr(SETTINGS, "another", 1.0, raising=False)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_noticed_and_so_is_its_end(monkeypatch, name):
    function, change = CHANGES[name]
    x = tg.ones(2)
    step = warmed(function, x)
    for _ in range(2):
        with monkeypatch.context() as patch:
            change(patch)
            for _ in range(3):
                np.testing.assert_array_equal(step(x).ndarray, function(x).ndarray)
        for _ in range(3):
            np.testing.assert_array_equal(step(x).ndarray, function(x).ndarray)


def test_a_cell_that_is_emptied():
    def make():
        factor = 2.0

        def empty():
            nonlocal factor
            del factor

        return (lambda x: x * factor), empty

    function, empty = make()
    step = warmed(function, tg.ones(2))
    empty()
    with pytest.raises(NameError):
        step(tg.ones(2))


def training():
    w, v = tg.ones(2, requires_grad=True), tg.ones(2, requires_grad=True)
    optimizer = tg.optim.SGD([w], lr=0.5)

    def function(x):
        optimizer.zero_grad()
        v.grad = None
        loss = (w * x).sum() + (v * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    return w, v, optimizer, function


def replace_group(optimizer, v):
    optimizer.param_groups[0] = {**optimizer.param_groups[0], "params": [v]}


@pytest.mark.parametrize(
    "change",
    [
        lambda optimizer, v: optimizer.param_groups[0]["params"].append(v),
        lambda optimizer, v: optimizer.add_param_group({"params": [v]}),
        lambda optimizer, v: optimizer.param_groups.append({**optimizer.param_groups[0], "params": [v]}),
        lambda optimizer, v: optimizer.param_groups[0].update(params=[v]),
        replace_group,
        lambda optimizer, v: optimizer.param_groups[0].update(lr=0.25),
    ],
    ids=["append", "add_param_group", "append group", "params =", "other group", "lr"],
)
def test_changes_of_an_optimizer(change):
    states = []
    for compiled in (False, True):
        w, v, optimizer, function = training()
        x = tg.ones(2)
        step = warmed(function, x) if compiled else function
        for _ in range(4 if compiled else 9):
            step(x)
        own = (w.detach().ndarray.copy(), v.detach().ndarray.copy())
        change(optimizer, v)
        for _ in range(4):
            step(x)
        states.append((w.detach().ndarray - own[0], v.detach().ndarray - own[1]))
    np.testing.assert_array_equal(states[0], states[1])


def test_gradients_that_somebody_holds_are_left_alone():
    w, _, _, function = training()
    step = warmed(function, tg.ones(2))
    kept = {}
    keep = {
        "tensor": lambda: w.grad,
        "view": lambda: w.grad[:1],
        "numpy": lambda: w.grad.numpy(),
        "detached": lambda: w.grad.detach(),
        "data": lambda: w.grad.data,
    }
    for i, (name, get) in enumerate(keep.items()):
        step(tg.full((2,), float(i)))
        kept[name] = get()
        for _ in range(3):
            step(tg.full((2,), -1.0))
    for i, (name, value) in enumerate(kept.items()):
        assert np.asarray(value)[0] == i, name
    held = w.grad
    step(tg.full((2,), 5.0))
    assert w.grad is not held and held.ndarray[0] == -1.0


def test_a_usual_call_writes_gradients_where_they_are_and_leaves_their_version():
    w, _, _, function = training()
    step = warmed(function, tg.ones(2))
    identity = id(w.grad)
    step(tg.full((2,), 3.0))
    assert id(w.grad) == identity and w.grad.tolist() == [3.0, 3.0] and w.grad._version == 0


def test_results_of_several_kinds():
    w = tg.ones(2, requires_grad=True)

    def several(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return {"loss": loss.detach(), "grad": w.grad, "same": (x, x * 2)}

    x = tg.ones(2)
    step = warmed(several, x)
    for i in range(3):
        x = tg.full((2,), float(i))
        out = step(x)
        assert out["loss"].item() == 2.0 * i and out["grad"] is w.grad and out["same"][0] is x
        assert out["same"][1].tolist() == [2.0 * i] * 2
    nothing = warmed(lambda x: None, x)
    assert nothing(x) is None


def test_gradients_that_the_step_takes_away():
    w = tg.ones(2, requires_grad=True)
    optimizer = tg.optim.SGD([w], lr=0.5)

    def function(x):
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    step = warmed(function, tg.ones(2))
    w.grad = tg.ones(2)
    before = w.detach().clone()
    step(tg.ones(2))
    assert w.grad is None and (before - w.detach()).tolist() == [1.0, 1.0]  # the gradient was added to
    step(tg.ones(2))
    assert w.grad is None and (before - w.detach()).tolist() == [1.5, 1.5]


def test_slices_of_a_data_set_are_usual():
    data = tg.randn(8, 3)
    step = warmed(lambda x: x.sum(), data[:2])
    assert step._usual((data[4:6],)) is not MISS
    w = tg.randn(8, 3, requires_grad=True)
    assert step._usual((w[4:6],)) is MISS
