"""Hooks of optimizers: order, what they may replace, and that compiled steps notice them."""

import copy
import importlib

import pytest


def of_all(tg):
    return importlib.import_module(f"{tg.__name__}.optim.optimizer")


def made(tg, kind="SGD"):
    w = tg.nn.Parameter(tg.ones(2))
    return w, getattr(tg.optim, kind)([w], lr=0.25)


def noting(into, name):
    return lambda *args: into.append(name)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "LBFGS"])
def test_order(tg, kind):
    w, optimizer = made(tg, kind)
    seen = []
    handles = [
        of_all(tg).register_optimizer_step_pre_hook(noting(seen, "all before")),
        of_all(tg).register_optimizer_step_post_hook(noting(seen, "all after")),
        optimizer.register_step_pre_hook(noting(seen, "before")),
        optimizer.register_step_post_hook(noting(seen, "after")),
    ]

    def closure():
        seen.append("closure")
        optimizer.zero_grad()
        loss = w.sum() * 0
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 0.0
    assert seen == ["all before", "before", "closure", "after", "all after"]
    for handle in handles:
        handle.remove()
    optimizer.step(closure)
    assert seen[5:] == ["closure"]


def test_a_step_of_ones_own_has_hooks_once(tg):
    seen = []

    class Own(tg.optim.SGD):
        def step(self, closure=None):
            seen.append("own")
            return super().step(closure)

    optimizer = Own([tg.nn.Parameter(tg.ones(1))], lr=0.1)
    optimizer.register_step_pre_hook(noting(seen, "before"))
    optimizer.step()
    assert seen == ["before", "own"]


def test_arguments_that_are_replaced(tg):
    _, optimizer = made(tg)
    optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: ((args[0], lambda: 7), kwargs))
    assert optimizer.step() == 7
    optimizer.register_step_pre_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        optimizer.step()


def test_hooks_of_saving_and_loading(tg):
    _, optimizer = made(tg)
    seen = []
    optimizer.register_state_dict_pre_hook(noting(seen, "save"))
    optimizer.register_state_dict_post_hook(lambda optimizer, state: {**state, "more": 1})
    optimizer.register_state_dict_post_hook(noting(seen, "first"), prepend=True)
    state = optimizer.state_dict()
    assert state["more"] == 1 and seen == ["save", "first"]

    def changed(optimizer, state):
        state["param_groups"] = [{**state["param_groups"][0], "lr": 0.5}]

    optimizer.register_load_state_dict_pre_hook(changed)
    optimizer.register_load_state_dict_post_hook(noting(seen, "loaded"))
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 0.5 and state["param_groups"][0]["lr"] == 0.25 and seen[-1] == "loaded"


def test_copies_have_no_hooks(tg):
    _, optimizer = made(tg)
    seen = []
    optimizer.register_step_pre_hook(noting(seen, "before"))
    copied = copy.deepcopy(optimizer)
    copied.step()
    assert seen == []
    copied.register_step_pre_hook(noting(seen, "copy"))
    copied.step()
    assert seen == ["copy"]


@pytest.mark.parametrize("everywhere", [False, True])
def test_compiled_steps_notice_hooks(tg, everywhere):
    """Registered and removed between calls; what a hook does to parameters happens at each step."""
    w, optimizer = made(tg)

    def train(x):
        optimizer.zero_grad()
        (w * x).sum().backward()
        optimizer.step()

    def halve(optimizer, args, kwargs):
        with tg.no_grad():
            w.mul_(0.5)

    expected, step = 1.0, tg.compile(train)
    register = of_all(tg).register_optimizer_step_post_hook if everywhere else optimizer.register_step_post_hook
    for i in range(15):
        if i == 5:
            handle = register(halve)
        if i == 10:
            handle.remove()
        step(tg.full((2,), 0.125))
        expected -= 0.03125
        if 5 <= i < 10:
            expected *= 0.5
        assert w.tolist() == [expected] * 2


@pytest.mark.parametrize("kind", ["SGD", "Adam", "LBFGS"])
@pytest.mark.parametrize(
    ("args", "keywords"), [((), ()), ((None,), ()), (("closure",), ()), ((), ("closure",))], ids=lambda x: str(len(x))
)
def test_hooks_see_the_closure_as_it_was_given(tg, kind, args, keywords):
    weight = tg.nn.Parameter(tg.ones(1))
    optimizer = getattr(tg.optim, kind)([weight], lr=0.1)
    seen = []
    optimizer.register_step_pre_hook(lambda _, args, kwargs: seen.append((args, kwargs)))
    optimizer.register_step_post_hook(lambda _, args, kwargs: seen.append((args, kwargs)))

    def closure():
        optimizer.zero_grad()
        loss = (weight * weight).sum()
        loss.backward()
        return loss

    if kind == "LBFGS" and not (keywords or "closure" in args):
        return  # it asks for one
    given = tuple(closure if x == "closure" else x for x in args)
    optimizer.step(*given, **dict.fromkeys(keywords, closure))
    assert seen == [((optimizer, *given), dict.fromkeys(keywords, closure))] * 2
