"""Operands for convolutions and for maxima of windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import FLOATS, NUMBERS, Case, Operand, Shape

from tracegrad.ops.types import int64

# Images, groups, channels of a group in and out; kernel, windows, steps, gaps, low. The space follows, with what no
# window reaches behind it.
CONVOLUTIONS: list[tuple[tuple[int, int, int, int], tuple[Shape, Shape, Shape, Shape, Shape], int]] = [
    ((1, 1, 1, 1), ((1,), (1,), (1,), (1,), (0,)), 0),
    ((2, 1, 3, 5), ((3,), (7,), (1,), (1,), (1,)), 0),
    ((2, 2, 2, 3), ((2,), (4,), (2,), (3,), (2,)), 1),
    ((2, 1, 2, 3), ((3, 2), (3, 4), (1, 1), (1, 1), (1, 0)), 0),
    ((1, 2, 1, 2), ((3, 1), (2, 3), (2, 3), (2, 1), (2, 0)), 1),
    ((1, 3, 1, 1), ((2, 2), (3, 2), (1, 2), (1, 1), (1, 1)), 0),
    ((1, 1, 2, 2), ((2, 1, 2), (2, 2, 3), (1, 2, 1), (1, 1, 2), (1, 0, 1)), 0),
]


def _space(sliding: tuple[Shape, ...], behind: int) -> Shape:
    kernel, windows, steps, gaps, low = sliding
    along = zip(kernel, windows, steps, gaps, low, strict=True)
    return tuple(max((o - 1) * s + (k - 1) * d + 1 - 2 * b, 1) + behind for k, o, s, d, b in along)


def _convolution(read: str, factor: str, result: str) -> list[Case]:
    cases = []
    for (images, groups, channels, results), sliding, behind in CONVOLUTIONS:
        kernel, windows, steps, gaps, low = sliding
        shapes: dict[str, Shape] = {
            "x": (images, groups * channels, *_space(sliding, behind)),
            "w": (groups * results, channels, *kernel),
            "y": (images, groups * results, *windows),
        }
        layout = "strided" if groups == 2 else "contiguous"
        params: dict[str, Any] = dict(extents=shapes[result][2:], steps=steps, gaps=gaps, low=low, groups=groups)
        cases.append(Case((Operand(shapes[read], layout=layout), Operand(shapes[factor])), params, FLOATS))
    return cases


def _windows(shape: Shape, layout: str = "contiguous", **params: Shape) -> Case:
    return Case((Operand(shape, layout=layout),), params, NUMBERS)


def _places(*places: list[int]) -> Operand:
    return Operand(np.shape(places), dtype=int64, values=places)


WINDOWS: dict[str, list[Case]] = {
    "conv": _convolution("x", "w", "y"),
    "conv_input": _convolution("y", "w", "x"),
    "conv_weight": _convolution("x", "y", "w"),
    "window_argmax": [
        _windows((2, 5), kernel=(2,), extents=(4,), steps=(1,), gaps=(1,), low=(0,)),
        _windows((2, 5), "strided", kernel=(3,), extents=(3,), steps=(2,), gaps=(1,), low=(1,)),
        _windows((4, 6, 5), kernel=(2, 2), extents=(3, 2), steps=(2, 2), gaps=(1, 1), low=(0, 0)),
        _windows((2, 7, 6), "transposed", kernel=(3, 2), extents=(3, 4), steps=(2, 2), gaps=(2, 1), low=(2, 1)),
        _windows((3, 4, 5), kernel=(2, 1, 3), extents=(2, 2, 3), steps=(1, 2, 2), gaps=(2, 1, 1), low=(0, 0, 1)),
    ],
    "pick": [Case((Operand((2, 4)), _places([3, 0, 3], [1, 1, 2]))), Case((Operand((1, 1)), _places([0])))],
    "unpick": [
        Case((Operand((2, 3)), _places([3, 0, 3], [1, 1, 2])), {"extent": 4}, NUMBERS),
        Case((Operand((1, 1)), _places([0])), {"extent": 2}, NUMBERS),
    ],
}
