"""Draws whose numbers are stored: after seeding once they are made one after another, so each starts where the one
before left the generator. Every draw is a kind and its arguments; both libraries say what a kind means to them."""

import numpy as np

SEEDS = [0, 42, 2**32 + 7, -1]
SIZES = [0, 1, 2, 15, 16, 17, 100, 623, 625, 2000]
FLOATS = ["float32", "float64"]
DTYPES = ["bool", "int32", "int64", *FLOATS]
RANGES = [(0, 10), (-5, 5), (0, 2**28 - 1), (0, 2**28), (-7, 2**40), (-(2**63), 2**63 - 1)]
# Kinds that fill memory, which may lie in any order: "transposed" 6 x 8, "strided" 8 x 6, "permuted" 3 x 5 x 4.
FILLS = [
    ("rand",),
    ("randn",),
    ("uniform", -0.3, 0.9),
    ("normal", 2.0, 0.5),
    ("exponential", 2.0),
    ("bernoulli_with", 0.3),
]
LAYOUTS = ["transposed", "strided", "permuted"]


def draws():
    """All draws in order, as (kind, size or layout or None, dtype, further arguments)."""
    for size in SIZES:
        yield from ((kind, size, dtype, rest) for kind, *rest in FILLS for dtype in FLOATS)
        yield from (("random", size, dtype, []) for dtype in DTYPES)
        yield from (("randint", size, "int64", list(bounds)) for bounds in RANGES)
        yield from (("randint", size, dtype, [0, 2]) for dtype in DTYPES)
        yield from (("bernoulli", size, dtype, []) for dtype in FLOATS)
        yield ("geometric", size, "float64", [0.3])
        yield ("randperm", size, "int64", [])
    for layout in LAYOUTS:
        yield from ((kind, layout, dtype, rest) for kind, *rest in FILLS for dtype in FLOATS)
    for count, replacement in ((20, True), (1, True), (1, False), (4, False)):
        yield from (("multinomial", None, dtype, [count, replacement]) for dtype in FLOATS)


def probabilities(size, dtype):
    """Numbers from 0 to 1."""
    return np.linspace(0, 1, size).astype(dtype)


def weights(dtype):
    """Two rows of weights that sum to anything, with zeros among them."""
    return (np.arange(14).reshape(2, 7) * 5 % 11 / 3).astype(dtype)


def ends(array):
    """The first and the last numbers of a long draw; those between follow if the last ones are right."""
    flat = np.ascontiguousarray(array).ravel()
    return flat if flat.size <= 32 else np.concatenate([flat[:8], flat[-24:]])
