"""Options of optimizers are numbers of the call, not of the program; groups, state and schedules are noticed."""

import pytest
from side_by_side import Program, ramp


def optimized(change, optimizer="Adam", specialisations=None, **options):
    """A training step whose optimizer is changed between calls."""

    def make(tg):
        model = tg.nn.Linear(3, 1)
        made = getattr(tg.optim, optimizer)(model.parameters(), **{"lr": 0.1, **options})
        extra = ramp(tg, 1).requires_grad_()

        def step(x):
            made.zero_grad()
            extra.grad = None
            loss = ((model(x) * extra) ** 2).mean()
            loss.backward()
            made.step()
            return loss

        def between(i):
            if i >= 2:
                change(tg, made, i, extra)

        def state():
            return [list(model.parameters()), extra]

        return Program(step, lambda i: (ramp(tg, 4, 3) * (i + 1),), state, between, specialisations)

    return make


def set_all(key, value):
    return lambda tg, optimizer, i, extra: optimizer.param_groups[0].__setitem__(key, value(tg, i))


OPTIMIZERS = {
    "lr": optimized(set_all("lr", lambda tg, i: 0.1 / i), specialisations=1),
    "betas": optimized(set_all("betas", lambda tg, i: (0.5 + 0.05 * i, 0.9)), specialisations=1),
    "eps": optimized(set_all("eps", lambda tg, i: 10.0**-i), specialisations=1),
    "decay": optimized(set_all("weight_decay", lambda tg, i: 0.1 * i), "AdamW", specialisations=1, weight_decay=0.1),
    "decay_from_zero": optimized(set_all("weight_decay", lambda tg, i: 0.1 * (i % 2)), "SGD", specialisations=2),
    "momentum": optimized(set_all("momentum", lambda tg, i: 0.1 * i), "SGD", specialisations=1, momentum=0.9),
    "nesterov": optimized(set_all("nesterov", lambda tg, i: i > 3), "SGD", specialisations=2, momentum=0.9),
    "maximize": optimized(set_all("maximize", lambda tg, i: i > 3), specialisations=2),
    "tensor_lr": optimized(set_all("lr", lambda tg, i: tg.tensor(0.1 * i))),
    "new_group": optimized(
        lambda tg, o, i, extra: o.add_param_group({"params": [extra], "lr": 0.5}) if i == 3 else None
    ),
    "state_dropped": optimized(lambda tg, o, i, extra: o.state.clear() if i == 4 else None),
    "state_loaded": optimized(lambda tg, o, i, extra: o.load_state_dict(o.state_dict())),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(agree, name):
    agree(OPTIMIZERS[name], calls=7)


def test_lr_changed_inside_a_tensor(agree):
    def make(tg):
        w, lr = ramp(tg, 3).requires_grad_(), tg.tensor(0.1)
        optimizer = tg.optim.SGD([w], lr=lr)

        def step(x):
            optimizer.zero_grad()
            (w * x).pow(2).sum().backward()
            optimizer.step()

        return Program(step, lambda i: (ramp(tg, 3),), lambda: w, lambda i: lr.mul_(0.5), 1)

    agree(make)


@pytest.mark.parametrize("name", ["StepLR", "ExponentialLR", "CosineAnnealingLR"])
def test_scheduler(agree, name):
    options = {"StepLR": (2,), "ExponentialLR": (0.9,), "CosineAnnealingLR": (5,)}

    def make(tg):
        w = ramp(tg, 3).requires_grad_()
        optimizer = tg.optim.SGD([w], lr=0.1, momentum=0.9)
        scheduler = getattr(tg.optim.lr_scheduler, name)(optimizer, *options[name])

        def step(x):
            optimizer.zero_grad()
            (w * x).pow(2).sum().backward()
            optimizer.step()

        return Program(step, lambda i: (ramp(tg, 3),), lambda: w, lambda i: i and scheduler.step(), 1)

    agree(make, calls=8)
