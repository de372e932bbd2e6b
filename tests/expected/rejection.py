"""Draws by rejection, and of distributions made of uniform and normal numbers, after one seed, as in PyTorch."""

import numpy as np

_random = np.random.default_rng(8)
SEEDS = [0, 7, 2**32 + 3]
PARAMETERS = {
    "rates": np.concatenate([_random.uniform(0, 12, 40), _random.uniform(10, 1000, 41), [0.0]]),
    "counts": np.floor(_random.uniform(0, 300, 60)),
    "shares": np.concatenate([_random.uniform(0, 1, 58), [0.0, 1.0]]),
    "alphas": np.concatenate([_random.uniform(0, 2, 31), _random.uniform(1, 60, 30), [0.0, 1e-3]]),
    "table": _random.uniform(0.05, 5, (6, 7)),
}
#: Each is one draw; they are made one after another, so each starts where the one before left the generator.
DRAWS = {
    "poisson": lambda tg, p: tg.poisson(p["rates"]),
    "binomial": lambda tg, p: tg.binomial(p["counts"], p["shares"]),
    "gamma": lambda tg, p: tg._standard_gamma(p["alphas"]),
    "normals after gamma": lambda tg, p: tg.randn(3, dtype=p["alphas"].dtype),
    "gamma of a transposed tensor": lambda tg, p: tg._standard_gamma(p["table"].t()),
    "dirichlet": lambda tg, p: tg._sample_dirichlet(p["table"]),
    "binomial, broadcast": lambda tg, p: tg.binomial(p["counts"][:5].reshape(5, 1), p["shares"][:4]),
    "cauchy": lambda tg, p: tg.empty(5, 4, dtype=p["table"].dtype).cauchy_(1, 2),
    "log_normal": lambda tg, p: tg.empty(4, 5, dtype=p["table"].dtype).t().log_normal_(0.5, 0.3),
    "geometric": lambda tg, p: tg.empty(9, dtype=p["table"].dtype).geometric_(0.3),
    "uniform": lambda tg, p: tg.rand(4, dtype=p["table"].dtype),
}
#: Equal bit for bit but for these, whose logarithms and tangents differ in the last place.
RTOL = {"float64": 2e-14, "float32": 2e-7}


def parameters(tg, dtype):
    """As tensors."""
    return {name: tg.tensor(array.astype(dtype)) for name, array in PARAMETERS.items()}


def all_draws(tg, dtype):
    """The draws in order."""
    given = parameters(tg, dtype)
    return {name: draw(tg, given) for name, draw in DRAWS.items()}


def make(tg):
    """To store: `seed dtype draw` -> numbers."""
    stored = {}
    for seed in SEEDS:
        for dtype in RTOL:
            tg.manual_seed(seed)
            for name, drawn in all_draws(tg, dtype).items():
                stored[f"{seed} {dtype} {name}"] = drawn.numpy()
    return stored
