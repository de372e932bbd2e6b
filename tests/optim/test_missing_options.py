"""Checkpoints whose groups lack options, or have others: each option of each optimizer, and optimizers of programs."""

import copy

import pytest

import tracegrad as tg

CHOICES = {"foreach": None, "maximize": False, "differentiable": False}
CAPTURED = {**CHOICES, "capturable": False}
DECOUPLED = {**CAPTURED, "decoupled_weight_decay": False}

#: What PyTorch 2.13 gives a loaded group that lacks it; a step raises KeyError for any other option.
ADDED = {
    "SGD": {**CHOICES, "nesterov": False, "fused": False},
    "Adam": {**DECOUPLED, "amsgrad": False, "fused": None},
    "AdamW": {**DECOUPLED, "amsgrad": False, "fused": None, "decoupled_weight_decay": True},
    "RMSprop": {**CAPTURED, "momentum": 0, "centered": False},
    "Adagrad": {**CHOICES, "fused": None},
    "Adadelta": CAPTURED,
    "Adamax": CAPTURED,
    "NAdam": DECOUPLED,
    "RAdam": DECOUPLED,
    "ASGD": CAPTURED,
    "Rprop": CAPTURED,
    "Adafactor": {"foreach": None},
    "Muon": {},
    "LBFGS": {},
    "SparseAdam": {},
}
UNREAD = {("Adagrad", "initial_accumulator_value"), ("Rprop", "lr"), ("SparseAdam", "maximize")}  # by a second step


def made(name):
    return getattr(tg.optim, name)([tg.nn.Parameter(tg.ones(2, 2))], lr=0.1)


def options(name):
    return [key for key in made(name).param_groups[0] if key != "params"]


def advance(optimizer):
    p = optimizer.param_groups[0]["params"][0]
    p.grad = tg.full((2, 2), 0.5)
    if isinstance(optimizer, tg.optim.SparseAdam):
        p.grad = p.grad.to_sparse(1)
    optimizer.step(lambda: tg.tensor(1.0)) if isinstance(optimizer, tg.optim.LBFGS) else optimizer.step()


def without(optimizer, key):
    state = copy.deepcopy(optimizer.state_dict())
    del state["param_groups"][0][key]
    return state


def test_the_table_has_every_optimizer():
    kinds = {n for n, c in vars(tg.optim).items() if isinstance(c, type) and issubclass(c, tg.optim.Optimizer)}
    assert kinds - {"Optimizer"} == set(ADDED) and all(set(ADDED[name]) < set(options(name)) for name in ADDED)


def test_an_option_that_is_missing():
    """Each of each optimizer, in one test: all of it is fast."""
    for name, key in [(kind, option) for kind in ADDED for option in options(kind)]:
        optimizer = made(name)
        advance(optimizer)
        optimizer.load_state_dict(without(optimizer, key))
        group = optimizer.param_groups[0]
        if key in ADDED[name]:
            assert group[key] == ADDED[name][key] and type(group[key]) is type(ADDED[name][key])
        else:
            assert key not in group
        if key in ADDED[name] or (name, key) in UNREAD:
            advance(optimizer)
            continue
        before = group["params"][0].tolist()
        with pytest.raises(KeyError, match=key):
            advance(optimizer)
        assert group["params"][0].tolist() == before, (name, key)


@pytest.mark.parametrize("key", ["lr", "dampening", "weight_decay", "betas", "eps"])
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_compiled_steps_miss_what_eager_ones_do(name, key):
    """A call of a program that has been made, and the call after it."""
    if key not in options(name):
        return
    optimizer = made(name)
    step = tg.compile(lambda: advance(optimizer))
    for _ in range(3):
        step()
    optimizer.load_state_dict(without(optimizer, key))
    before = optimizer.param_groups[0]["params"][0].tolist()
    for _ in range(2):
        with pytest.raises(KeyError, match=key):
            step()
    assert optimizer.param_groups[0]["params"][0].tolist() == before


class Clipped(tg.optim.Optimizer):
    """Of a program: an option came later, so loading adds it."""

    def __init__(self, params, lr=0.5, clip=1.0):
        super().__init__(params, {"lr": lr, "clip": clip})

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("clip", 1.0)

    @tg.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = state.get("step", 0) + 1
                limit = group.get("clip", 2.0)
                p -= group["lr"] * p.grad.clamp(-limit, limit)


class Tolerant(Clipped):
    """The step itself does without the option."""

    __setstate__ = tg.optim.Optimizer.__setstate__


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("kind", "limit"), [(Clipped, 1.0), (Tolerant, 2.0)])
def test_an_option_that_a_program_adds(kind, limit, compiled):
    p = tg.nn.Parameter(tg.ones(2))
    optimizer = kind([p], clip=0.25)

    def advance():
        p.grad = tg.full((2,), 5.0)
        optimizer.step()

    step = tg.compile(advance) if compiled else advance
    for _ in range(3):
        step()
    before = p.tolist()[0]
    optimizer.load_state_dict(without(optimizer, "clip"))
    step()
    assert p.tolist() == [before - 0.5 * limit] * 2 and optimizer.state[p]["step"] == 4


def test_a_program_may_have_any_option_of_any_kind():
    optimizer = Clipped([tg.nn.Parameter(tg.ones(2))])
    p = optimizer.param_groups[0]["params"][0]
    state = optimizer.state_dict()
    state["param_groups"][0].update(lr="text", clip=[1, 2], more=None)
    state["state"] = {0: {"step": 3, "more": [1.5]}}
    optimizer.load_state_dict(state)
    assert dict(optimizer.param_groups[0]) == {"params": [p], "lr": "text", "clip": [1, 2], "more": None}
    assert optimizer.state[p] == {"step": 3, "more": [1.5]} and type(optimizer.state[p]["step"]) is int


class Failing(Clipped):
    def __setstate__(self, state):
        super().__setstate__(state)
        self.more = 1
        self.param_groups[0]["more"] = 1
        self.state.clear()
        raise OSError("after all of it")


def test_what_a_program_raises_changes_nothing():
    optimizer = Failing([tg.nn.Parameter(tg.ones(2))])
    p = optimizer.param_groups[0]["params"][0]
    p.grad = tg.ones(2)
    optimizer.step()
    groups, state, attributes = optimizer.param_groups, optimizer.state, dir(optimizer)
    group = groups[0]
    saved = copy.deepcopy(optimizer.state_dict())
    saved["param_groups"][0].update(lr=7.0, other=2)
    saved["state"][0]["step"] = 9
    with pytest.raises(OSError, match="after all of it"):
        optimizer.load_state_dict(saved)
    assert optimizer.param_groups is groups and groups[0] is group and optimizer.state is state
    assert dict(group) == {"params": [p], "lr": 0.5, "clip": 1.0} and list(group) == ["params", "lr", "clip"]
    assert state[p] == {"step": 1} and dir(optimizer) == attributes


def test_groups_before_the_library_has_them():
    """What ``__setstate__`` does to the dicts it is given, and without its base's."""

    class Early(Clipped):
        def __setstate__(self, state):
            for group in state["param_groups"]:
                group["clip"] = 3.0
            self.__dict__.update(state)

    optimizer = Early([tg.nn.Parameter(tg.ones(2))])
    optimizer.load_state_dict(without(optimizer, "clip"))
    assert optimizer.param_groups[0]["clip"] == 3.0
    copy.deepcopy(optimizer.state_dict())
    assert copy.deepcopy(optimizer).param_groups[0]["clip"] == 3.0


@pytest.mark.parametrize("name", sorted(set(ADDED) - {"LBFGS", "Muon", "SparseAdam", "SGD"}))
def test_the_state_of_another_optimizer(name):
    """KeyError for its options in a step; for its state where this one counts steps, which are looked at at once."""
    optimizer, other = made(name), made("SGD")
    before, state = dict(optimizer.param_groups[0]), optimizer.state
    momentum = tg.optim.SGD(optimizer.param_groups[0]["params"], lr=0.1, momentum=0.5)
    advance(momentum)
    with pytest.raises(KeyError, match="step|eta|mu"):
        optimizer.load_state_dict(momentum.state_dict())
    assert dict(optimizer.param_groups[0]) == before and optimizer.state is state
    optimizer.load_state_dict(other.state_dict())
    with pytest.raises(KeyError):
        advance(optimizer)
