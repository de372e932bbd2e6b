"""Two hundred steps of the optimizers that want models of their own: Muon (matrices), SparseAdam (rows), L-BFGS
(closures), in training and in evaluation, in float64."""

import numpy as np

from .optimizers import numbers

STEPS = 200
KEPT = 25  # steps of L-BFGS with one batch
SEEN = slice(None, None, 10)  # which of the losses are stored

#: name of the case: (optimizer, options). Muon rounds to bfloat16: with other rates, a number that is half-way between
#: two of these but for the last bit of float64 may once in hundreds of steps go the other way.
OPTIMIZERS = {
    "Muon": ("Muon", {"lr": 0.03}),
    "Muon as AdamW": ("Muon", {"lr": 0.01, "nesterov": False, "adjust_lr_fn": "match_rms_adamw", "weight_decay": 0.01}),
    "SparseAdam": ("SparseAdam", {"lr": 0.02}),
    "SparseAdam upwards": ("SparseAdam", {"lr": 0.005, "betas": (0.8, 0.95), "maximize": True}),
    "LBFGS": ("LBFGS", {"lr": 0.2, "max_iter": 2, "history_size": 3}),
    "LBFGS wolfe": ("LBFGS", {"line_search_fn": "strong_wolfe", "max_iter": 2, "history_size": 3}),
}
CASES = [(name, mode) for name in OPTIMIZERS for mode in ("train", "eval")]


class Model:
    """A model with a normalisation, whose running means training moves, and the loss of a batch.

    L-BFGS enlarges roundings where its pairs tell little, as they do near the end: there the two libraries' sums, of
    other orders, lead to other steps. So it begins anew with each batch.
    """

    def __init__(self, tg, name, mode):
        self.tg, nn = tg, tg.nn
        self.sparse = name == "SparseAdam"
        first = nn.Embedding(7, 3, sparse=True) if self.sparse else nn.Linear(3, 3, bias=False)
        last = nn.Linear(3, 4, bias=False)
        self.trained = [*first.parameters(), *(() if self.sparse else last.parameters())]
        self.model = nn.Sequential(first, nn.BatchNorm1d(3, affine=False), nn.Tanh(), last).to(tg.float64)
        with tg.no_grad():
            for shift, parameter in enumerate(self.model.parameters()):
                count = parameter.numel()
                parameter.copy_(tg.tensor(numbers(count, tuple(parameter.shape), shift), dtype=tg.float64))
        self.model.train(mode == "train")

    def batch(self, turn):
        """Input and target of one of four batches."""
        tg, turn = self.tg, turn % 4
        y = tg.tensor(numbers(24, (6, 4), 1.1 + turn), dtype=tg.float64)
        if self.sparse:
            return tg.tensor([(turn + i * i) % 7 for i in range(6)]), y
        return tg.tensor(numbers(18, (6, 3), 0.3 + turn), dtype=tg.float64), y

    def loss(self, x, y):
        loss = self.tg.nn.functional.mse_loss(self.model(x), y)
        return loss if self.sparse else loss + sum((p * p).sum() for p in self.trained) * 0.05


def trajectory(tg, case, mode, wrap=lambda step: step):
    """(losses, parameters and running statistics at the end); `wrap` may compile."""
    name, options = OPTIMIZERS[case]
    losses = []
    for turn in range(STEPS):
        if not losses or name == "LBFGS" and turn % KEPT == 0:
            model = Model(tg, name, mode)
            optimizer = getattr(tg.optim, name)(model.trained, **options)
            step = wrap((closed_step if name == "LBFGS" else plain_step)(model, optimizer))
        losses.append(step(*model.batch(turn // KEPT if name == "LBFGS" else turn)).item())
    state = [x.detach().double().numpy().reshape(-1) for x in model.model.state_dict().values()]
    return np.array(losses), np.concatenate(state)


def closed_step(model, optimizer):
    def step(x, y):
        def closure():
            optimizer.zero_grad()
            loss = model.loss(x, y)
            loss.backward()
            return loss

        return optimizer.step(closure).detach()

    return step


def plain_step(model, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        loss = model.loss(x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def make(tg):
    stored = {}
    for case, mode in CASES:
        losses, last = trajectory(tg, case, mode)
        stored |= {f"{case}|{mode}|losses": losses[SEEN], f"{case}|{mode}|last": last}
    return stored
