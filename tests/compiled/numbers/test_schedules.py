"""Rates, momentums, betas, decay and eps that change at every step: data of one program, and the eager training."""

import numpy as np
import pytest
from expected.optimizers import numbers
from expected.schedules import COMBINED, METRICS, PLANS, PLATEAUS, scheduler_of

from tracegrad.compiled.execution import shape_cache as programs
from tracegrad.compiler.errors import CaptureError

EACH = 12  # steps with each plan; they come one after the other on one optimizer, some 400 steps
RATE = 0.05
# Training is computed in float64. A step rounds by some 1e-16 in each of some dozens of sums, which compiled code takes
# in another order; 400 steps that converge add up such differences, a rate that comes one step late makes 1e-3.
RTOL = 1e-9

OPTIMIZERS = {
    "sgd": ("SGD", {"momentum": 0.9, "weight_decay": 0.01}),
    "nesterov": ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "dampened": ("SGD", {"momentum": 0.9, "dampening": 0.1}),
    "adam": ("Adam", {"weight_decay": 0.01}),
    "adamw": ("AdamW", {"amsgrad": True}),
}


class Training:
    """A tanh network with two groups of parameters, each with options of its own."""

    def __init__(self, tg, kind, wrap):
        self.tg = tg
        self.model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 2)).double()
        with tg.no_grad():
            for shift, parameter in enumerate(self.model.parameters()):
                shape = tuple(parameter.shape)
                parameter.copy_(tg.tensor(numbers(parameter.numel(), shape, shift), dtype=tg.float64))
        name, options = OPTIMIZERS[kind]
        first, _, second = self.model
        groups = [{"params": first.parameters()}, {"params": second.parameters(), "lr": 2 * RATE}]
        self.optimizer = getattr(tg.optim, name)(groups, lr=RATE, **options)
        self.losses = []
        self.step = wrap(self._step)

    def _step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.tg.nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def one_step(self):
        i = len(self.losses)
        x = self.tg.tensor(numbers(12, (4, 3), 0.1 * i), dtype=self.tg.float64)
        y = self.tg.tensor(numbers(8, (4, 2), 0.1 * i + 1), dtype=self.tg.float64)
        self.losses.append(self.step(x, y).item())
        return self.losses[-1]

    def change_by_hand(self, i):
        """Everything that no plan sets."""
        for group in self.optimizer.param_groups:
            if group["weight_decay"]:
                group["weight_decay"] = 0.01 + 0.001 * (i % 7)
            if group.get("dampening"):
                group["dampening"] = 0.1 + 0.01 * (i % 5)
            if "eps" in group:
                group["eps"] = 1e-8 * (1 + i % 3)
            if "betas" in group:
                group["betas"] = (group["betas"][0], 0.99 + 0.001 * (i % 4))

    def restart(self):
        """Rates and momentums as they were, since a plan may have brought them to nothing."""
        for group, rate in zip(self.optimizer.param_groups, (RATE, 2 * RATE), strict=True):
            group["lr"] = group["initial_lr"] = rate
            group.update({"betas": (0.9, 0.999)} if "betas" in group else {"momentum": 0.9})

    def follow(self, plan):
        self.restart()
        scheduler = scheduler_of(self.tg, plan, self.optimizer)
        for i in range(EACH):
            self.one_step()
            scheduler.step()
            self.change_by_hand(i)

    def follow_metrics(self, plan):
        self.restart()
        scheduler = self.tg.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, **PLATEAUS[plan])
        for i in range(EACH):
            self.one_step()
            scheduler.step(METRICS[i])

    def run(self):
        for plan in (*PLANS, *COMBINED):
            self.follow(plan)
        for plan in PLATEAUS:
            self.follow_metrics(plan)
        return self

    def parameters(self):
        return np.concatenate([p.detach().numpy().ravel() for p in self.model.parameters()])


@pytest.fixture
def compilations(monkeypatch):
    """A list that grows by one with each program that is made."""
    made, compile_graph = [], programs.compile_graph

    def counted(graph, *limit):
        made.append(graph)
        return compile_graph(graph, *limit)

    monkeypatch.setattr(programs, "compile_graph", counted)
    return made


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_every_plan_in_turn(tg, compilations, kind):
    eager = Training(tg, kind, lambda step: step).run()
    compiled = Training(tg, kind, tg.compile).run()
    np.testing.assert_allclose(compiled.losses, eager.losses, rtol=RTOL)
    np.testing.assert_allclose(compiled.parameters(), eager.parameters(), rtol=RTOL)
    assert len(compiled.step.specialisations) == len(compilations) == 1


def test_the_comparison_sees_one_late_rate(tg):
    """What the tolerance above would let through if it were too wide: plans whose steps come one step late."""
    right, late = Training(tg, "sgd", lambda step: step), Training(tg, "sgd", lambda step: step)
    for training, first in ((right, 0), (late, 1)):
        scheduler = scheduler_of(tg, "triangular", training.optimizer)
        for i in range(EACH):
            training.one_step()
            if i >= first:
                scheduler.step()
    assert np.abs(late.parameters() / right.parameters() - 1).max() > 1000 * RTOL


def test_betas_of_any_kind_are_data(tg, compilations):
    """A tuple or a list, floats or ints: what PyTorch's plans and users write."""
    values = [(0.9, 0.999), [0.8, 0.99], (0.85, 0.999), (0, 0.99), (np.float64(0.7), 0.9), [0.6, 0.5]]
    eager, compiled = Training(tg, "adam", lambda step: step), Training(tg, "adam", tg.compile)
    for training in (eager, compiled):
        for betas in values:
            for group in training.optimizer.param_groups:
                group["betas"] = betas
            training.one_step()
    np.testing.assert_allclose(compiled.losses, eager.losses, rtol=RTOL)
    np.testing.assert_allclose(compiled.parameters(), eager.parameters(), rtol=RTOL)
    assert len(compiled.step.specialisations) == len(compilations) == 1


def test_a_beta_that_is_a_tensor_is_read_at_each_call(tg, compilations):
    trainings = [Training(tg, "adam", lambda step: step), Training(tg, "adam", tg.compile)]
    for training in trainings:
        beta = tg.tensor(0.9, dtype=tg.float64)
        training.optimizer.param_groups[0]["betas"] = (beta, 0.99)
        for i in range(6):
            training.one_step()
            beta.fill_(0.9 - 0.1 * i)
    eager, compiled = trainings
    np.testing.assert_allclose(compiled.losses, eager.losses, rtol=RTOL)
    np.testing.assert_allclose(compiled.parameters(), eager.parameters(), rtol=RTOL)
    assert len(compilations) == 1


@pytest.mark.parametrize("plan", ["exponential", "one cycle", "triangular", "cosine"])
def test_rates_in_tensors_follow_plans(tg, compilations, plan):
    trainings = [Training(tg, "sgd", lambda step: step), Training(tg, "sgd", tg.compile)]
    for training in trainings:
        for group in training.optimizer.param_groups:
            group["lr"] = tg.tensor(group["lr"], dtype=tg.float64)
        scheduler = scheduler_of(tg, plan, training.optimizer)
        for _ in range(EACH):
            training.one_step()
            scheduler.step()
    eager, compiled = trainings
    np.testing.assert_allclose(compiled.losses, eager.losses, rtol=RTOL)
    assert len(compilations) == 1


@pytest.mark.parametrize("plan", ["exponential", "one cycle", "restarts", "sequence"])
def test_a_plan_inside_the_compiled_step(tg, plan):
    """It counts in Python, so Python runs at each call."""
    trainings = []
    for wrap in (lambda step: step, tg.compile):
        training = Training(tg, "adam", lambda step: step)
        scheduler = scheduler_of(tg, plan, training.optimizer)

        def both(x, y, training=training, scheduler=scheduler):
            loss = training._step(x, y)
            scheduler.step()
            return loss

        training.step = wrap(both)
        for _ in range(EACH):
            training.one_step()
        trainings.append((training, scheduler))
    (eager, plan_of_eager), (compiled, plan_of_compiled) = trainings
    np.testing.assert_allclose(compiled.losses, eager.losses, rtol=RTOL)
    np.testing.assert_allclose(compiled.parameters(), eager.parameters(), rtol=RTOL)
    assert plan_of_compiled.last_epoch == plan_of_eager.last_epoch == EACH
    assert plan_of_compiled.get_last_lr() == plan_of_eager.get_last_lr()
    assert compiled.step.way == "re-record"


READS = {
    "last_epoch": lambda plan, optimizer: 1 + plan.last_epoch,
    "get_last_lr": lambda plan, optimizer: plan.get_last_lr()[0],
    "state_dict": lambda plan, optimizer: 1 + plan.state_dict()["last_epoch"],
    "option": lambda plan, optimizer: optimizer.param_groups[0]["lr"],
    "option_of_each_group": lambda plan, optimizer: sum(group.get("lr") for group in optimizer.param_groups),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_the_function_reads_what_a_plan_has_set(tg, read):
    """A loss that is scaled with the rate of the moment."""
    optimizer = tg.optim.SGD([tg.ones(2, requires_grad=True)], lr=1.0)
    plan = tg.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    step = tg.compile(lambda x: x * read(plan, optimizer))
    for _ in range(6):
        assert step(tg.ones(1)).item() == read(plan, optimizer)
        optimizer.step()
        plan.step()


@pytest.mark.parametrize("name", ["StepLR", "ReduceLROnPlateau", "SequentialLR", "ChainedScheduler", "warm"])
def test_a_plan_that_goes_on_inside_of_the_function(tg, name):
    """Its count is kept in Python: Python runs at each call, also where the rate stays the same."""
    schedules, rates = tg.optim.lr_scheduler, []
    for wrap in (tg.compile, lambda f: f):
        w = tg.ones(2, requires_grad=True)
        optimizer = tg.optim.SGD([w], lr=1.0)
        first = schedules.StepLR(optimizer, 2, gamma=0.5)
        plan = {
            "StepLR": lambda first=first: first,
            "ReduceLROnPlateau": lambda o=optimizer: schedules.ReduceLROnPlateau(o, patience=1),
            "SequentialLR": lambda o=optimizer: schedules.SequentialLR(
                o, [schedules.StepLR(o, 2), schedules.ConstantLR(o)], milestones=[3]
            ),
            "ChainedScheduler": lambda first=first: schedules.ChainedScheduler([first]),
            "warm": lambda o=optimizer: schedules.CosineAnnealingWarmRestarts(o, 2),
        }[name]()

        def step(x, w=w, optimizer=optimizer, plan=plan):
            w.grad = None
            (w * x).sum().backward()
            optimizer.step()
            plan.step(*[1.0] * (name == "ReduceLROnPlateau"))

        step = wrap(step)
        for _ in range(7):
            step(tg.ones(2))
            rates.append((optimizer.param_groups[0]["lr"], w.tolist()))
    assert rates[:7] == rates[7:]
    strict = tg.compile(step, fullgraph=True)
    with pytest.raises(CaptureError, match="a step of a learning-rate scheduler"):
        strict(tg.ones(2))
