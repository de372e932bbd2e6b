"""Every plan against PyTorch's stored floats, its warnings, its errors, and what it saves."""

import copy
import platform
import warnings

import numpy as np
import pytest
from expected import schedules
from expected.compare import load
from expected.schedules import COMBINED, CYCLES, PLANS, PLATEAUS, STEPS, optimizer_of, options_now, scheduler_of

STORED = load("schedules")
# The arithmetic is PyTorch's, in its order, so its floats come out. Cosines and powers are those of the C library, and
# another one than that of the stored values may differ in their last bit, which forty products can repeat.
GLIBC = platform.libc_ver()[0] == "glibc"
UNORDERED = pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
SILENT = pytest.mark.filterwarnings("error")
# There the first part of the inner sequence steps twice before the optimizer does, which is warned of.
NESTED = "sequence of sequences"
ALL = [pytest.param(plan, marks=UNORDERED if plan == NESTED else SILENT) for plan in (*PLANS, *COMBINED)]


def assert_floats(found, key):
    np.testing.assert_allclose(np.array(found), STORED[key], rtol=0 if GLIBC else 1e-13)


@pytest.mark.parametrize("plan", ALL)
def test_forty_steps(tg, plan):
    assert_floats(schedules.forty_steps(tg, plan), plan)


@SILENT
@pytest.mark.parametrize("plan", CYCLES)
def test_betas_cycle(tg, plan):
    assert_floats(schedules.forty_steps(tg, plan, "adam"), f"{plan}|adam")


@pytest.mark.parametrize("plan", ALL)
def test_rates_that_are_tensors(tg, plan):
    assert_floats(schedules.forty_steps(tg, plan, "sgd", "float32"), f"{plan}|float32")


@pytest.mark.parametrize("plan", PLANS)
def test_step_to_an_epoch(tg, plan):
    assert_floats(schedules.by_epochs(tg, plan), f"{plan}|epochs")


@pytest.mark.parametrize("plan", PLATEAUS)
def test_plateau(tg, plan):
    assert_floats(schedules.by_metrics(tg, plan), plan)


@pytest.mark.parametrize("plan", [*ALL, *PLATEAUS])
def test_names_in_saved_plans(tg, plan):
    assert schedules.saved_keys(tg, plan) == STORED[f"{plan}|keys"].tolist()


@UNORDERED
@pytest.mark.parametrize("plan", [*PLANS, *COMBINED])
def test_saved_plan_goes_on(tg, plan):
    optimizer = optimizer_of(tg)
    scheduler = scheduler_of(tg, plan, optimizer)
    for _ in range(7):
        scheduler.step()
    saved = copy.deepcopy((optimizer.state_dict(), scheduler.state_dict()))
    other = optimizer_of(tg)
    resumed = scheduler_of(tg, plan, other)
    other.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    if tg.__name__ == "tracegrad":  # PyTorch's CyclicLR takes an entry out of what is loaded
        assert scheduler.state_dict().keys() == saved[1].keys()
    found = []
    for _ in range(7, STEPS):
        resumed.step()
        found.append(options_now(other))
    if plan == "two on one":
        return  # only the second of the two was stepped
    np.testing.assert_allclose(found, STORED[plan][8:], rtol=0 if GLIBC else 1e-13)


def test_saved_plateau_goes_on(tg):
    rates = []
    for interrupted in (False, True):
        optimizer = optimizer_of(tg)
        scheduler = tg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        for i, metric in enumerate([3.0, 3.0, 3.0, 2.0, 3.0, 3.0, 3.0]):
            if interrupted and i == 2:
                saved = scheduler.state_dict()
                scheduler = tg.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
                scheduler.load_state_dict(saved)
            scheduler.step(metric)
        rates.append(options_now(optimizer))
    assert rates[0] == rates[1] != options_now(optimizer_of(tg))


class Halving:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, epoch):
        return self.factor**epoch


@UNORDERED
def test_functions_that_are_objects_are_saved_by_their_attributes(tg):
    lr = tg.optim.lr_scheduler
    first, second = lr.LambdaLR(optimizer_of(tg), Halving(0.5)), lr.LambdaLR(optimizer_of(tg), Halving(0.9))
    second.load_state_dict(first.state_dict())
    first.step(), second.step()
    assert second.get_last_lr() == first.get_last_lr() == [0.05, 0.15]
    cyclic = [lr.CyclicLR(optimizer_of(tg), 0.1, 0.2, 2, scale_fn=Halving(factor)) for factor in (0.5, 0.9)]
    cyclic[1].load_state_dict(cyclic[0].state_dict())
    cyclic[0].step(), cyclic[1].step()
    assert cyclic[0].get_last_lr() == cyclic[1].get_last_lr()


def test_a_rate_that_is_a_tensor_keeps_its_memory(tg):
    optimizer = optimizer_of(tg, rate_type="float64")
    rate = optimizer.param_groups[0]["lr"]
    scheduler = tg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.05
    scheduler.get_last_lr()[0].fill_(7.0)  # a copy
    assert rate.item() == 0.05 and optimizer.param_groups[0]["initial_lr"].item() == 0.1


@UNORDERED
def test_a_group_that_came_later(tg):
    optimizer = optimizer_of(tg)
    scheduler = tg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.add_param_group({"params": [tg.zeros(1, requires_grad=True)], "lr": 1.0})
    scheduler.step()
    assert [group["lr"] for group in optimizer.param_groups] == [0.05, 0.15, 0.5]


def test_plans_are_schedulers(tg):
    lr = tg.optim.lr_scheduler
    for plan in PLANS:
        assert isinstance(scheduler_of(tg, plan, optimizer_of(tg)), lr.LRScheduler)
    assert issubclass(lr.ReduceLROnPlateau, lr.LRScheduler) and issubclass(lr._LRScheduler, lr.LRScheduler)
    assert not issubclass(lr.MultiplicativeLR, lr.LambdaLR)


# ----------------------------------------------------------------------------------------------------------- warnings


def warned(action, file=__file__):
    """What `action` warned of, at its own line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    assert all(file in (None, w.filename) for w in caught)
    return [str(w.message)[:60] for w in caught]


WRONG_ORDER = "Detected call of `lr_scheduler.step()` before `optimizer.step()`"[:60]
REPLACED = "Seems like `optimizer.step()` has been overridden after lear"


def test_wrong_order_is_warned_of_once(tg):
    optimizer = optimizer_of(tg)
    scheduler = tg.optim.lr_scheduler.StepLR(optimizer, 2)
    assert warned(lambda: scheduler.step()) == [WRONG_ORDER]
    assert warned(lambda: scheduler.step()) == []


def test_steps_before_the_scheduler_do_not_count(tg):
    optimizer = optimizer_of(tg)
    optimizer.step()
    scheduler = tg.optim.lr_scheduler.StepLR(optimizer, 2)
    assert warned(lambda: scheduler.step()) == [WRONG_ORDER]


def test_steps_before_the_second_scheduler_count(tg):
    optimizer = optimizer_of(tg)
    tg.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.step()
    second = tg.optim.lr_scheduler.StepLR(optimizer, 2)
    assert warned(lambda: second.step()) == []


@pytest.mark.parametrize("name, options", [("CosineAnnealingWarmRestarts", {"T_0": 2}), ("ReduceLROnPlateau", {})])
def test_plans_that_never_warn_of_the_order(tg, name, options):
    scheduler = getattr(tg.optim.lr_scheduler, name)(optimizer_of(tg), **options)
    argument = (1.0,) if name == "ReduceLROnPlateau" else ()
    assert warned(lambda: scheduler.step(*argument)) == []


def test_optimizers_with_a_step_of_their_own(tg):
    class Sign(tg.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.data.sub_(group["lr"])

    w = tg.ones(1, requires_grad=True)
    optimizer = Sign([w], 0.5)
    scheduler = tg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    assert warned(lambda: scheduler.step()) == []
    optimizer.step()
    assert w.item() == 0.25
    late = Sign([w], 0.5)
    other = tg.optim.lr_scheduler.ExponentialLR(late, 0.5)
    assert warned(lambda: other.step()) == [WRONG_ORDER]


def test_a_step_that_was_replaced(tg):
    optimizer = optimizer_of(tg)
    scheduler = tg.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.step = lambda: None
    optimizer.step()
    assert warned(lambda: scheduler.step()) == [REPLACED]


def test_order_in_a_compiled_step(tg, maybe_compile):
    w = tg.ones(2, requires_grad=True)
    optimizer = tg.optim.SGD([w], lr=0.1)

    @maybe_compile
    def step():
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step()

    for _ in range(3):
        step()
    scheduler = tg.optim.lr_scheduler.StepLR(optimizer, 2)
    step()  # replayed: the scheduler hears nothing of it
    assert warned(lambda: scheduler.step()) == []


def test_a_sequence_in_a_sequence_begins_too_early(tg):
    assert warned(lambda: scheduler_of(tg, NESTED, optimizer_of(tg)), None) == [WRONG_ORDER]


def test_asking_for_rates_outside_of_a_step(tg):
    optimizer = optimizer_of(tg)
    scheduler = tg.optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="To get the last learning rate computed by the scheduler"):
        assert scheduler.get_lr() == [0.1, 0.3]


@pytest.mark.parametrize("name, argument", [("StepLR", 2), ("ReduceLROnPlateau", "min")])
def test_epochs_are_warned_of(tg, name, argument):
    optimizer = optimizer_of(tg)
    scheduler = getattr(tg.optim.lr_scheduler, name)(optimizer, argument)
    optimizer.step()
    arguments = (1.0, 3) if name == "ReduceLROnPlateau" else (3,)
    with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step\\(\\)` was not necessary"):
        scheduler.step(*arguments)
    assert scheduler.last_epoch == 3


# ------------------------------------------------------------------------------------------------------------- errors


def another(tg):
    return tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)


WRONG = [
    (lambda tg, lr, o: lr.LambdaLR(o, [abs]), ValueError, "Expected 2 lr_lambdas, but got 1"),
    (lambda tg, lr, o: lr.MultiplicativeLR(o, 0.9), TypeError, "lr_lambda should be a function, but got float"),
    (
        lambda tg, lr, o: lr.ConstantLR(o, 1.5),
        ValueError,
        "Constant multiplicative factor expected to be between 0 and",
    ),
    (lambda tg, lr, o: lr.LinearLR(o, 0.5, 1.5), ValueError, "Ending multiplicative factor expected to be between 0"),
    (lambda tg, lr, o: lr.CosineAnnealingWarmRestarts(o, 0), ValueError, "Expected positive integer T_0, but got 0"),
    (lambda tg, lr, o: lr.CosineAnnealingWarmRestarts(o, 2, 0), ValueError, "Expected integer T_mult >= 1, but got 0"),
    (lambda tg, lr, o: lr.CosineAnnealingWarmRestarts(o, 2, eta_min="0"), ValueError, "Expected float or int eta_min"),
    (lambda tg, lr, o: lr.CosineAnnealingWarmRestarts(o, 2).step(-1), ValueError, "Expected non-negative epoch, but"),
    (lambda tg, lr, o: lr.CyclicLR(3, 0.1, 0.2), TypeError, "int is not an Optimizer"),
    (
        lambda tg, lr, o: lr.CyclicLR(o, [0.1], 0.2),
        ValueError,
        "base_lr must have the same length as optimizer.param_g",
    ),
    (lambda tg, lr, o: lr.CyclicLR(o, 0.1, 0.2, mode="up"), ValueError, "mode is invalid and scale_fn is None"),
    (lambda tg, lr, o: lr.OneCycleLR(3, 0.1, 4), TypeError, "int is not an Optimizer"),
    (lambda tg, lr, o: lr.OneCycleLR(o, 0.1), ValueError, "You must define either total_steps OR"),
    (lambda tg, lr, o: lr.OneCycleLR(o, 0.1, 0), ValueError, "Expected positive integer total_steps, but got 0"),
    (
        lambda tg, lr, o: lr.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=1),
        ValueError,
        "Expected positive integer epochs",
    ),
    (
        lambda tg, lr, o: lr.OneCycleLR(o, 0.1, epochs=1, steps_per_epoch=-1),
        ValueError,
        "positive integer steps_per_epoch",
    ),
    (lambda tg, lr, o: lr.OneCycleLR(o, 0.1, 9, pct_start=2), ValueError, "Expected float between 0 and 1 pct_start"),
    (
        lambda tg, lr, o: lr.OneCycleLR(o, 0.1, 9, anneal_strategy="x"),
        ValueError,
        "anneal_strategy must be one of 'cos'",
    ),
    (
        lambda tg, lr, o: lr.OneCycleLR(o, [0.1], 9),
        ValueError,
        "max_lr must have the same length as optimizer.param_groups",
    ),
    (lambda tg, lr, o: lr.SequentialLR(o, [], []), ValueError, "expects at least one scheduler, but got no scheduler"),
    (lambda tg, lr, o: lr.SequentialLR(o, [lr.StepLR(o, 1)], [1]), ValueError, "one more than the number of milestone"),
    (
        lambda tg, lr, o: lr.SequentialLR(o, [lr.StepLR(another(tg), 1)], []),
        ValueError,
        "expects all schedulers to belong to the same optimizer, but got scheduler StepLR at index 0",
    ),
    (
        lambda tg, lr, o: lr.SequentialLR(o, [lr.ReduceLROnPlateau(o)], []),
        ValueError,
        "does not support `ReduceLROnPlateau` scheduler",
    ),
    (lambda tg, lr, o: lr.SequentialLR(o, [3], []), TypeError, "at index 0 should have `optimizer` as its attribute"),
    (lambda tg, lr, o: lr.ChainedScheduler([]), ValueError, "expects at least one scheduler to be chained"),
    (lambda tg, lr, o: lr.ChainedScheduler([3], o), TypeError, "at index 0 should have `optimizer` as its attribute"),
    (
        lambda tg, lr, o: lr.ChainedScheduler([lr.StepLR(o, 1), lr.StepLR(another(tg), 1)]),
        ValueError,
        "expects all schedulers to belong to the same optimizer, but got scheduler StepLR at index 1",
    ),
    (lambda tg, lr, o: lr.ReduceLROnPlateau(3), TypeError, "int is not an Optimizer"),
    (lambda tg, lr, o: lr.ReduceLROnPlateau(o, min_lr=[0.1]), ValueError, "expected 2 min_lrs, got 1"),
    (lambda tg, lr, o: lr.ReduceLROnPlateau(o, threshold_mode="x"), ValueError, "threshold mode x is unknown!"),
]


@pytest.mark.parametrize("make, error, phrase", WRONG, ids=[phrase[:40] for _, _, phrase in WRONG])
def test_wrong_arguments(tg, make, error, phrase):
    optimizer = optimizer_of(tg)
    before = options_now(optimizer)
    with pytest.raises(error, match=phrase):
        make(tg, tg.optim.lr_scheduler, optimizer)
    if tg.__name__ == "tracegrad":  # PyTorch has set some rates by then
        assert options_now(optimizer) == before


def test_the_base_has_no_plan(tg):
    with pytest.raises(NotImplementedError):
        tg.optim.lr_scheduler.LRScheduler(optimizer_of(tg))


def test_momentum_that_is_not_there(tg):
    class Plain(tg.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

    optimizer, lr = Plain([tg.zeros(1, requires_grad=True)], 0.5), tg.optim.lr_scheduler
    for make in (lambda: lr.CyclicLR(optimizer, 0.1, 0.2), lambda: lr.OneCycleLR(optimizer, 0.2, 9)):
        with pytest.raises(ValueError, match="optimizer must support momentum or beta1 with `cycle_momentum` option"):
            make()


def test_the_end_of_a_single_cycle(tg):
    optimizer = optimizer_of(tg)
    scheduler = tg.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 5)
    optimizer.step()
    for _ in range(5):
        scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 6 times. The specified number of total steps is 5"):
        scheduler.step()


def test_a_group_that_a_plateau_knows_no_least_rate_of(tg):
    optimizer = optimizer_of(tg)
    scheduler = tg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.0, 0.0])
    optimizer.add_param_group({"params": [tg.zeros(1, requires_grad=True)], "lr": 1.0})
    scheduler.step(1.0)
    with pytest.raises(RuntimeError, match="The number of param groups in the `optimizer` \\(3\\) differs from when"):
        scheduler.step(1.0)
