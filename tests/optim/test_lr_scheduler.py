"""Learning-rate plans: the rates of each step, checked against the plans' formulas."""

import math

import pytest

STEPS = 12
FIRST, SECOND = 0.1, 0.3

# Name, options, and the factor of the first rate after `epoch` steps.
PLANS = [
    ("StepLR", {"step_size": 3, "gamma": 0.5}, lambda epoch: 0.5 ** (epoch // 3)),
    ("MultiStepLR", {"milestones": [2, 5, 5]}, lambda epoch: 0.1 ** ((epoch >= 2) + 2 * (epoch >= 5))),
    ("ExponentialLR", {"gamma": 0.9}, lambda epoch: 0.9**epoch),
    ("CosineAnnealingLR", {"T_max": 4}, lambda epoch: (1 + math.cos(math.pi * epoch / 4)) / 2),
    ("LambdaLR", {"lr_lambda": lambda epoch: 1 / (1 + epoch)}, lambda epoch: 1 / (1 + epoch)),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.5}, lambda epoch: 0.5**epoch),
    ("ConstantLR", {"factor": 0.25, "total_iters": 4}, lambda epoch: 1.0 if epoch >= 4 else 0.25),
    ("LinearLR", {"start_factor": 0.2, "total_iters": 5}, lambda epoch: 0.2 + 0.8 * min(epoch, 5) / 5),
    ("PolynomialLR", {"total_iters": 6, "power": 2.0}, lambda epoch: (1 - min(epoch, 6) / 6) ** 2),
]


def two_rates(tg):
    first, second = tg.nn.Parameter(tg.ones(1)), tg.nn.Parameter(tg.ones(1))
    return tg.optim.SGD([{"params": [first]}, {"params": [second], "lr": SECOND}], lr=FIRST)


def rates(optimizer):
    return [group["lr"] for group in optimizer.param_groups]


def approximately(values):
    # A dozen products in double precision; a rate that has come down to zero is a rounding of the first one.
    return pytest.approx(values, rel=1e-12, abs=1e-15)


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("name, options, factor", PLANS, ids=[plan[0] for plan in PLANS])
def test_rates(tg, name, options, factor):
    optimizer = two_rates(tg)
    scheduler = getattr(tg.optim.lr_scheduler, name)(optimizer, **options)
    for epoch in range(STEPS):
        assert scheduler.last_epoch == epoch
        assert scheduler.get_last_lr() == rates(optimizer)
        assert rates(optimizer) == approximately([FIRST * factor(epoch), SECOND * factor(epoch)])
        scheduler.step()


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
def test_rates_set_by_hand_are_kept(tg):
    optimizer = two_rates(tg)
    scheduler = tg.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    optimizer.param_groups[0]["lr"] = 1.0
    scheduler.step()
    assert rates(optimizer) == [0.5, 0.15]


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("name, options, factor", PLANS, ids=[plan[0] for plan in PLANS])
def test_saved_plan_goes_on(tg, name, options, factor):
    optimizer = two_rates(tg)
    scheduler = getattr(tg.optim.lr_scheduler, name)(optimizer, **options)
    for _ in range(3):
        scheduler.step()
    other = two_rates(tg)
    resumed = getattr(tg.optim.lr_scheduler, name)(other, **options)
    other.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(scheduler.state_dict())
    for epoch in range(4, STEPS):
        resumed.step()
        assert rates(other) == approximately([FIRST * factor(epoch), SECOND * factor(epoch)])


@pytest.mark.parametrize(
    "options, metrics, expected",
    [
        ({"patience": 1}, [3, 3, 3, 3, 3], [1, 1, 0.1, 0.1, 0.01]),
        ({"patience": 0, "mode": "max"}, [1, 2, 1, 3, 3], [1, 1, 0.1, 0.1, 0.01]),
        ({"patience": 0, "threshold": 0.5}, [8, 5, 3, 2.9], [1, 0.1, 0.1, 0.01]),
        ({"patience": 0, "threshold": 1, "threshold_mode": "abs"}, [8, 7.5, 6, 5.5], [1, 0.1, 0.1, 0.01]),
        ({"patience": 0, "cooldown": 2}, [1, 1, 1, 1, 1], [1, 0.1, 0.1, 0.1, 0.01]),
        ({"patience": 0, "min_lr": 0.5}, [1, 1, 1], [1, 0.5, 0.5]),
    ],
)
def test_plateau(tg, options, metrics, expected):
    optimizer = tg.optim.SGD([tg.nn.Parameter(tg.ones(1))], lr=1.0)
    scheduler = tg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    found = []
    for metric in metrics:
        scheduler.step(tg.tensor(float(metric)))
        found += rates(optimizer)
    assert found == approximately(expected)


def test_compiled_step_follows_the_plan(tg, maybe_compile):
    w = tg.nn.Parameter(tg.tensor([1.0]))
    optimizer = tg.optim.SGD([w], lr=0.5)
    scheduler = tg.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)

    def train_step():
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step()

    step = maybe_compile(train_step)
    for expected in (0.5, 0.25, 0.125, 0.0625, 0.03125):
        step()
        scheduler.step()
        assert w.item() == expected


@pytest.mark.parametrize(
    "make, error, phrase",
    [
        (lambda lr, o: lr.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (lambda lr, o: lr.StepLR(o, 1, last_epoch=4), KeyError, "'initial_lr' is not specified in param_groups"),
        (lambda lr, o: lr.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0"),
        (lambda lr, o: lr.ReduceLROnPlateau(o, mode="best"), ValueError, "mode best is unknown"),
        (lambda lr, o: lr.LinearLR(o, start_factor=0), ValueError, "Starting multiplicative factor"),
    ],
)
def test_wrong_arguments(tg, make, error, phrase):
    with pytest.raises(error, match=phrase):
        make(tg.optim.lr_scheduler, two_rates(tg))
