"""PyTorch's draws with replacement from many weights, where a draw's place depends on how each sum was rounded."""

from pathlib import Path

import numpy as np
import torch

DTYPES = ("float16", "bfloat16", "float32", "float64")


def weights() -> np.ndarray:
    """Two rows of 5,000 numbers."""
    return np.random.RandomState(0).rand(2, 5000) ** 3


def main() -> None:
    drawn = {}
    for dtype in DTYPES:
        torch.manual_seed(0)
        of = torch.tensor(weights()).to(getattr(torch, dtype))
        drawn[dtype] = torch.multinomial(of, 6000, replacement=True).numpy().astype(np.uint16)
    np.savez_compressed(Path(__file__).with_suffix(".npz"), **drawn)


if __name__ == "__main__":
    main()
