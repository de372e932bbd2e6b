"""Two hundred steps of each optimizer, with the options that PyTorch's own tests of it try, in float64."""

import itertools

import numpy as np

from .optimizers import Problem

STEPS = 200
SEEN = slice(None, None, 25)  # which of the losses are stored
DECAY = {"weight_decay": 0.1}
SCHEDULES = {
    "step": lambda tg, optimizer: tg.optim.lr_scheduler.StepLR(optimizer, 40, 0.5),
    "cosine": lambda tg, optimizer: tg.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100),
    "cycle": lambda tg, optimizer: tg.optim.lr_scheduler.OneCycleLR(
        optimizer, 0.01, total_steps=STEPS + 1, cycle_momentum="betas" in optimizer.defaults
    ),
}

#: name of the case: (optimizer, options); the first of each optimizer is tested in every run.
CASES = {
    f"{name} {number}": (name, options)
    for name, cases in {
        "Adadelta": [{"rho": 0.95, "weight_decay": 0.9}, {}, {"lr": 0.01}, DECAY, {"maximize": True, **DECAY}],
        "Adafactor": [{"lr": 0.01, **DECAY}, {}, {"maximize": True, **DECAY}, {"beta2_decay": -1.0}, {"d": 1.5}],
        "Adagrad": [
            {"initial_accumulator_value": 0.1, "lr_decay": 0.5, **DECAY},
            {"lr": 0.1},
            {"maximize": True, **DECAY},
            {"foreach": True, "eps": 1e-3},
        ],
        "Adam": [
            {"decoupled_weight_decay": True, "amsgrad": True, **DECAY},
            {"lr": 0.01, "maximize": True, **DECAY},
            {"betas": (0.8, 0.95), "foreach": True},
        ],
        "AdamW": [{"lr": 0.01, "amsgrad": True, "maximize": True, **DECAY}],
        "Adamax": [{"lr": 0.01, **DECAY}, {}, {"maximize": True, **DECAY}, {"betas": (0.8, 0.9), "eps": 1e-3}],
        "ASGD": [{"t0": 100, "lambd": 0.01, "alpha": 0.5, **DECAY}, {"lr": 0.02}, {"maximize": True, **DECAY}],
        "NAdam": [
            {"momentum_decay": 6e-3, "decoupled_weight_decay": True, **DECAY},
            {"lr": 1e-3},
            {"momentum_decay": 6e-3, "maximize": True, **DECAY},
        ],
        "RAdam": [
            {"decoupled_weight_decay": True, **DECAY},
            {"lr": 2e-3},
            {"eps": 1e-6, "maximize": True, **DECAY},
            {"betas": (0.5, 0.6)},
        ],
        "RMSprop": [
            {"centered": True, "momentum": 0.1, **DECAY},
            {"lr": 1e-3},
            {"centered": True, "foreach": True},
            {"momentum": 0.9, "maximize": True, **DECAY},
        ],
        "Rprop": [{"lr": 2e-4}, {"etas": (0.5, 1.5)}, {"step_sizes": (2e-6, 0.01), "maximize": True}],
        "SGD": [{"lr": 0.01, "momentum": 0.9, "dampening": 0.5, "maximize": True, **DECAY}],
    }.items()
    for number, options in enumerate(cases)
}
SCHEDULED = [(kind, schedule) for kind in ("Adamax 0", "RMSprop 0", "NAdam 1", "ASGD 0") for schedule in SCHEDULES]


class Trajectory(Problem):
    """The problem of `optimizers`; with `maximize`, of the negative loss, so that all cases have an end."""

    def optimizer(self, kind):
        name, options = CASES[kind]
        first, _, second = self.model
        groups = [{"params": first.parameters(), "lr": 0.02}, {"params": second.parameters()}]
        self.sign = -1.0 if options.get("maximize") else 1.0
        return getattr(self.tg.optim, name)(groups, **options)

    def step_with(self, optimizer):
        def step(x, y):
            optimizer.zero_grad()
            loss = self.tg.nn.functional.mse_loss(self.model(x), y) * self.sign
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    def run_with(self, step, schedule):
        """As `run`, with a step of the schedule after each."""

        def both(x, y):
            loss = step(x, y)
            schedule.step()
            return loss

        return self.run(both, STEPS)


#: name of the case: options of L-BFGS.
QUASI_NEWTON = {
    "wolfe": {"line_search_fn": "strong_wolfe"},
    "fixed": {"lr": 0.1},
    "options": {"lr": 0.01, "tolerance_grad": 1e-6, "max_iter": 7, "history_size": 3},
    "few evaluations": {"line_search_fn": "strong_wolfe", "max_eval": 6, "lr": 0.3, "history_size": 2},
}
CALLS = 4  # later the loss is so small that roundings lead the way


def quasi_newton(problem, kind, wrap=lambda step: step):
    """The losses of some calls of L-BFGS, the parameters, how often the loss was computed, and the optimizer."""
    tg, evaluations = problem.tg, []
    optimizer = tg.optim.LBFGS(problem.model.parameters(), **QUASI_NEWTON[kind])

    def step(x, y):
        def closure():
            optimizer.zero_grad()
            loss = tg.nn.functional.mse_loss(problem.model(x), y)
            loss.backward()
            evaluations.append(None)
            return loss

        return optimizer.step(closure).detach()

    losses = problem.run(wrap(step), CALLS)
    return losses, problem.parameters(), len(evaluations), optimizer


def make(tg):
    stored = {}
    for kind in CASES:
        problem = Trajectory(tg)
        stored[f"{kind}|losses"] = problem.run(problem.step_with(problem.optimizer(kind)), STEPS)[SEEN]
        stored[f"{kind}|parameters"] = problem.parameters()
    for kind, schedule in SCHEDULED:
        problem = Trajectory(tg)
        optimizer = problem.optimizer(kind)
        run = problem.run_with(problem.step_with(optimizer), SCHEDULES[schedule](tg, optimizer))
        stored[f"{kind} {schedule}|losses"], stored[f"{kind} {schedule}|parameters"] = run[SEEN], problem.parameters()
    for kind in QUASI_NEWTON:
        losses, parameters, evaluations, _ = quasi_newton(Problem(tg), kind)
        stored |= {f"lbfgs {kind}|losses": losses, f"lbfgs {kind}|parameters": parameters}
        stored[f"lbfgs {kind}|evaluations"] = np.array(evaluations)
    return stored


def make_texts(tg):
    """The layout of each optimizer's state after two steps: keys, shapes and types, and the keys of a group."""
    lengths = {"lengths of L-BFGS": kinds_of_lengths(tg)}
    return lengths | {name: layout(tg, name) for name in sorted({name for name, _ in CASES.values()} | {"Muon"})}


def kinds_of_lengths(tg):
    """What L-BFGS keeps as the length of its latest step, `t`: a number or a tensor, and whether it is the rate itself.

    With and without a line search, for rates of each kind, ends at the first, second and fifth iteration, and starts
    whose first step is cut short or not.
    """
    found, rates = {}, {"float": lambda: 0.5, "int": lambda: 1, "tensor": lambda: tg.tensor(0.5)}
    cases = itertools.product(("float32", "float64"), rates, (None, "strong_wolfe"), (1, 2, 5), (1.0, 1e-2))
    for dtype, rate, search, turns, scale in cases:
        w = tg.nn.Parameter(tg.tensor([4.0, -2.0, 0.3], dtype=getattr(tg, dtype)) * scale)
        lr, factors = rates[rate](), tg.tensor([1.0, 2.0, 5.0], dtype=w.dtype)
        optimizer = tg.optim.LBFGS([w], lr=lr, line_search_fn=search, max_iter=turns)

        def closure(w=w, factors=factors, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (w * w * factors).sum() + (w**4).sum()
            loss.backward()
            return loss

        kinds = []
        for _ in range(2):
            optimizer.step(closure)
            t = optimizer.state[w]["t"]
            kind = str(t.dtype).rpartition(".")[2] if isinstance(t, tg.Tensor) else type(t).__name__
            kinds.append([kind, t is lr if rate == "tensor" else bool(t == lr)])
        found[f"{dtype} {rate} {search} {turns} {scale}"] = kinds
    return found


def layout(tg, name):
    params = [tg.nn.Parameter(tg.ones(2, 3)), tg.nn.Parameter(tg.ones(3, 1))]
    if name != "Muon":
        params.append(tg.nn.Parameter(tg.ones(4)))
    optimizer = getattr(tg.optim, name)(params)
    before = {i: sorted(entry) for i, entry in optimizer.state_dict()["state"].items()}
    for _ in range(2):
        for p in params:
            p.grad = tg.ones_like(p)
        optimizer.step()
    saved = optimizer.state_dict()
    described = {
        str(i): [[key, list(x.shape), str(x.dtype).rpartition(".")[2]] for key, x in entry.items()]
        for i, entry in saved["state"].items()
    }
    group = {k: v for k, v in saved["param_groups"][0].items() if k != "params"}
    first = {str(i): keys for i, keys in before.items()}
    return {"before": first, "state": described, "group": repr(sorted(group.items()))}
