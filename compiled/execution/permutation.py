"""Permutations in C: the ones that eager mode makes of the same random words, without a Python loop over them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...compiler.pipeline import FLAGS, stages
from ...runtime.build import Unit
from ...runtime.errors import RuntimeFault
from ...runtime.program import SlotTable
from ...runtime.provide import provide


@functools.cache
def permutation_in_c() -> Callable[[np.ndarray, int], np.ndarray] | None:
    """``permutation(words, n)``: 0 ... n-1 in int64, shuffled by n - 1 int32 words. None, after a warning, if it cannot
    be built."""
    try:
        built = provide("run", [Unit("permutation", stages.render_template("permutation.c.j2", None), FLAGS)])
    except RuntimeFault:
        return None
    call: Callable[[Any], int] = built.program.call

    def permutation(words: np.ndarray, n: int) -> np.ndarray:
        given, order, length = np.ascontiguousarray(words, np.int32), np.empty(n, np.int64), np.full(1, n, np.int64)
        slots = SlotTable(3)
        slots.set_array(0, given)
        slots.set_array(1, order)
        slots.set_array(2, length)
        call(slots.pointer)
        return order

    return permutation
