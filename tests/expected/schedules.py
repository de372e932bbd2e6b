"""The rates, momentums and saved keys of every plan over forty steps: two groups, rates in tensors, step(epoch)."""

import warnings

import numpy as np

STEPS = 40
FIRST, SECOND = 0.1, 0.3
# Given to step() in this order, where a plan takes epochs.
EPOCHS = [0, 3, 1, 8, 5, 20, 6, 33]


def falling(epoch):
    return 1 / (1 + 0.1 * epoch)


def waving(epoch):
    return 0.9 if epoch % 3 else 1.2


# One scheduler each: the class and its options.
PLANS = {
    "lambda": ("LambdaLR", {"lr_lambda": falling}),
    "lambda each": ("LambdaLR", {"lr_lambda": [falling, waving]}),
    "multiplicative": ("MultiplicativeLR", {"lr_lambda": waving}),
    "step": ("StepLR", {"step_size": 7, "gamma": 0.3}),
    "multi step": ("MultiStepLR", {"milestones": [4, 9, 9, 30], "gamma": 0.7}),
    "constant": ("ConstantLR", {"factor": 0.3, "total_iters": 6}),
    "linear": ("LinearLR", {"start_factor": 0.15, "end_factor": 0.85, "total_iters": 13}),
    "linear default": ("LinearLR", {}),
    "exponential": ("ExponentialLR", {"gamma": 0.93}),
    "polynomial": ("PolynomialLR", {"total_iters": 25, "power": 1.7}),
    "cosine": ("CosineAnnealingLR", {"T_max": 11, "eta_min": 0.003}),
    "restarts": ("CosineAnnealingWarmRestarts", {"T_0": 6, "eta_min": 0.01}),
    "restarts longer": ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2}),
    "triangular": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.17, "step_size_up": 7}),
    "triangular2": (
        "CyclicLR",
        {"base_lr": [0.01, 0.03], "max_lr": [0.1, 0.2], "step_size_up": 3, "step_size_down": 6, "mode": "triangular2"},
    ),
    "exp_range": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 5, "mode": "exp_range", "gamma": 0.97, "max_momentum": 0.93},
    ),
    "cyclic function": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 4, "scale_fn": falling, "scale_mode": "iterations"},
    ),
    "cyclic rate only": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 4, "cycle_momentum": False}),
    "one cycle": ("OneCycleLR", {"max_lr": 0.2, "total_steps": 41}),
    "one cycle linear": ("OneCycleLR", {"max_lr": [0.2, 0.3], "epochs": 6, "steps_per_epoch": 7, "pct_start": 0.4}),
    "one cycle phases": (
        "OneCycleLR",
        {
            "max_lr": 0.2,
            "total_steps": 45,
            "three_phase": True,
            "anneal_strategy": "linear",
            "base_momentum": 0.7,
            "max_momentum": [0.9, 0.8],
            "div_factor": 10.0,
            "final_div_factor": 100.0,
        },
    ),
    "one cycle rate only": ("OneCycleLR", {"max_lr": 0.2, "total_steps": 41, "cycle_momentum": False}),
}

CYCLES = [plan for plan, (name, _) in PLANS.items() if name in ("CyclicLR", "OneCycleLR")]

# Made of several schedulers.
COMBINED = {
    "sequence": lambda lr, optimizer: lr.SequentialLR(
        optimizer,
        [
            lr.LinearLR(optimizer, 0.1, total_iters=5),
            lr.CosineAnnealingLR(optimizer, 20),
            lr.ConstantLR(optimizer, 0.2),
        ],
        milestones=[5, 25],
    ),
    "sequence of sequences": lambda lr, optimizer: lr.SequentialLR(
        optimizer,
        [
            lr.SequentialLR(optimizer, [lr.ConstantLR(optimizer), lr.ExponentialLR(optimizer, 0.9)], milestones=[4]),
            lr.StepLR(optimizer, 3, 0.5),
        ],
        milestones=[15],
    ),
    "sequence from its second part": lambda lr, optimizer: lr.SequentialLR(
        optimizer, [lr.ConstantLR(optimizer), lr.ExponentialLR(optimizer, 0.9)], milestones=[0]
    ),
    "chain": lambda lr, optimizer: lr.ChainedScheduler(
        [lr.ConstantLR(optimizer, 0.1, total_iters=20), lr.ExponentialLR(optimizer, 0.9)]
    ),
    "chain with a cosine": lambda lr, optimizer: lr.ChainedScheduler(
        [lr.LinearLR(optimizer, 0.2, total_iters=9), lr.CosineAnnealingLR(optimizer, 8)], optimizer
    ),
    "two on one": lambda lr, optimizer: [lr.StepLR(optimizer, 4, 0.5), lr.ExponentialLR(optimizer, 0.95)][-1],
}

PLATEAUS = {
    "plateau": {"patience": 2, "factor": 0.3},
    "plateau up": {"patience": 1, "mode": "max", "threshold": 0.02},
    "plateau amount": {"patience": 0, "threshold": 0.3, "threshold_mode": "abs", "cooldown": 2},
    "plateau up amount": {"patience": 1, "mode": "max", "threshold": 0.1, "threshold_mode": "abs"},
    "plateau least": {"patience": 0, "min_lr": [0.02, 0.001], "eps": 1e-3},
}
METRICS = [
    1.0,
    0.9,
    0.85,
    0.9,
    0.95,
    0.91,
    0.5,
    0.52,
    0.53,
    0.5,
    0.49999,
    0.7,
    0.7,
    0.7,
    0.3,
    0.31,
    0.32,
    0.33,
    0.4,
    0.2,
]

OPTIMIZERS = {"sgd": ("SGD", {"momentum": 0.5}), "adam": ("Adam", {"betas": (0.6, 0.95)})}


def optimizer_of(tg, kind="sgd", rate_type=None):
    """Two groups with a rate each; with `rate_type` the rates are tensors."""

    def rate(value):
        return value if rate_type is None else tg.tensor(value, dtype=getattr(tg, rate_type))

    name, options = OPTIMIZERS[kind]
    first, second = tg.zeros(1, requires_grad=True), tg.zeros(1, requires_grad=True)
    groups = [{"params": [first]}, {"params": [second], "lr": rate(SECOND)}]
    return getattr(tg.optim, name)(groups, lr=rate(FIRST), **options)


def scheduler_of(tg, plan, optimizer):
    if plan in COMBINED:
        return COMBINED[plan](tg.optim.lr_scheduler, optimizer)
    name, options = PLANS[plan]
    return getattr(tg.optim.lr_scheduler, name)(optimizer, **options)


def options_now(optimizer):
    """Of each group the rate and the momentum, as floats, in one row."""
    return [
        float(value)
        for group in optimizer.param_groups
        for value in (group["lr"], group["betas"][0] if "betas" in group else group["momentum"])
    ]


def forty_steps(tg, plan, kind="sgd", rate_type=None):
    optimizer = optimizer_of(tg, kind, rate_type)
    scheduler = scheduler_of(tg, plan, optimizer)
    found = [options_now(optimizer)]
    for _ in range(STEPS):
        optimizer.step()
        scheduler.step()
        found.append(options_now(optimizer))
    return found


def by_epochs(tg, plan):
    optimizer = optimizer_of(tg)
    scheduler, found = scheduler_of(tg, plan, optimizer), []
    for epoch in EPOCHS:
        optimizer.step()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The epoch parameter")
            scheduler.step(epoch)
        found.append([*options_now(optimizer), scheduler.last_epoch])
    return found


def by_metrics(tg, plan):
    optimizer, found = optimizer_of(tg), []
    scheduler = tg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **PLATEAUS[plan])
    for metric in METRICS:
        scheduler.step(metric)
        kept = [scheduler.best, scheduler.num_bad_epochs, scheduler.cooldown_counter, scheduler.last_epoch]
        found.append([*options_now(optimizer), *kept])
    return found


def saved_keys(tg, plan):
    """The names under which a plan saves what it is (PyTorch's files can be read, and ours by it), and those of the
    options that it makes, in their order."""
    optimizer = optimizer_of(tg)
    if plan in PLATEAUS:
        scheduler = tg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **PLATEAUS[plan])
    else:
        scheduler = scheduler_of(tg, plan, optimizer)
    return [*scheduler.state_dict(), *optimizer.param_groups[0]]


def make(tg):
    stored = {}
    for plan in (*PLANS, *COMBINED):
        stored[plan] = forty_steps(tg, plan)
        stored[f"{plan}|float32"] = forty_steps(tg, plan, "sgd", "float32")
    for plan in CYCLES:
        stored[f"{plan}|adam"] = forty_steps(tg, plan, "adam")
    for plan in PLANS:
        stored[f"{plan}|epochs"] = by_epochs(tg, plan)
    for plan in PLATEAUS:
        stored[plan] = by_metrics(tg, plan)
    for plan in (*PLANS, *COMBINED, *PLATEAUS):
        stored[f"{plan}|keys"] = saved_keys(tg, plan)
    return {key: np.array(rows) for key, rows in stored.items()}
