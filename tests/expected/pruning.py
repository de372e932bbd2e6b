"""Masks of each way of pruning, alone and one after another, and a step of training of what is left."""

import importlib

import numpy as np

#: name: what is done to a module with a weight of shape (4, 6) and a bias.
WAYS = {
    "identity": lambda prune, m: prune.identity(m, "weight"),
    "random": lambda prune, m: prune.random_unstructured(m, "weight", 0.3),
    "l1": lambda prune, m: prune.l1_unstructured(m, "weight", 5),
    "l1 of the bias": lambda prune, m: prune.l1_unstructured(m, "bias", 0.5),
    "random slices": lambda prune, m: prune.random_structured(m, "weight", 2, dim=1),
    "slices": lambda prune, m: prune.ln_structured(m, "weight", 0.5, n=2, dim=0),
    "slices by the largest": lambda prune, m: prune.ln_structured(m, "weight", 1, n=float("inf"), dim=-1),
    "twice": lambda prune, m: prune.l1_unstructured(prune.l1_unstructured(m, "weight", 4), "weight", 0.5),
    "mixed": lambda prune, m: prune.ln_structured(prune.l1_unstructured(m, "weight", 9), "weight", 2, n=1, dim=0),
    "three": lambda prune, m: prune.random_unstructured(
        prune.random_structured(prune.l1_unstructured(m, "weight", 3), "weight", 1, dim=0), "weight", 0.25
    ),
    "of all": lambda prune, m: prune.global_unstructured(
        [(m, "weight"), (m, "bias")], pruning_method=prune.L1Unstructured, amount=0.4
    ),
    "nothing": lambda prune, m: prune.l1_unstructured(m, "weight", 0),
}


def pruned(tg, way, wrap=lambda step: step):
    """The masks, the losses of some steps, and the parameters after these."""
    tg.manual_seed(0)
    module = tg.nn.Linear(6, 4).double()
    with tg.no_grad():
        for shift, p in enumerate(module.parameters()):
            p.copy_(tg.tensor(np.sin(np.arange(p.numel()) * 1.7 + shift).reshape(tuple(p.shape))))
    WAYS[way](importlib.import_module(f"{tg.__name__}.nn.utils.prune"), module)
    optimizer = tg.optim.SGD(module.parameters(), lr=0.1)
    x = tg.tensor(np.cos(np.arange(18.0)).reshape(3, 6))

    def step(x):
        optimizer.zero_grad()
        loss = (module(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = wrap(step)
    losses = [step(x).item() for _ in range(4)]
    tensors = [*module.state_dict().values(), module.weight, module.bias]
    return np.concatenate([losses, *[t.detach().numpy().ravel() for t in tensors]]), sorted(module.state_dict())


def make(tg):
    return {way: pruned(tg, way)[0] for way in WAYS}
