"""Layers whose weights are computed of other parameters, through some steps in float64."""

import numpy as np


def _chain(tg):
    class Symmetric(tg.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    class Exponential(tg.nn.Module):
        def forward(self, x):
            return x.exp()

        def right_inverse(self, x):
            return x.abs().log()

    parametrize, layer = tg.nn.utils.parametrize, tg.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    return parametrize.register_parametrization(layer, "weight", Exponential())


def _new(tg):
    return tg.nn.utils.parametrizations


#: name: what makes the layer.
LAYERS = {
    "weight norm": lambda tg: _new(tg).weight_norm(tg.nn.Linear(3, 4)),
    "weight norm of all": lambda tg: _new(tg).weight_norm(tg.nn.Linear(3, 4), dim=None),
    "weight norm of columns": lambda tg: _new(tg).weight_norm(tg.nn.Linear(3, 4), dim=1),
    "spectral norm": lambda tg: _new(tg).spectral_norm(tg.nn.Linear(3, 4)),
    "spectral norm of a convolution": lambda tg: tg.nn.Sequential(
        tg.nn.Unflatten(0, (2, 4)), _new(tg).spectral_norm(tg.nn.Conv1d(4, 2, 2))
    ),
    "spectral norm of a vector": lambda tg: _new(tg).spectral_norm(tg.nn.Linear(3, 4), "bias"),
    "orthogonal": lambda tg: _new(tg).orthogonal(tg.nn.Linear(3, 4)),
    "orthogonal without a base": lambda tg: _new(tg).orthogonal(
        tg.nn.Linear(3, 4), orthogonal_map="householder", use_trivialization=False
    ),
    "orthogonal rows": lambda tg: _new(tg).orthogonal(
        tg.nn.Linear(3, 2), orthogonal_map="householder", use_trivialization=False
    ),
    "chain": _chain,
    "old weight norm": lambda tg: tg.nn.utils.weight_norm(tg.nn.Linear(3, 4)),
    "old weight norm of all": lambda tg: tg.nn.utils.weight_norm(tg.nn.Linear(3, 4), dim=None),
    "old spectral norm": lambda tg: tg.nn.utils.spectral_norm(tg.nn.Linear(3, 4), n_power_iterations=2),
}
STEPS = 5


def trained(tg, name, wrap=lambda step: step):
    """Losses, an output in evaluation mode, the sums of the state's tensors; the state's keys."""
    kept = tg.get_default_dtype()
    try:
        tg.set_default_dtype(tg.float64)
        tg.manual_seed(3)
        layer = LAYERS[name](tg)
    finally:
        tg.set_default_dtype(kept)
    optimizer = tg.optim.SGD(layer.parameters(), lr=0.02, momentum=0.5)
    x = tg.tensor(np.sin(np.arange(24.0)).reshape(8, 3))

    def step(x):
        optimizer.zero_grad()
        loss = (layer(x) ** 2).mean() + layer(x * 2).sin().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = wrap(step)
    found = [step(x * (1 + i)).item() for i in range(STEPS)]
    layer.eval()
    found.append(layer(x).sum().item())
    state = layer.state_dict()
    return np.array([*found, *[value.sum().item() for value in state.values()]]), list(state)


def make(tg):
    return {name: trained(tg, name)[0] for name in LAYERS}


def make_texts(tg):
    return {name: trained(tg, name)[1] for name in LAYERS}
