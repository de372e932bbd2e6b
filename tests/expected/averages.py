"""Averaged models, their rates, and batch statistics, in every way of averaging."""

import numpy as np

#: name: options of AveragedModel, where functions are made by ``f(swa_utils)``.
WAYS = {
    "equal": {},
    "equal with buffers": {"use_buffers": True},
    "moving": {"avg_fn": lambda swa: swa.get_ema_avg_fn(0.9)},
    "moving lists": {"multi_avg_fn": lambda swa: swa.get_ema_multi_avg_fn(0.3), "use_buffers": True},
    "equal lists": {"multi_avg_fn": lambda swa: swa.get_swa_multi_avg_fn()},
}
PLANS = {
    "cosine": {"swa_lr": 0.05, "anneal_epochs": 3},
    "linear": {"swa_lr": [0.05, 0.3], "anneal_epochs": 4, "anneal_strategy": "linear"},
    "at once": {"swa_lr": 0.02, "anneal_epochs": 0},
}
STEPS = 8


def averaged(tg, way, wrap=lambda step: step):
    """Losses, and the sums of what the averaged model holds after training and after `update_bn`; its keys."""
    swa = tg.optim.swa_utils
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.BatchNorm1d(4), tg.nn.Tanh(), tg.nn.Linear(4, 1)).double()
    with tg.no_grad():
        for shift, p in enumerate(model.parameters()):
            p.copy_(tg.tensor(np.sin(np.arange(p.numel()) * 1.3 + shift).reshape(tuple(p.shape))))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    options = {k: v(swa) if callable(v) else v for k, v in WAYS[way].items()}
    average = swa.AveragedModel(model, **options)
    x = tg.tensor(np.sin(np.arange(24.0)).reshape(8, 3))

    def step(x, factor):
        optimizer.zero_grad()
        loss = (model(x * factor) ** 2).mean()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
        return loss.detach()

    step = wrap(step)
    found = [step(x, tg.tensor(1.0 + i, dtype=tg.float64)).item() for i in range(STEPS)]
    found += [value.double().sum().item() for value in average.state_dict().values()]
    swa.update_bn([x, (x * 2, None)], average)
    found += [value.double().sum().item() for value in average.state_dict().values()]
    return np.array([*found, average(x).sum().item()]), list(average.state_dict())


def rates(tg, plan):
    groups = [{"params": [tg.nn.Parameter(tg.ones(1))], "lr": lr} for lr in (0.1, 0.4)]
    optimizer = tg.optim.SGD(groups)
    scheduler = tg.optim.swa_utils.SWALR(optimizer, **PLANS[plan])
    found = []
    for _ in range(6):
        optimizer.step()
        scheduler.step()
        found.append(scheduler.get_last_lr())
    return np.array(found)


def make(tg):
    stored = {way: averaged(tg, way)[0] for way in WAYS}
    return stored | {f"rates {plan}": rates(tg, plan) for plan in PLANS}
