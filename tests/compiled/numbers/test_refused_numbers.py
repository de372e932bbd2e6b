"""Numbers of optimizers that Python's arithmetic refuses, and options that are no numbers: a replay of a step raises
what eager mode raises, with parameters, gradients and state as they are there, and replays go on afterwards."""

import itertools

import numpy as np
import pytest

FIRST, CALLS = 4, 7  # the call before which an option gets another value, for this call alone, and the number of calls
NUMBERS = (1.0, 0.0, -1.0, -1e9, 1e300, float("inf"), float("nan"))
NO_NUMBERS = ("0.1", "x", None, 10**400, [0.1], 1j)
OPTIONS = {
    "SGD": ("lr", "momentum", "dampening", "weight_decay"),
    "SGD with momentum": ("lr", "momentum", "dampening", "weight_decay"),
    "Adam": ("lr", "betas", "eps", "weight_decay"),
    "AdamW": ("lr", "betas", "eps", "weight_decay"),
    "Adamax": ("lr", "betas", "eps", "weight_decay"),
    "NAdam": ("lr", "betas", "eps", "weight_decay", "momentum_decay"),
    "RAdam": ("lr", "betas", "eps", "weight_decay"),
    "ASGD": ("lr", "lambd", "alpha", "t0", "weight_decay"),
    "Adagrad": ("lr", "lr_decay", "eps", "weight_decay"),
    "Adadelta": ("lr", "rho", "eps", "weight_decay"),
    "RMSprop": ("lr", "alpha", "eps", "weight_decay", "momentum"),
    "Rprop": ("lr", "etas", "step_sizes"),
    "Adafactor": ("lr", "beta2_decay", "d", "weight_decay"),
    "Muon": ("lr", "weight_decay", "momentum", "eps"),
}
STEPS = (-1.0, -2.0, 0.0, 1e30, float("inf"), float("nan"))  # before the step counts itself
FORMS = ("compiled", "deferred", "compiled model")


class Case:
    """Two groups of one weight each; what is changed is the second one's."""

    def __init__(self, tg, kind, form):
        tg.manual_seed(0)
        self.tg, self.form = tg, form
        self.model = tg.nn.Sequential(*(tg.nn.Linear(2, 2, bias=False) for _ in range(2)))
        groups = [{"params": [layer.weight]} for layer in self.model]
        name, _, more = kind.partition(" with ")
        self.optimizer = getattr(tg.optim, name)(groups, lr=0.1, **({more: 0.9} if more else {}))
        self.group, self.counted = self.optimizer.param_groups[1], tg.zeros(1)
        self.call = tg.compile(self.model) if form == "compiled model" else self.model
        self.step = tg.compile(self._step) if form == "compiled" else self._step

    def _step(self, x):
        self.counted.add_(1)
        self.optimizer.zero_grad()
        loss = self.call(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def outcomes(self, change):
        """What each call does; ``change(case)`` before one of them gives what undoes it."""
        undo = None
        for i in range(CALLS):
            if i == FIRST:
                undo = change(self)
            elif undo is not None:
                undo, _ = None, undo()
            yield self.outcome(self.tg.full((3, 2), 0.5 + 0.25 * i))

    def outcome(self, x):
        try:
            raised, loss = None, self.step(x).item()
        except Exception as error:
            raised, loss = type(error), None
        parameters = [(p.tolist(), p.grad.tolist()) for p in self.model.parameters()]
        state = [
            {name: value.tolist() for name, value in self.optimizer.state[p].items()} for p in self.model.parameters()
        ]
        return raised, loss, self.counted.item(), parameters, state


def put(name, value):
    """A change of an option; of a tuple, of each of its numbers in turn."""

    def change(case, item):
        before = case.group[name]
        if item is not None:
            case.group[name] = (*before[:item], value, *before[item + 1 :])
        else:
            case.group[name] = value
        return lambda: case.group.__setitem__(name, before)

    return [lambda case, item=item: change(case, item) for item in ((0, 1) if name in PAIRS else (None,))]


PAIRS = ("betas", "etas", "step_sizes")


def set_step(value):
    def change(case):
        step = case.optimizer.state[case.model[1].weight]["step"]
        before = step.item()
        step.fill_(value)
        return lambda: step.fill_(before + 1)

    return change


def agree(eager, other):
    raised, *values = eager
    assert other[0] is raised
    flat, others = ([np.asarray(x, np.float64) for x in numbers(each)] for each in (values, other[1:]))
    assert len(flat) == len(others)
    for one, another in zip(flat, others, strict=True):
        # Seven float32 steps: C's sums round otherwise, and Adam's quotient of small moments makes that larger.
        np.testing.assert_allclose(another, one, rtol=2e-4, atol=1e-6)


def numbers(value):
    """The numbers in nested lists and dicts, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [x for each in value for x in numbers(each)]
    return [float("nan") if value is None else value]


def ask(tg, kind, form, change):
    with np.errstate(all="ignore"):
        eager = list(Case(tg, kind, "eager").outcomes(change))
        if form == "deferred":
            with tg.deferred():
                others = list(Case(tg, kind, form).outcomes(change))
        else:
            others = list(Case(tg, kind, form).outcomes(change))
    for one, other in zip(eager, others, strict=True):
        agree(one, other)
    return [each[0] for each in eager]


ALL = [
    (kind, name, value)
    for kind, names in OPTIONS.items()
    for name, value in itertools.product(names, (*NUMBERS, *NO_NUMBERS))
]


@pytest.mark.long(fast=23, every=19)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "name", "value"), ALL)
@pytest.mark.filterwarnings("ignore")
def test_option(tg, kind, name, value, form):
    for change in put(name, value):
        ask(tg, kind, form, change)


@pytest.mark.long(fast=7, every=9)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", STEPS)
@pytest.mark.parametrize("kind", [kind for kind in OPTIONS if kind.partition(" ")[0] not in ("SGD", "Muon")])
@pytest.mark.filterwarnings("ignore")
def test_count_of_steps(tg, kind, value, form):
    ask(tg, kind, form, set_step(value))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [("Adam", "betas", (1.0, 0.9)), ("Adamax", "betas", (1.0, 0.9)), ("RAdam", "betas", (0.9, 1.0))],
)
def test_division_by_nothing(tg, kind, name, value, form):
    """The other tests compare: these programs raise."""

    def change(case):
        before = case.group[name]
        case.group[name] = value
        return lambda: case.group.__setitem__(name, before)

    raised = ask(tg, kind, form, change)
    assert raised == [ZeroDivisionError if i == FIRST else None for i in range(CALLS)]


def test_replays_go_on(tg):
    """A call that is refused is Python's, the others are replays."""
    case, ways = Case(tg, "Adam", "compiled"), []
    for i in range(CALLS):
        case.group["betas"] = (1.0, 0.9) if i == FIRST else (0.9, 0.999)
        case.outcome(tg.ones(3, 2))
        ways.append(case.step.way)
    assert ways[FIRST] == "eager"
    assert set(ways[2:FIRST] + ways[FIRST + 1 :]) == {"replay"}
    assert len(case.step.specialisations) == 1


def test_updates_in_place_with_checks(tg):
    """A check of numbers has no memory of a parameter's size copied: the counts of steps alone wait for it."""
    model = tg.nn.Linear(20, 30)
    optimizer = tg.optim.Adam(model.parameters())

    @tg.compile
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step(tg.ones(4, 20))
    new = [line for line in step.source.splitlines() if "_new_ = (" in line]
    assert new and all("_step_new_" in line for line in new)
