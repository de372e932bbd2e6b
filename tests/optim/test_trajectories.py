"""Every optimizer for two hundred steps, eager and compiled, against PyTorch's (expected/trajectories.py)."""

import copy
import inspect
import json

import numpy as np
import pytest
from expected.compare import STORE, assert_close, load
from expected.optimizers import Problem
from expected.trajectories import (
    CASES,
    QUASI_NEWTON,
    SCHEDULED,
    SCHEDULES,
    SEEN,
    STEPS,
    Trajectory,
    kinds_of_lengths,
    layout,
    quasi_newton,
)

from tracegrad.compiler import pipeline
from tracegrad.optim.adamw import AdamW
from tracegrad.optim.optimizer import ParamsT, required
from tracegrad.optim.rmsprop import RMSprop

STORED = load("trajectories")
LAYOUTS = json.loads((STORE / "trajectories.json").read_text(encoding="utf-8"))
# In float64 two hundred steps round by some 1e-13; anything at the wrong place is far above.
RTOL, ATOL = 1e-9, 1e-12
FIRST = [kind for kind in CASES if kind.endswith(" 0")]
OTHERS = [pytest.param(kind, marks=pytest.mark.long(every=4)) for kind in CASES if kind not in FIRST]
EVERY = [*FIRST, *OTHERS]
LENGTHS = LAYOUTS.pop("lengths of L-BFGS")
NAMES = sorted(LAYOUTS)


@pytest.fixture(autouse=True)
def quickly_built(monkeypatch):
    """What the C compiler's optimiser makes of a program is not asked here, and takes most of the time."""
    monkeypatch.setattr(pipeline, "FLAGS", tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS))


def assert_stored(name, losses, parameters):
    np.testing.assert_allclose(losses, STORED[f"{name}|losses"], rtol=RTOL, atol=ATOL)
    np.testing.assert_allclose(parameters, STORED[f"{name}|parameters"], rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("kind", EVERY)
def test_two_hundred_steps(tg, maybe_compile, kind):
    problem = Trajectory(tg)
    step = maybe_compile(problem.step_with(problem.optimizer(kind)))
    assert_stored(kind, problem.run(step, STEPS)[SEEN], problem.parameters())
    if hasattr(step, "specialisations"):
        assert step.way == "replay" and len(step.specialisations) == 1


@pytest.mark.parametrize(
    "kind, schedule",
    [pytest.param(*case, marks=() if i % 5 == 0 else pytest.mark.long(every=4)) for i, case in enumerate(SCHEDULED)],
)
def test_two_hundred_steps_with_a_schedule(tg, maybe_compile, kind, schedule):
    problem = Trajectory(tg)
    optimizer = problem.optimizer(kind)
    step = maybe_compile(problem.step_with(optimizer))
    losses = problem.run_with(step, SCHEDULES[schedule](tg, optimizer))
    assert_stored(f"{kind} {schedule}", losses[SEEN], problem.parameters())
    if hasattr(step, "specialisations"):
        assert len(step.specialisations) == 1


@pytest.mark.parametrize("kind", ["Adagrad 0", pytest.param("RAdam 0", marks=pytest.mark.long(every=4))])
def test_fused_eager_steps(tg, kind):
    """An eager program whose optimizer's step alone is C; a group may ask for it where PyTorch has no such option."""
    problem = Trajectory(tg)
    optimizer = problem.optimizer(kind)
    for group in optimizer.param_groups:
        group["fused"] = True
    losses = problem.run(problem.step_with(optimizer), STEPS)
    assert_stored(kind, losses[SEEN], problem.parameters())
    assert optimizer.fused_step.way == "replay" and len(optimizer.fused_step.specialisations) == 1


def has_option(tg, kind, option):
    return option in inspect.signature(getattr(tg.optim, CASES[kind][0])).parameters


#: The numbers stored are those without `foreach`, with which ASGD computes its rate step by step in float32
#: (test_asgd.py). The others round alike.
LOOSE = {("ASGD 0", "foreach"): 1e-6}


@pytest.mark.long(fast=17, by_size=True)
@pytest.mark.parametrize("option", ["foreach", "fused"])
@pytest.mark.parametrize("kind", FIRST)
def test_two_hundred_steps_of_other_implementations(tg, maybe_compile, kind, option):
    """`foreach` and `fused` are PyTorch's other ways to the same numbers; `capturable` is refused (below)."""
    if not has_option(tg, kind, option):
        with pytest.raises(TypeError, match=option):
            getattr(tg.optim, CASES[kind][0])([tg.nn.Parameter(tg.ones(1))], **{option: True})
        return
    problem = Trajectory(tg)
    name, options = CASES[kind]
    groups = [dict(group) for group in problem.optimizer(kind).param_groups]
    groups = [{"params": group["params"], "lr": group["lr"]} for group in groups]
    optimizer = getattr(tg.optim, name)(groups, **{**options, option: True})
    step = maybe_compile(problem.step_with(optimizer))
    losses, rtol = problem.run(step, STEPS)[SEEN], LOOSE.get((kind, option), RTOL)
    np.testing.assert_allclose(losses, STORED[f"{kind}|losses"], rtol=rtol, atol=ATOL)
    np.testing.assert_allclose(problem.parameters(), STORED[f"{kind}|parameters"], rtol=rtol, atol=ATOL)
    if hasattr(step, "specialisations"):
        assert step.way == "replay" and len(step.specialisations) == 1


def test_lengths_in_the_state_of_lbfgs(tg):
    """Numbers where PyTorch has numbers, tensors where it has tensors; a rate that is a tensor is kept itself."""
    assert json.loads(json.dumps(kinds_of_lengths(tg))) == LENGTHS


@pytest.mark.long(fast=5)
@pytest.mark.parametrize("kind", QUASI_NEWTON)
def test_lbfgs(tg, maybe_compile, kind):
    problem = Problem(tg)
    losses, parameters, evaluations, optimizer = quasi_newton(problem, kind, maybe_compile)
    assert_stored(f"lbfgs {kind}", losses, parameters)
    assert evaluations == int(STORED[f"lbfgs {kind}|evaluations"])
    assert optimizer.state[next(iter(problem.model.parameters()))]["func_evals"] == evaluations


@pytest.mark.parametrize("name", NAMES)
def test_layout_of_the_state(tg, name):
    assert json.loads(json.dumps(layout(tg, name))) == LAYOUTS[name]


@pytest.mark.parametrize("kind", FIRST)
def test_training_that_is_continued(tg, kind):
    """From a saved state, in a new optimizer over parameters of the same numbers."""
    first = Trajectory(tg)
    optimizer = first.optimizer(kind)
    expected = first.run(first.step_with(optimizer), 12)
    problem = Trajectory(tg)
    optimizer = problem.optimizer(kind)
    losses = problem.run(problem.step_with(optimizer), 6)
    saved = copy.deepcopy((problem.model.state_dict(), optimizer.state_dict()))
    again = Trajectory(tg)
    other = again.optimizer(kind)
    again.model.load_state_dict(saved[0])
    other.load_state_dict(saved[1])
    losses = np.concatenate([losses, again.run(again.step_with(other), 6)])
    # As in PyTorch, a scalar of the state (mu_product, eta) comes back in the parameters' type, where it rounds less.
    np.testing.assert_allclose(losses, expected, rtol=1e-7)


def test_named_parameters(tg):
    model = tg.nn.Linear(2, 1)
    optimizer = tg.optim.RMSprop(model.named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="cannot add param group without names to the optimizer"):
        optimizer.add_param_group({"params": [tg.nn.Parameter(tg.ones(1))]})
    with pytest.raises(ValueError, match="Some param names are missing"):
        tg.optim.SGD([("w", tg.nn.Parameter(tg.ones(1))), tg.nn.Parameter(tg.ones(1))])


WRONG = [
    ("RMSprop", {"momentum": -1.0}, "Invalid momentum value: -1.0"),
    ("RMSprop", {"alpha": -1.0}, "Invalid alpha value: -1.0"),
    ("Adagrad", {"lr_decay": -0.5}, "Invalid lr_decay value: -0.5"),
    ("Adagrad", {"initial_accumulator_value": -1}, "Invalid initial_accumulator_value value: -1"),
    ("Adadelta", {"rho": 1.1}, "Invalid rho value: 1.1"),
    ("Adamax", {"betas": (0.0, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
    ("NAdam", {"momentum_decay": -0.2}, "Invalid momentum_decay value: -0.2"),
    ("RAdam", {"weight_decay": -1}, "Invalid weight_decay value: -1"),
    ("ASGD", {"weight_decay": -0.5}, "Invalid weight_decay value: -0.5"),
    ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
    ("LBFGS", {"lr": -1}, "Invalid learning rate: -1"),
    ("Adafactor", {"d": 0.0}, "Clipping threshold d should be >= 1 but is: 0.0"),
    ("Adafactor", {"lr": -1}, "Learning rate should be >= 0 but is: -1"),
    ("Adafactor", {"beta2_decay": 0.8}, "beta2_decay should be <= 0 but is: 0.8"),
    ("Muon", {"momentum": -0.1}, "momentum should be >= 0 but is: -0.1"),
    ("Muon", {"adjust_lr_fn": "arbitrary"}, "Adjust learning rate function arbitrary is not supported"),
    ("SparseAdam", {"lr": 0.0}, "Invalid learning rate: 0.0"),
]


@pytest.mark.parametrize("name, options, words", WRONG)
def test_wrong_options(tg, name, options, words):
    with pytest.raises(ValueError, match=words):
        getattr(tg.optim, name)([tg.nn.Parameter(tg.ones(2, 2))], **options)


@pytest.mark.parametrize("name", ["Adam", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"])
def test_capturable_needs_a_device(tg, name):
    w = tg.nn.Parameter(tg.ones(2))
    optimizer = getattr(tg.optim, name)([w], capturable=True)
    w.grad = tg.ones(2)
    captured = {"ASGD": "params, mus, etas, and state_steps", "NAdam": "params, mu_products and state_steps"}
    words = f"If capturable=True, {captured.get(name, 'params and state_steps')} must be on"
    with pytest.raises(AssertionError, match=words):
        optimizer.step()
    assert w.tolist() == [1.0, 1.0]


def test_what_only_some_optimizers_take(tg):
    w = tg.nn.Parameter(tg.ones(2))
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        tg.optim.Muon([w])
    with pytest.raises(ValueError, match="LBFGS doesn't support per-parameter options"):
        tg.optim.LBFGS([{"params": [w]}, {"params": [tg.nn.Parameter(tg.ones(1))]}])
    optimizer = tg.optim.SparseAdam([w])
    w.grad = tg.ones(2)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        optimizer.step()


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "NAdam", "Rprop"])
def test_steps_that_are_differentiated(tg, name):
    """The gradient goes through the step, to what the parameters and gradients are made of."""
    start = tg.tensor([1.0, -2.0], dtype=tg.float64, requires_grad=True)
    p = start.clone()
    p.retain_grad()
    optimizer = getattr(tg.optim, name)([p], lr=0.5, differentiable=True)
    p.grad = start.detach() * 3.0
    optimizer.step()
    (p * tg.tensor([1.0, 10.0], dtype=tg.float64)).sum().backward()
    assert_close(start.grad, [1.0, 10.0])


def test_muon_makes_nearly_orthogonal_steps(tg, maybe_compile):
    """Its numbers are rounded otherwise than PyTorch's; what a step is follows from the gradient's singular values."""
    values = np.random.default_rng(0).standard_normal((5, 3))
    w = tg.nn.Parameter(tg.zeros(5, 3, dtype=tg.float64))
    optimizer = tg.optim.Muon([w], lr=1.0, weight_decay=0.0, adjust_lr_fn="original")
    gradient = tg.tensor(values)

    def step():
        optimizer.zero_grad()
        (w * gradient).sum().backward()
        optimizer.step()

    step = maybe_compile(step)
    for _ in range(4):
        before = w.detach().numpy().copy()
        step()
    change = (w.detach().numpy() - before) / np.sqrt(5 / 3)
    assert np.all(np.abs(np.linalg.svd(change)[1] - 1) < 0.35)
    u, _, v = np.linalg.svd(values, full_matrices=False)
    assert np.sum(-change * (u @ v)) > 0.8 * 3


def test_paths_and_names(tg):
    assert (AdamW, RMSprop) == (tg.optim.AdamW, tg.optim.RMSprop)
    assert ParamsT is not None

    class Own(tg.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": required})

    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        Own([tg.nn.Parameter(tg.ones(1))])
    assert Own([{"params": [tg.nn.Parameter(tg.ones(1))], "lr": 1}]).param_groups[0]["lr"] == 1
