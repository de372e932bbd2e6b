"""Write exact_special.npz again: `python tests/expected/exact_special.py` with mpmath. No test needs it.

Values of special functions to 40 digits, for those of which PyTorch's own are not right to 1e-12.
"""

from pathlib import Path

import mpmath as mp
import numpy as np

random = np.random.default_rng(3)
COUNT = 40


def between(low, high):
    return random.uniform(low, high, COUNT)


def spread(low, high):
    return np.exp(random.uniform(np.log(low), np.log(high), COUNT))


def gamma_path(a, x):
    """How a gamma number moves with its parameter."""
    slope = mp.diff(lambda t: mp.gammainc(t, 0, x, regularized=True), a)
    return -slope / (x ** (a - 1) * mp.exp(-x) / mp.gamma(a))


def beta_path(x, a, total):
    """How a beta number moves with its first parameter, divided by 1 - x."""
    b = total - a
    slope = mp.diff(lambda t: mp.betainc(t, b, 0, x, regularized=True), a)
    return -slope / (x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)) / (1 - x)


a = spread(0.05, 500)
FUNCTIONS = {
    "polygamma": ([between(-6, 30)], lambda x: mp.psi(1, x)),
    "gammainc": ([a, a * between(0.4, 1.7)], lambda a, x: mp.gammainc(a, 0, x, regularized=True)),
    "gammaincc": ([a, a * between(0.4, 1.7)], lambda a, x: mp.gammainc(a, x, regularized=True)),
    "ndtr": ([between(-14, 5)], mp.ncdf),
    "bessel_j0": ([between(-40, 40)], lambda x: mp.besselj(0, x)),
    "bessel_j1": ([between(-40, 40)], lambda x: mp.besselj(1, x)),
    "bessel_y0": ([between(0, 40)], lambda x: mp.bessely(0, x)),
    "bessel_y1": ([between(0, 40)], lambda x: mp.bessely(1, x)),
    "airy_ai": ([between(-12, 12)], mp.airyai),
    "erfcx": ([between(-20, 20)], lambda x: mp.exp(x * x) * mp.erfc(x)),
    "_standard_gamma_grad": ([a, a * between(0.3, 2)], gamma_path),
    "_dirichlet_grad": ([between(0.05, 0.95), spread(0.2, 20), spread(21, 40)], beta_path),
}


def main():
    mp.mp.dps = 40
    stored = {}
    for name, (operands, function) in FUNCTIONS.items():
        for i, operand in enumerate(operands):
            stored[f"{name}|operand{i}"] = operand
        rows = zip(*operands, strict=True)
        stored[f"{name}|value"] = np.array([float(function(*map(mp.mpf, map(float, row)))) for row in rows])
    np.savez_compressed(Path(__file__).parent / "exact_special.npz", **stored)


if __name__ == "__main__":
    main()
