"""Write random_draws.npz again: `python tests/expected/make_random.py` with PyTorch 2.13. No test needs it."""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))

from expected.random_draws import SEEDS, draws, ends, probabilities, weights  # noqa: E402

LAYOUTS = {
    "transposed": lambda dtype: torch.empty(8, 6, dtype=dtype).t(),
    "strided": lambda dtype: torch.empty(8, 12, dtype=dtype)[:, ::2],
    "permuted": lambda dtype: torch.empty(4, 3, 5, dtype=dtype).permute(1, 2, 0),
}
FILLS = {
    "rand": lambda x: x.uniform_(),
    "randn": lambda x: x.normal_(),
    "uniform": lambda x, low, high: x.uniform_(low, high),
    "normal": lambda x, mean, std: x.normal_(mean, std),
    "exponential": lambda x, rate: x.exponential_(rate),
    "geometric": lambda x, p: x.geometric_(p),
    "bernoulli_with": lambda x, p: x.bernoulli_(p),
    "random": lambda x: x.random_(),
}


def draw(kind, where, dtype, rest):
    if kind == "randint":
        return torch.randint(*rest, (where,), dtype=getattr(torch, dtype))
    if kind == "randperm":
        return torch.randperm(where)
    if kind == "bernoulli":
        return torch.bernoulli(torch.from_numpy(probabilities(where, dtype)))
    if kind == "multinomial":
        return torch.multinomial(torch.from_numpy(weights(dtype)), *rest)
    of = getattr(torch, dtype)
    return FILLS[kind](LAYOUTS[where](of) if isinstance(where, str) else torch.empty(where, dtype=of), *rest)


def main():
    torch.set_num_threads(1)
    stored = {}
    for seed in SEEDS:
        torch.manual_seed(seed)
        drawn = [ends(draw(*what).numpy()) for what in draws()]
        for dtype in {part.dtype for part in drawn}:
            stored[f"{seed} {dtype}"] = np.concatenate([part for part in drawn if part.dtype == dtype])
        stored[f"{seed} state"] = torch.get_rng_state().numpy()
    np.savez_compressed(Path(__file__).parent / "random_draws.npz", **stored)


if __name__ == "__main__":
    main()
