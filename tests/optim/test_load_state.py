"""Loading the state of an optimizer or a scheduler: all of it, or an error and no change."""

import copy
import gc
import sys

import numpy as np
import pytest
from traced import is_interrupted

import tracegrad as tg

OPTIMIZERS = {
    "SGD": lambda p: tg.optim.SGD(p, lr=0.1),
    "SGD momentum": lambda p: tg.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: tg.optim.Adam(p, lr=0.1),
    "Adam amsgrad": lambda p: tg.optim.Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1),
    "AdamW": lambda p: tg.optim.AdamW(p, lr=tg.tensor(0.1)),
}


def build(make):
    """An optimizer of two groups after one step."""
    tg.manual_seed(3)
    first, second = tg.nn.Linear(3, 2), tg.nn.Linear(2, 2)
    optimizer = make([{"params": first.parameters()}, {"params": second.parameters(), "lr": 0.5}])
    advance(optimizer)
    return optimizer


def advance(optimizer):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = p.detach() * 0.5 + 0.25
    optimizer.step()


def bits(value):
    """Everything in a state, tensors by their bytes."""
    if isinstance(value, tg.Tensor):
        return "tensor", str(value.dtype), tuple(value.shape), value.detach().numpy().tobytes()
    if isinstance(value, dict):
        return type(value).__name__, [(key, bits(part)) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [bits(part) for part in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else id(value)


def whole(optimizer):
    """What must stay: the state, the options, the parameters, and which objects hold them."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    return bits(optimizer.state_dict()), bits(parameters), id(optimizer.state), [id(g) for g in optimizer.param_groups]


def assert_refused(optimizer, state, *errors):
    before = whole(optimizer)
    with pytest.raises(errors or (ValueError,)) as caught:
        optimizer.load_state_dict(state)
    assert whole(optimizer) == before
    return caught


def entries(state):
    return [(number, key) for number, entry in state["state"].items() for key in entry]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_entry_of_every_parameter_is_checked(name):
    optimizer = build(OPTIMIZERS[name])
    good, tried = optimizer.state_dict(), 0
    for number, key in entries(good):
        bad = ["abc", [1.0], np.zeros(3), tg.zeros(7), tg.zeros(2, 3, 2), object(), {}]
        for value in bad:
            state = copy.deepcopy(good)
            state["state"][number][key] = value
            assert key in str(assert_refused(optimizer, state).value)
            tried += 1
    assert tried == 7 * len(entries(good)) and (tried > 0) == (name != "SGD")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_option_of_every_group_is_checked(name):
    optimizer = build(OPTIMIZERS[name])
    good, tried = optimizer.state_dict(), 0
    for index in range(2):
        for key, value in optimizer.defaults.items():
            if value is None:
                continue
            bad = ["0.1", [0.1, "x"], tg.zeros(3), object(), (1, 2, 3)]
            for other in bad:
                state = copy.deepcopy(good)
                state["param_groups"][index][key] = other
                assert f"param_groups[{index}]['{key}']" in str(assert_refused(optimizer, state).value)
                tried += 1
    assert tried >= 30


@pytest.mark.parametrize("name", ["Adam", "Adam amsgrad", "AdamW"])
def test_what_an_entry_lacks_is_missed_by_the_next_step(name):
    """All but the count of steps, which is looked at while it is loaded; as in PyTorch."""
    optimizer = build(OPTIMIZERS[name])
    good = copy.deepcopy(optimizer.state_dict())
    for number, key in entries(good):
        state = copy.deepcopy(good)
        del state["state"][number][key]
        if key == "step":
            assert key in str(assert_refused(optimizer, state, KeyError).value)
            continue
        optimizer.load_state_dict(state)
        with pytest.raises(KeyError, match=key):
            advance(optimizer)
        optimizer.load_state_dict(copy.deepcopy(good))


def test_groups_that_do_not_fit():
    optimizer = build(OPTIMIZERS["Adam"])
    good = optimizer.state_dict()
    state = {**good, "param_groups": good["param_groups"][:1]}
    assert "loaded state dict has a different number of parameter groups" in str(assert_refused(optimizer, state).value)
    state = copy.deepcopy(good)
    state["param_groups"][1]["params"] = [2]
    assert "doesn't match the size of optimizer's group" in str(assert_refused(optimizer, state).value)
    assert_refused(optimizer, {**good, "param_groups": 3})
    assert_refused(optimizer, {**good, "param_groups": [3, 4]})
    assert_refused(optimizer, {**good, "state": [1]})
    assert_refused(optimizer, {**good, "state": {0: 3}})
    assert_refused(optimizer, {"state": good["state"]}, KeyError)
    assert_refused(optimizer, {"param_groups": good["param_groups"]}, KeyError)
    assert_refused(optimizer, [good], TypeError)
    state = copy.deepcopy(good)
    del state["param_groups"][1]["params"]
    assert_refused(optimizer, state, KeyError)


class Unkept:
    def __deepcopy__(self, memo):
        raise OSError("not to be copied")


def test_a_value_that_raises_while_it_is_converted_changes_nothing():
    optimizer = build(OPTIMIZERS["Adam"])
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][3]["more"] = Unkept()
    assert_refused(optimizer, state, OSError)
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][1]["more"] = Unkept()
    assert_refused(optimizer, state, OSError)


def test_what_pytorch_accepts():
    optimizer = build(OPTIMIZERS["Adam"])
    state = copy.deepcopy(optimizer.state_dict())
    state["more"] = 1
    for group in state["param_groups"]:
        group.update(decoupled_weight_decay=False, fused=True, foreach=None, capturable=False, initial_lr=0.1, lr=-1.0)
        del group["differentiable"]
    state["state"][0].update(step=3, more="text", exp_avg=state["state"][0]["exp_avg"].double())
    state["state"][1].update(step=tg.tensor([4.0]))
    state["state"][2].update(step=np.float64(5))
    state["state"][3] = {}
    state["state"]["elsewhere"] = [1]
    optimizer.load_state_dict(state)
    p = [p for group in optimizer.param_groups for p in group["params"]]
    assert [optimizer.state[each]["step"].item() for each in p[:3]] == [3.0, 4.0, 5.0]
    assert optimizer.state[p[0]]["exp_avg"].dtype is tg.float32 and optimizer.state[p[0]]["more"] == "text"
    assert optimizer.state_dict()["state"]["elsewhere"] == [1] and optimizer.param_groups[0]["lr"] == -1.0
    advance(optimizer)


def test_loaded_options_are_copies_and_loaded_state_is_not():
    optimizer = build(OPTIMIZERS["AdamW"])
    state = optimizer.state_dict()
    before = copy.deepcopy(state)
    other = build(OPTIMIZERS["AdamW"])
    other.load_state_dict(state)
    advance(other)
    with tg.no_grad():
        other.param_groups[0]["lr"].mul_(2)
    assert bits(state["param_groups"]) == bits(before["param_groups"])
    assert bits(state["state"]) != bits(before["state"])  # PyTorch's next step writes to what was loaded


PLANS = {
    "StepLR": lambda o: tg.optim.lr_scheduler.StepLR(o, 2),
    "MultiStepLR": lambda o: tg.optim.lr_scheduler.MultiStepLR(o, [2, 3]),
    "ExponentialLR": lambda o: tg.optim.lr_scheduler.ExponentialLR(o, 0.5),
    "LinearLR": lambda o: tg.optim.lr_scheduler.LinearLR(o),
    "CosineAnnealingLR": lambda o: tg.optim.lr_scheduler.CosineAnnealingLR(o, 5),
    "CyclicLR": lambda o: tg.optim.lr_scheduler.CyclicLR(o, 0.1, 0.2, cycle_momentum=False),
    "OneCycleLR": lambda o: tg.optim.lr_scheduler.OneCycleLR(o, 0.2, total_steps=9),
    "ReduceLROnPlateau": lambda o: tg.optim.lr_scheduler.ReduceLROnPlateau(o),
    "LambdaLR": lambda o: tg.optim.lr_scheduler.LambdaLR(o, Factor()),
    "SequentialLR": lambda o: tg.optim.lr_scheduler.SequentialLR(
        o, [tg.optim.lr_scheduler.ConstantLR(o), tg.optim.lr_scheduler.LambdaLR(o, Factor())], [2]
    ),
    "ChainedScheduler": lambda o: tg.optim.lr_scheduler.ChainedScheduler(
        [tg.optim.lr_scheduler.StepLR(o, 1), tg.optim.lr_scheduler.ExponentialLR(o, 0.5)]
    ),
}


class Factor:
    """A callable object, whose attributes are saved."""

    def __init__(self):
        self.base = 0.5

    def __call__(self, epoch):
        return self.base**epoch


def attributes(scheduler):
    return [
        (id(holder), sorted((key, bits(value)) for key, value in holder.__dict__.items())) for holder in held(scheduler)
    ]


def held(scheduler):
    yield scheduler
    for part in getattr(scheduler, "_schedulers", ()):
        yield from held(part)
    yield from (function for function in getattr(scheduler, "lr_lambdas", ()) if hasattr(function, "__dict__"))


@pytest.mark.parametrize("name", PLANS)
def test_a_scheduler_takes_over_all_or_nothing(name):
    scheduler = PLANS[name](build(OPTIMIZERS["SGD momentum"]))
    good, tried = copy.deepcopy(scheduler.state_dict()), 0
    before = attributes(scheduler)
    for key, value in good.items():
        for bad in ("text", object(), [1, "x"], None):
            if value is None or (isinstance(value, str) and bad == "text" and key != "mode"):
                continue
            state = dict(reversed(good.items())) | {key: bad}
            with pytest.raises((ValueError, TypeError)):
                scheduler.load_state_dict(state)
            assert attributes(scheduler) == before
            tried += 1
    assert tried >= 8
    for bad in (None, 3, [good]):
        with pytest.raises(TypeError):
            scheduler.load_state_dict(bad)
    scheduler.load_state_dict(good)
    scheduler.optimizer.step() if hasattr(scheduler, "optimizer") else None
    scheduler.step(*([1.0] if name == "ReduceLROnPlateau" else []))


@pytest.mark.parametrize("parts", [[], [{}], [{"last_epoch": 3}, {"last_epoch": "x"}], [{"last_epoch": 3}] * 3])
def test_parts_of_a_combined_scheduler_go_together(parts):
    scheduler = PLANS["ChainedScheduler"](build(OPTIMIZERS["SGD"]))
    before = attributes(scheduler)
    with pytest.raises(ValueError):
        scheduler.load_state_dict({**scheduler.state_dict(), "last_epoch": 8, "_schedulers": parts})
    assert attributes(scheduler) == before


def test_users_schedulers_may_keep_what_they_like():
    class Own(tg.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return self.base_lrs

    scheduler = Own(build(OPTIMIZERS["SGD"]))
    scheduler.note = 1
    scheduler.load_state_dict({"note": "text", "more": None})
    assert scheduler.note == "text" and scheduler.more is None


def interrupted(call, line):
    """``call()`` with a KeyboardInterrupt before its line of that number; False if it has fewer."""
    passed = 0

    def trace(frame, event, _):
        nonlocal passed
        passed += event == "line" and frame.f_code.co_name != "__del__"  # where Python would swallow it
        if passed > line:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    gc.disable()  # a callback of a collection would swallow it as well
    try:
        return is_interrupted(call, trace)
    finally:
        gc.enable()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_state_of_an_interrupted_first_step_can_be_loaded(name):
    """Each 13th line, from another one on in each kind: the lines of one parameter are more than a hundred."""
    line, seen = len(name) % 13, set()
    while True:
        tg.manual_seed(3)
        parameters = [tg.nn.Parameter(tg.randn(3, 2)), tg.nn.Parameter(tg.randn(2))]
        optimizer = OPTIMIZERS[name](parameters)
        for p in parameters:
            p.grad = p.detach() + 1
        if not interrupted(optimizer.step, line):
            break
        assert tg.is_grad_enabled()
        state = optimizer.state_dict()
        seen.add(tuple(len(entry) for entry in optimizer.state.values()))
        OPTIMIZERS[name]([p.detach().clone() for p in parameters]).load_state_dict(state)
        line += 13
    states = 1 if name == "SGD" else 3  # which keeps nothing without momentum
    assert line > 100 and len(seen) >= states and seen <= steps_between(name)


def steps_between(name):
    """How many entries the parameters have, from the first moment to the last."""
    entries = {"SGD": 0, "SGD momentum": 1, "Adam": 3, "Adam amsgrad": 4, "AdamW": 3}[name]
    return {(), (0,), (entries,), (entries, 0), (entries, entries)}
