"""Operands for what is folded into places, and for searches in ascending rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import DTYPES, FLOATS, NUMBERS, Case, Operand, Shape

from tracegrad.ops.types import int64, uint8

# Shape of x, the index, the axis. Each of these has a place that is named twice, or none.
FOLDED: list[tuple[Shape, Any, int]] = [
    ((4,), [3, 0, 3], 0), ((3, 2), [[2, 0], [0, 0]], 0), ((2, 4), [[3, 1, 3], [0, 0, 2]], 1), ((3,), np.zeros(0), 0),
    ((2, 1, 3), [[[1, 1]], [[0, 2]]], 2),
]  # fmt: skip


def folded() -> list[Case]:
    cases = []
    for shape, index, axis in FOLDED:
        places = np.array(index, np.int64)
        operands = (Operand(shape), Operand(places.shape, dtype=int64, values=places), Operand(places.shape))
        cases += [Case(operands, {"axis": axis, "include_self": included}, NUMBERS) for included in (True, False)]
    return cases


SIGNED = tuple(dtype for dtype in DTYPES[1:] if dtype is not uint8)
ROWS = [[-2, 0, 0, 1], [-1, -1, 0, 2]]
NOT_A_NUMBER = [Operand((1, 3), values=[[0.0, 1.0, np.nan]]), Operand((1, 4), values=[[0.5, np.nan, 1.0, 2.0]])]
SEARCHES = [
    Case((Operand((2, 4), values=ROWS), Operand((2, 7), low=-3, high=3)), {}, SIGNED),
    Case((Operand((2, 4), values=np.array(ROWS) + 2), Operand((2, 7), low=0, high=5)), {}, (uint8,)),
    Case((Operand((2, 4), values=np.array(ROWS) > 0), Operand((2, 7))), {}, DTYPES[:1]),
    Case((Operand((1, 0)), Operand((1, 3))), {}, DTYPES[1:]),
    Case((Operand((0, 3)), Operand((0, 2))), {}, DTYPES[1:]),
    Case(tuple(NOT_A_NUMBER), {}, FLOATS),
]

STRIDED: list[tuple[int, Shape, Shape, int]] = [
    (7, (2, 3), (3, 1), 0), (7, (3, 3), (1, 2), 0), (5, (2, 2), (0, 2), 1), (4, (), (), 3), (3, (0, 2), (1, 1), 0),
    (1, (2, 2, 1), (0, 0, 0), 0), (6, (2,), (2,), 3),
]  # fmt: skip
UNFOLDED: list[tuple[Shape, str, int, int, int]] = [
    ((5,), "contiguous", 0, 2, 1), ((6, 3), "contiguous", 0, 3, 2), ((3, 7), "transposed", 1, 2, 3),
    ((2, 5, 3), "strided", 1, 5, 1), ((4,), "reversed", 0, 0, 1), ((2, 1), "contiguous", 1, 1, 4),
    ((0, 3), "contiguous", 1, 2, 1),
]  # fmt: skip


DIAGONALS: list[tuple[Shape, str, int]] = [
    ((3, 3), "contiguous", 0), ((3, 5), "transposed", 1), ((4, 2), "strided", -1), ((2, 3, 4), "reversed", 2),
    ((2, 3), "expanded", 0), ((2, 3), "contiguous", 7), ((2, 3), "contiguous", -2), ((0, 3), "contiguous", 1),
    ((1, 1), "contiguous", -1),
]  # fmt: skip


def strided() -> list[Case]:
    return [
        Case((Operand((n,)),), {"shape": shape, "strides": strides, "offset": offset})
        for n, shape, strides, offset in STRIDED
    ] + [Case((Operand((6,), layout="strided"),), {"shape": (2, 2), "strides": (2, 3), "offset": 0})]


def unfolded() -> list[Case]:
    return [
        Case((Operand(shape, layout=layout),), {"axis": axis, "size": size, "step": step})
        for shape, layout, axis, size, step in UNFOLDED
    ]


def of_diagonals() -> list[Case]:
    return [Case((Operand(shape, layout=layout),), {"offset": offset}) for shape, layout, offset in DIAGONALS]


PLACES = {
    "diagonal": of_diagonals(),
    "strided": strided(),
    "unfold": unfolded(),
    "scatter_prod": folded(),
    "scatter_amax": folded(),
    "scatter_amin": folded(),
    "search": SEARCHES,
    "search_right": SEARCHES,
}
