"""Fifty steps of each optimizer on a small network in float64."""

import numpy as np

STEPS = 50
# Names of the option sets become keys of the stored file.
OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd momentum": ("SGD", {"lr": 0.05, "momentum": 0.9}),
    "sgd dampening": ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.5}),
    "sgd nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "sgd weight decay": ("SGD", {"lr": 0.1, "weight_decay": 0.01}),
    "sgd everything": ("SGD", {"lr": 0.02, "momentum": 0.8, "nesterov": True, "weight_decay": 0.02}),
    "sgd maximize": ("SGD", {"lr": 0.005, "momentum": 0.5, "maximize": True}),
    "adam": ("Adam", {"lr": 0.01}),
    "adam betas": ("Adam", {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-3}),
    "adam weight decay": ("Adam", {"lr": 0.01, "weight_decay": 0.1}),
    "adam amsgrad": ("Adam", {"lr": 0.05, "amsgrad": True}),
    "adam maximize": ("Adam", {"lr": 0.001, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.01}),
    "adamw weight decay": ("AdamW", {"lr": 0.01, "weight_decay": 0.2, "betas": (0.85, 0.99)}),
    "adamw amsgrad": ("AdamW", {"lr": 0.05, "amsgrad": True}),
}


def numbers(count, shape, shift):
    """Fixed, smooth, different everywhere; no generator is involved."""
    return np.sin(np.arange(count) * 1.7 + shift).reshape(shape)


class Problem:
    """A tanh network with two layers, fixed data, and one training step."""

    def __init__(self, tg, dtype="float64"):
        self.tg, self.dtype = tg, getattr(tg, dtype)
        self.x, self.y = self.tensor(numbers(24, (8, 3), 0.3)), self.tensor(numbers(16, (8, 2), 1.1))
        self.model = tg.nn.Sequential(tg.nn.Linear(3, 5), tg.nn.Tanh(), tg.nn.Linear(5, 2)).to(self.dtype)
        with tg.no_grad():
            for shift, parameter in enumerate(self.model.parameters()):
                parameter.copy_(self.tensor(numbers(parameter.numel(), tuple(parameter.shape), shift)))

    def tensor(self, array):
        return self.tg.tensor(array, dtype=self.dtype)

    def optimizer(self, kind):
        name, options = OPTIMIZERS[kind]
        return getattr(self.tg.optim, name)(self.model.parameters(), **options)

    def step_with(self, optimizer):
        def step(x, y):
            optimizer.zero_grad()
            loss = self.tg.nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    def run(self, step, count=STEPS):
        return np.array([step(self.x, self.y).item() for _ in range(count)])

    def parameters(self):
        """All parameters in one array (a copy)."""
        return np.concatenate([parameter.detach().numpy().ravel() for parameter in self.model.parameters()])


def two_groups(problem):
    """The second layer without decay and at its own rate."""
    first, _, second = problem.model
    groups = [{"params": first.parameters(), "weight_decay": 0.1}, {"params": second.parameters(), "lr": 0.05}]
    return problem.tg.optim.SGD(groups, lr=0.01, momentum=0.9)


def run_halving(problem, optimizer, step):
    """The rate is halved after every ten steps, through param_groups."""
    losses = []
    for _ in range(5):
        losses.append(problem.run(step, 10))
        for group in optimizer.param_groups:
            group["lr"] *= 0.5
    return np.concatenate(losses)


def make(tg):
    stored = {}
    for kind in OPTIMIZERS:
        problem = Problem(tg)
        stored[f"{kind}|losses"] = problem.run(problem.step_with(problem.optimizer(kind)))
        stored[f"{kind}|parameters"] = problem.parameters()
    problem = Problem(tg)
    stored["two groups|losses"] = problem.run(problem.step_with(two_groups(problem)))
    stored["two groups|parameters"] = problem.parameters()
    for kind in ("sgd momentum", "adam"):
        problem = Problem(tg)
        optimizer = problem.optimizer(kind)
        stored[f"{kind} halving|losses"] = run_halving(problem, optimizer, problem.step_with(optimizer))
        stored[f"{kind} halving|parameters"] = problem.parameters()
    return stored
