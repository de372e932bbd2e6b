"""Samples for the primitives that make random numbers; their words are any 32 bits."""

from __future__ import annotations

import numpy as np
from cases import Case, Operand

from tracegrad.ops.random import STATE_SIZE
from tracegrad.ops.types import float32, float64, int32, int64

STATE = Operand((STATE_SIZE,), values=[*np.arange(1, STATE_SIZE), STATE_SIZE - 1])
WORDS = Operand((4, 6), low=-(2**31), high=2**31 - 1)
RANGE = Operand((), low=1, high=1000)
CACHED = [Operand((2,), values=values, dtype=float64) for values in ([0.0, 0.0], [0.7, 1.0])]


def rejected(*rows: Operand) -> list[Case]:
    """Draws of a row of parameters each, with and without a normal number ready, and of none."""
    none = [Operand((0,)) for _ in rows]
    state = Operand(STATE.shape, values=STATE.values, dtype=int32)
    return [Case((state, cached, *of), {}, (float64,)) for cached in CACHED for of in (rows, none)]


RANDOM = {
    "random_seed": [Case((Operand((), values=seed),), {}, (int64,)) for seed in (0, 5489, -1, 2**33 + 7)],
    "random_words": [Case((STATE,), {"count": count}, (int32,)) for count in (0, 1, 7, 700)],
    "uniform24": [Case((WORDS,), {}, (int32,))],
    "uniform53": [Case((WORDS, WORDS), {}, (int32,))],
    "join_words": [Case((WORDS, WORDS), {}, (int32,))],
    "unsigned_modulo": [Case((WORDS, RANGE), {}, (int32, int64))],
    "cephes_log": [Case((Operand((5, 7), low=1e-6, high=1),), {}, (float32,))],
    "cephes_sin": [Case((Operand((5, 7), low=0, high=6.28),), {}, (float32,))],
    "cephes_cos": [Case((Operand((5, 7), low=0, high=6.28),), {}, (float32,))],
    "permutation": [Case((Operand((n - 1,), WORDS.low, WORDS.high),), {"n": n}, (int32,)) for n in (1, 2, 9)],
    "random_poisson": rejected(Operand((60,), 0, 30)),
    "random_binomial": rejected(Operand((60,), 0, 90), Operand((60,), 0, 1)),
    "random_gamma": rejected(Operand((60,), 0.7, 4), Operand((60,), 0, 1)),
}
