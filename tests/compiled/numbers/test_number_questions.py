"""Numbers are data: what changes at each call is an input of the program, not a part of it."""

import math

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Numbers are data")
MANY = 40  # calls with everything changing: more than there may be specialisations
TWICE = 2  # recordings: when a number has another value in the second, it is known to be data


def wave(i, low=0.1, high=0.9):
    """A different number at each call."""
    return low + (high - low) * (0.5 + 0.5 * math.sin(i))


def trained(tg, optimizer, change, model=None, loss=None, inside=None):
    """A training step of `model`; ``change(i)`` happens before each call.

    In float64 and with data that let the weights converge, so that roundings do not add up over the calls.
    """
    model = (tg.nn.Linear(3, 2) if model is None else model).double()
    optimizer = optimizer(model.parameters())

    def step(x):
        optimizer.zero_grad()
        value = model(x).pow(2).mean() if loss is None else loss(model(x))
        value.backward()
        if inside is not None:
            inside(model)
        optimizer.step()
        return value

    def args(i):
        return (ramp(tg, 4, 3).double() * wave(i),)

    return Program(step, args, lambda: dict(model.state_dict()), lambda i: change(optimizer, i))


def group_changing(**values):
    def change(optimizer, i):
        for group in optimizer.param_groups:
            for key, value in values.items():
                group[key] = value(i)

    return change


def asked(question, way):
    """A row made of another function than a literal ``def``: its name and question are given."""

    def named(make):
        make.__name__ = question[0]
        make.__doc__ = question[1]
        return way(make)

    return named


@ask.replay(calls=MANY, c_calls=MANY - TWICE)
def float_argument(tg):
    """Does a float argument that changes at each call cost one specialisation?"""
    return Program(lambda x, scale: x * scale + scale, lambda i: (ramp(tg, 3), wave(i)))


@ask.replay(calls=MANY, c_calls=MANY - TWICE)
def float_keyword(tg):
    """Is a float passed by keyword data?"""
    return Program(lambda x, *, scale: x * scale, lambda i: (ramp(tg, 3),), kwargs=lambda i: {"scale": wave(i)})


@ask.replay(calls=20, c_calls=20 - TWICE)
def int_argument(tg):
    """Is an int argument that is only computed with data?"""
    return Program(lambda x, n: x * n - n, lambda i: (ramp(tg, 3), i + 2))


@ask.replay(calls=20, c_calls=20 - TWICE)
def int_computed_with_int_tensor(tg):
    """Is an int that meets an int tensor data, of integer type?"""
    return Program(lambda x, n: x * n + n, lambda i: (tg.arange(3), i + 2))


@ask.replay(calls=20, c_calls=20 - TWICE)
def number_used_in_python_first(tg):
    """Is a float that Python arithmetic works on before it meets a tensor data?"""
    return Program(lambda x, t: x * (1.0 - t) / (2 * t + 1), lambda i: (ramp(tg, 3), wave(i)))


@ask.replay(specialisations=3, calls=6)
def int_that_shapes_something(tg):
    """Is an int that shapes something a guard?"""
    return Program(lambda x, n: x.expand(n, 3).sum(0) + tg.ones(n).sum(), lambda i: (ramp(tg, 3), i % 3 + 1))


@ask.either(calls=8)
def number_compared(tg):
    """Does `if number > limit` go both ways?"""

    def step(x, t):
        if t > 0.5:
            return x * t
        return x - t

    return Program(step, lambda i: (ramp(tg, 3), wave(i)))


@ask.either(calls=8)
def number_in_a_range(tg):
    """Does `for _ in range(n)` go round n times?"""

    def step(x, n):
        for k in range(n):
            x = x * 0.5 + k
        return x

    return Program(step, lambda i: (ramp(tg, 3), i % 4))


@ask.either(calls=6)
def number_as_an_index(tg):
    """Is an int that indexes a tensor believed?"""
    data = ramp(tg, 4, 3)
    return Program(lambda k: data[k] * 2, lambda i: (i % 4,), lambda: data, lambda i: data.add_(1.0))


@ask.either(calls=6)
def number_that_is_returned(tg):
    """Is a number that is returned the one that was passed, of its type?"""
    return Program(lambda x, a, b: (x * a, a, b, a * 2), lambda i: (ramp(tg, 3), wave(i), i))


@ask.either(calls=6)
def number_into_a_list(tg):
    """Do numbers in nested arguments arrive?"""
    return Program(
        lambda x, options: x * options["scale"][0] + options["shift"],
        lambda i: (ramp(tg, 3), {"scale": [wave(i), 1.0], "shift": float(i)}),
    )


@ask.either(calls=8)
def kinds_of_numbers(tg):
    """Are bool, int and float arguments told apart in the result's dtype?"""
    kinds = [True, 1, 1.0, False, 2, 0.5, True, 3]
    return Program(lambda x, n: x * n, lambda i: (tg.arange(3), kinds[i]))


@ask.either(calls=8)
def special_numbers(tg):
    """Are nan, infinities and minus zero data like any other?"""
    values = [1.0, math.nan, math.inf, -0.0, 0.0, -math.inf, 1e-45, 1e39]
    return Program(lambda x, n: (x * n, 1 / (x * 0 + n)), lambda i: (ramp(tg, 3), values[i]))


@ask.either(calls=6)
def number_beyond_float32(tg):
    """Is a float computed with in double precision where eager mode does?"""
    return Program(lambda x, n: (x + (n - 1.0), x.double() * n), lambda i: (ramp(tg, 3), 1.0 + (i + 1) * 1e-9))


@ask.either(calls=6)
def integer_beyond_float(tg):
    """Is a large int exact?"""
    return Program(lambda x, n: x + n, lambda i: (tg.arange(3), 2**53 + 1 + i))


@ask.either(calls=6)
def power_of_a_number(tg):
    """Is an exponent that becomes 2, 0.5, 0 or -1 the right power, with its derivative?"""
    powers = [2, 3, 0.5, 0, -1, 2.0]
    w = weight(tg, 3)
    w.data.abs_().add_(0.1)

    def step(x, p):
        w.grad = None
        (w * x).pow(p).sum().backward()

    return Program(step, lambda i: (ramp(tg, 3).abs() + 1, powers[i]), lambda: w)


OPTIONS = {
    "SGD": (
        dict(lr=0.1, momentum=0.9, weight_decay=0.1, dampening=0.2),
        ("lr", "momentum", "weight_decay", "dampening"),
    ),
    "SGD nesterov": (dict(lr=0.1, momentum=0.9, nesterov=True), ("lr", "momentum")),
    "Adam": (dict(lr=0.1, betas=(0.9, 0.99), weight_decay=0.1), ("lr", "eps", "weight_decay", "betas")),
    "AdamW": (dict(lr=0.1, betas=(0.9, 0.99), weight_decay=0.1), ("lr", "eps", "weight_decay", "betas")),
}


def optimizer_question(name):
    options, keys = OPTIONS[name]

    def make(tg):
        values = dict.fromkeys(keys, wave) | {"lr": lambda i: wave(i, 0.001, 0.1), "eps": lambda i: wave(i, 1e-3, 1e-2)}
        values["betas"] = lambda i: (wave(i), wave(i + 1))
        values = {key: values[key] for key in keys}
        return trained(tg, lambda p: getattr(tg.optim, name.split()[0])(p, **options), group_changing(**values))

    c_calls = MANY - 2 if "momentum" in keys else MANY - 1  # SGD makes its momentum buffers in the first call
    text = f"Are {', '.join(keys)} of {name} data, when all of them change at each call?"
    asked((f"options_of_{name.replace(' ', '_')}", text), ask.replay(calls=MANY, c_calls=c_calls))(make)


for each in OPTIONS:
    optimizer_question(each)


@ask.replay(calls=MANY)
def learning_rate_as_a_tensor(tg):
    """Is a learning rate that is a tensor, filled from outside, data?"""
    lr = tg.tensor(0.1)
    return trained(tg, lambda p: tg.optim.SGD(p, lr=lr), lambda optimizer, i: lr.fill_(wave(i)))


@ask.replay(calls=MANY, c_calls=MANY - TWICE)
def clip_norm(tg):
    """Is the norm that gradients are clipped to data, from a variable of the surroundings?"""
    limit = 1.0

    def change(optimizer, i):
        nonlocal limit
        limit = wave(i, 0.01, 1.0)

    return trained(
        tg,
        lambda p: tg.optim.SGD(p, lr=0.1),
        change,
        inside=lambda model: tg.nn.utils.clip_grad_norm_(model.parameters(), limit),
    )


@ask.replay(calls=20, c_calls=20 - TWICE)
def dropout_probability(tg):
    """Is p of a dropout layer data, with PyTorch's random numbers?"""
    drop = tg.nn.Dropout(0.5)
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), drop)

    def change(optimizer, i):
        drop.p = wave(i)

    return trained(tg, lambda p: tg.optim.SGD(p, lr=0.1), change, model)


@ask.replay(calls=20, c_calls=20 - TWICE)
def loss_weight_in_an_attribute(tg):
    """Is a loss weight in an attribute of the user's object data?"""

    class Config:
        weight = 1.0

    config = Config()

    def change(optimizer, i):
        config.weight = wave(i)

    return trained(tg, lambda p: tg.optim.SGD(p, lr=0.1), change, loss=lambda y: config.weight * y.pow(2).mean())


@ask.replay(calls=20, c_calls=20 - TWICE)
def loss_weight_in_a_dict(tg):
    """Is a loss weight in a captured dict data?"""
    weights = {"a": 1.0, "b": 2.0}

    def change(optimizer, i):
        weights["a"] = wave(i)

    return trained(
        tg,
        lambda p: tg.optim.SGD(p, lr=0.1),
        change,
        loss=lambda y: weights["a"] * y.pow(2).mean() + weights["b"] * y.abs().mean(),
    )


@ask.replay(calls=20, c_calls=20 - TWICE)
def momentum_of_batch_norm(tg):
    """Are momentum and eps of a BatchNorm layer data?"""
    norm = tg.nn.BatchNorm1d(3)
    model = tg.nn.Sequential(
        norm, tg.nn.Linear(3, 2)
    )  # in this order no direction of the weights is without a gradient

    def change(optimizer, i):
        norm.momentum, norm.eps = wave(i), wave(i, 1e-5, 1e-3)

    return trained(tg, lambda p: tg.optim.SGD(p, lr=0.1), change, model)


SCHEDULERS = {
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5], 0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 10),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=100),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "LinearLR": lambda s, o: s.LinearLR(o, total_iters=10),
}


def scheduler_question(name):
    def make(tg):
        model, made = tg.nn.Linear(3, 2), []

        def optimizer(parameters):
            made.append(tg.optim.SGD(parameters, lr=0.1, momentum=0.9))
            made.append(SCHEDULERS[name](tg.optim.lr_scheduler, made[0]))
            return made[0]

        program = trained(tg, optimizer, lambda optimizer, i: made[1].step() if i else None, model)
        group = made[0].param_groups[0]
        program.state = lambda: (dict(model.state_dict()), float(group["lr"]), float(group["momentum"]))
        return program

    text = f"Is what {name} makes of the learning rate data?"
    asked((f"scheduler_{name}", text), ask.replay(calls=20, c_calls=18))(make)


for each in SCHEDULERS:
    scheduler_question(each)


@ask.replay(calls=300, c_calls=300 - TWICE)
def everything_at_once(tg):
    """Is a long run with all numbers changing at each call one specialisation, equal to eager mode?"""
    w = weight(tg, 3).double().detach().requires_grad_()
    optimizer = tg.optim.SGD([w], lr=0.1, weight_decay=0.1)

    def step(x, scale, shift):
        optimizer.zero_grad()
        loss = (scale * (w * x - shift)).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    change = group_changing(lr=lambda i: wave(i, 0.01, 0.1), weight_decay=wave)
    return Program(step, lambda i: (ramp(tg, 3).double(), wave(i), i % 7), lambda: w, lambda i: change(optimizer, i))


@ask.rerecord(calls=6)
def scheduler_inside(tg):
    """Does a scheduler that is stepped inside go on?"""
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    scheduler = tg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    def step(x):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        scheduler.step()  # here

    return Program(step, batches(tg, 4, 3), lambda: (list(model.parameters()), scheduler.get_last_lr()))


@ask.rerecord(calls=6)
def learning_rate_decayed_inside(tg):
    """Does `group["lr"] *= 0.9` inside go on?"""
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] *= 0.9  # here

    return Program(step, batches(tg, 4, 3), lambda: (list(model.parameters()), optimizer.param_groups[0]["lr"]))


@ask.either(calls=6)
def number_of_a_numpy_scalar(tg):
    """Is a numpy scalar that changes in place in a 0-d array read anew?"""
    scale = tg.zeros(1).numpy()

    def between(i):
        scale[0] = i

    return Program(lambda x: x * float(scale[0]), lambda i: (batch(tg, i, 3),), tuple, between)


@pytest.mark.parametrize("question", ask.rows())
def test_numbers(answer, question):
    answer(question)
