"""Samples for the primitives that make random numbers; their words are any 32 bits."""

from __future__ import annotations

import numpy as np
from cases import Case, Operand

from tracegrad.ops.random import STATE_SIZE
from tracegrad.ops.types import float32, float64, int32, int64

STATE = Operand((STATE_SIZE,), values=[*np.arange(1, STATE_SIZE), STATE_SIZE - 1])
WORDS = Operand((4, 6), low=-(2**31), high=2**31 - 1)
RANGE = Operand((), low=1, high=1000)
ROWS = np.array([[0.1, 0.4, 0.4, 1.0], [0.0, 0.25, 0.5, 1.0]])

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
    "search": [
        Case((Operand((2, 4), values=ROWS), Operand((2, 5), low=0, high=1)), {}, (float32, float64)),
    ],
}
