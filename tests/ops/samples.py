"""Operands for every primitive: shapes with and without elements, layouts, types, and the values it is defined for.

`SAMPLES` maps a primitive's name to its cases; `test_registry` fails for a primitive that has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import special_samples as special
from cases import BITS, DTYPES, FLOATS, NUMBERS, Case, Operand, Shape
from complex_samples import COMPLEX
from loop_samples import LOOPS
from place_samples import PLACES
from random_samples import RANDOM
from window_samples import WINDOWS

from tracegrad.ops.types import DType, bool_, float32, int64

# ------------------------------------------------------------------------------------------------------ pointwise

UNARY_LAYOUTS = [((), "contiguous"), ((0,), "contiguous"), ((3, 4), "contiguous"), ((4, 3), "strided"),
                 ((5,), "reversed"), ((3, 4), "transposed"), ((3, 2), "expanded")]  # fmt: skip
BROADCASTS: list[tuple[Shape, Shape]] = [
    ((), ()), ((0,), (1,)), ((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3), ()), ((1,), (2, 0)),
    ((2, 1, 3), (4, 1)),
]  # fmt: skip


def unary(values: Operand, dtypes: tuple[DType, ...]) -> list[Case]:
    return [Case((replace(values, shape=shape, layout=layout),), {}, dtypes) for shape, layout in UNARY_LAYOUTS]


def binary(x: Operand, y: Operand, dtypes: tuple[DType, ...]) -> list[Case]:
    plain = [Case((replace(x, shape=a), replace(y, shape=b)), {}, dtypes) for a, b in BROADCASTS]
    strided = [
        Case((replace(x, shape=(3, 4), layout=left), replace(y, shape=(3, 4), layout=right)), {}, dtypes)
        for left, right in [("strided", "transposed"), ("expanded", "reversed")]
    ]
    return plain + strided


def half_derivable(x: Operand, y: Operand, dtypes: tuple[DType, ...]) -> list[Case]:
    """Those of `binary`, of functions without a derivative by their first operand."""
    return [replace(case, held=(0,)) for case in binary(x, y, dtypes)]


def underivable(operands: tuple[Operand, ...]) -> list[Case]:
    """Floating-point operands of several shapes, of a function without derivatives."""
    shapes: list[Shape] = [(), (0,), (3, 4)]
    held = tuple(range(len(operands)))
    return [Case(tuple(replace(o, shape=shape) for o in operands), {}, FLOATS, held) for shape in shapes]


def between(low: float, high: float, nonzero: bool = False) -> Operand:
    return Operand((), low, high, nonzero=nonzero)


ANY = between(-3, 3)
POSITIVE = between(0.2, 4)

UNARY: dict[str, tuple[Operand, tuple[DType, ...]]] = {
    "neg": (ANY, NUMBERS), "abs": (ANY, NUMBERS), "sign": (ANY, NUMBERS), "copy": (ANY, DTYPES),
    "floor": (ANY, FLOATS), "ceil": (ANY, FLOATS), "trunc": (ANY, FLOATS), "round": (ANY, FLOATS),
    "isnan": (ANY, DTYPES), "isinf": (ANY, DTYPES), "isfinite": (ANY, DTYPES),
    "logical_not": (ANY, DTYPES), "detach": (ANY, DTYPES),
    "exp": (ANY, FLOATS), "expm1": (ANY, FLOATS), "sigmoid": (ANY, FLOATS),
    "log_sigmoid": (ANY, FLOATS), "erf": (ANY, FLOATS),
    "reciprocal": (POSITIVE, FLOATS), "hardswish": (between(-2.5, 2.5), FLOATS),
    "log": (POSITIVE, FLOATS), "log2": (POSITIVE, FLOATS), "log10": (POSITIVE, FLOATS),
    "log1p": (between(-0.7, 3), FLOATS), "sqrt": (POSITIVE, FLOATS), "rsqrt": (POSITIVE, FLOATS),
    "sin": (ANY, FLOATS), "cos": (ANY, FLOATS), "tan": (between(-1.2, 1.2), FLOATS),
    "asin": (between(-0.9, 0.9), FLOATS), "acos": (between(-0.9, 0.9), FLOATS), "atan": (ANY, FLOATS),
    "sinh": (ANY, FLOATS), "cosh": (ANY, FLOATS), "tanh": (ANY, FLOATS),
    "asinh": (ANY, FLOATS), "acosh": (between(1.2, 4), FLOATS), "atanh": (between(-0.9, 0.9), FLOATS),
}  # fmt: skip
SIGNED = tuple(d for d in NUMBERS if d.is_signed)
WHOLE = tuple(d for d in BITS if d is not bool_)
DIVISOR = between(0.3, 4, nonzero=True)
BINARY: dict[str, tuple[Operand, Operand, tuple[DType, ...]]] = {
    "add": (ANY, ANY, NUMBERS), "sub": (ANY, ANY, NUMBERS), "mul": (ANY, ANY, NUMBERS),
    "div": (ANY, DIVISOR, FLOATS), "maximum": (ANY, ANY, NUMBERS), "minimum": (ANY, ANY, NUMBERS),
    "pow": (POSITIVE, between(-2, 3), NUMBERS), "atan2": (POSITIVE, ANY, FLOATS),
    "floor_divide": (between(-9, 9), DIVISOR, NUMBERS), "remainder": (between(-9, 9), DIVISOR, NUMBERS),
    "fmod": (between(-9, 9), DIVISOR, NUMBERS),
    "eq": (ANY, ANY, DTYPES), "ne": (ANY, ANY, DTYPES), "lt": (ANY, ANY, DTYPES),
    "le": (ANY, ANY, DTYPES), "gt": (ANY, ANY, DTYPES), "ge": (ANY, ANY, DTYPES),
    "logical_and": (ANY, ANY, DTYPES), "logical_or": (ANY, ANY, DTYPES),
    "logical_xor": (ANY, ANY, DTYPES),
    "hypot": (POSITIVE, ANY, FLOATS), "logaddexp": (ANY, ANY, FLOATS),
    "trunc_divide": (between(-9, 9), DIVISOR, FLOATS), "div_floor": (between(-9, 9), DIVISOR, FLOATS),
    "bitwise_left_shift": (ANY, between(-2, 70), WHOLE), "bitwise_right_shift": (ANY, between(-2, 70), WHOLE),
    "bitwise_and": (ANY, ANY, BITS), "bitwise_or": (ANY, ANY, BITS), "bitwise_xor": (ANY, ANY, BITS),
}  # fmt: skip
# The derivative by the exponent is NaN there.
NEGATIVE_BASE = [
    Case((between(-3, -1), Operand((), values=power)), {}, NUMBERS if power >= 0 else SIGNED, held=(1,))
    for power in (-2.0, -1.0, 0.0, 2.0)
]
NEGATIVE_DIVISOR = [Case((Operand((3, 4), -9, 9), Operand((4,), -4, -1)), {}, NUMBERS)]


def elu_cases() -> list[Case]:
    numbers = tuple(Operand((), values=value) for value in (0.5, 1.5, 2.0))
    return [Case((Operand(shape, -3, 3, layout), *numbers), {}, FLOATS) for shape, layout in UNARY_LAYOUTS]


def where_cases() -> list[Case]:
    shapes: list[tuple[Shape, Shape, Shape]] = [
        ((), (), ()), ((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), ()), ((0,), (1,), ()), ((4,), (3, 1), (3, 4)),
    ]  # fmt: skip
    return [Case((Operand(c, dtype=bool_), Operand(x), Operand(y))) for c, x, y in shapes]


# ----------------------------------------------------------------------------------------------------- reductions

FOLDS: list[tuple[Shape, Shape, str]] = [
    ((), (), "contiguous"), ((3, 4), (0,), "contiguous"), ((3, 4), (1,), "contiguous"), ((3, 4), (0, 1), "transposed"),
    ((2, 3, 4), (1,), "strided"), ((2, 3, 4), (0, 2), "reversed"), ((2, 3, 4), (), "contiguous"),
    ((2, 0, 3), (0,), "contiguous"), ((5, 2), (0,), "expanded"), ((2, 70), (1,), "contiguous"),
]  # fmt: skip
EMPTY_FOLDS: list[tuple[Shape, Shape, str]] = [((0,), (0,), "contiguous"), ((2, 0, 3), (1,), "contiguous")]


Folds = Sequence[tuple[Shape, Shape, str]]


def folds(cases: Folds, dtypes: tuple[DType, ...] = NUMBERS, high: float = 3.0) -> list[Case]:
    return [Case((Operand(shape, -high, high, layout),), {"axes": axes}, dtypes) for shape, axes, layout in cases]


def extremes() -> list[Case]:
    """Where rows repeat, every column is a tie, at which an extreme has no derivative along a line."""
    return [replace(case, held=(0,) if case.operands[0].layout == "expanded" else ()) for case in folds(FOLDS)]


def along_each_axis(**params: Any) -> list[Case]:
    shapes: list[tuple[Shape, str]] = [
        ((5,), "contiguous"), ((3, 4), "contiguous"), ((3, 4), "transposed"), ((2, 3, 4), "strided"),
        ((2, 0, 3), "contiguous"),
    ]  # fmt: skip
    return [
        Case((Operand(shape, layout=layout),), {"axis": axis, **params})
        for shape, layout in shapes
        for axis in range(len(shape))
    ]


def with_elements(cases: list[Case]) -> list[Case]:
    return [case for case in cases if case.operands[0].shape[case.params["axis"]]]


# ------------------------------------------------------------------------------------------------------- movement


def moved(of: Shape, layout: str = "contiguous", /, **params: Any) -> Case:
    return Case((Operand(of, layout=layout),), params)


MOVEMENT = {
    "reshape": [
        moved((2, 6), shape=(3, 4)), moved((), shape=(1, 1)), moved((1,), shape=()), moved((0, 3), shape=(2, 0)),
        moved((4, 3), "transposed", shape=(12,)), moved((4, 3), "strided", shape=(2, 6)),
    ],
    "transpose": [
        moved((), permutation=()), moved((3, 4), permutation=(1, 0)), moved((2, 0, 3), permutation=(2, 0, 1)),
        moved((2, 3, 4), "strided", permutation=(2, 0, 1)), moved((2, 3, 4), permutation=(0, 2, 1)),
    ],
    "broadcast": [
        moved((), shape=(2, 3)), moved((3,), shape=(2, 3)), moved((2, 1, 3), "strided", shape=(2, 4, 3)),
        moved((1,), shape=(0,)), moved((2, 1), shape=(5, 2, 3)),
    ],
    "slice": [
        moved((), starts=(), stops=(), steps=()), moved((5,), starts=(1,), stops=(4,), steps=(1,)),
        moved((5, 6), starts=(0, 1), stops=(5, 6), steps=(2, 3)), moved((5,), starts=(2,), stops=(2,), steps=(1,)),
        moved((4, 6), "transposed", starts=(1, 0), stops=(3, 6), steps=(1, 4)),
    ],
    "by_rows": [moved(()), moved((3, 4), "transposed"), moved((2, 0))],
    "lay": [
        moved((), order=()), moved((3,), order=(0,)), moved((3, 4), order=(1, 0)),
        moved((2, 3, 4), "transposed", order=(2, 0, 1)), moved((0, 2), order=(1, 0)),
    ],
    "gradient_in_order": [
        moved((), order=()), moved((3, 4), "transposed", order=(1, 0)), moved((2, 3, 4), order=(2, 0, 1)),
        moved((0, 2), order=(1, 0)),
    ],
    "flip": [
        moved((), axes=()), moved((4,), axes=(0,)), moved((3, 4), "strided", axes=(1,)),
        moved((2, 3, 4), axes=(0, 2)), moved((0, 2), axes=(0,)),
    ],
    "pad": [
        moved((), low=(), high=(), value=0), moved((3,), low=(1,), high=(2,), value=0),
        moved((2, 3), "transposed", low=(0, 2), high=(1, 0), value=1), moved((0, 2), low=(1, 0), high=(1, 1), value=1),
    ],
    "window": [
        moved((), extents=(), steps=(), gaps=(), low=(), value=0),
        moved((3, 5), extents=(3,), steps=(1,), gaps=(1,), low=(0,), value=0),
        moved((2, 3, 7), "strided", extents=(4,), steps=(2,), gaps=(1,), low=(1,), value=1),
        moved((2, 3, 2, 6, 5), "transposed", extents=(3, 5), steps=(2, 1), gaps=(1, 2), low=(1, 1), value=0),
        moved((2, 4), "expanded", extents=(9,), steps=(3,), gaps=(2,), low=(3,), value=0),
        moved((2, 0), extents=(2,), steps=(1,), gaps=(1,), low=(1,), value=1),
        moved((0, 3), extents=(2,), steps=(1,), gaps=(1,), low=(0,), value=0),
    ],
    "spread": [
        moved((), extents=(), steps=(), gaps=(), low=()),
        moved((3, 3), extents=(5,), steps=(1,), gaps=(1,), low=(0,)),
        moved((2, 3, 4), "strided", extents=(7,), steps=(2,), gaps=(1,), low=(1,)),
        moved((2, 3, 2, 3, 5), "transposed", extents=(6, 5), steps=(2, 1), gaps=(1, 2), low=(1, 1)),
        moved((2, 9), "expanded", extents=(4,), steps=(3,), gaps=(2,), low=(3,)),
        moved((2, 2), extents=(0,), steps=(1,), gaps=(1,), low=(1,)),
        moved((2, 0), extents=(4,), steps=(1,), gaps=(1,), low=(1,)),
    ],
}  # fmt: skip


def joined(*shapes: Shape, axis: int, layout: str = "contiguous") -> Case:
    extents = tuple(shape[axis] for shape in shapes)
    return Case(tuple(Operand(shape, layout=layout) for shape in shapes), {"axis": axis, "extents": extents})


CONCATENATE = [
    joined((3,), axis=0), joined((2, 3), (1, 3), axis=0), joined((2, 3), (2, 1), (2, 4), axis=1, layout="strided"),
    joined((0, 2), (3, 2), axis=0), joined((2, 1, 3), (2, 2, 3), axis=1),
]  # fmt: skip
UPDATE_SLICE = [
    Case((Operand(shape, layout=layout), Operand(update)), {"starts": starts, "steps": steps})
    for shape, layout, update, starts, steps in [
        ((), "contiguous", (), (), ()),
        ((5,), "contiguous", (2,), (1,), (1,)),
        ((5, 6), "transposed", (3, 2), (0, 1), (2, 3)),
        ((4,), "contiguous", (0,), (2,), (1,)),
        ((3, 4), "strided", (3, 4), (0, 0), (1, 1)),
    ]
]


# -------------------------------------------------------------------------------------- products, places, sources


DOT = [
    Case((Operand(x, layout=left), Operand(y, layout=right)), {}, NUMBERS)
    for x, y, left, right in [
        ((2, 3), (3, 4), "contiguous", "contiguous"),
        ((3, 2), (2, 5), "transposed", "strided"),
        ((2, 3, 4), (2, 4, 1), "contiguous", "transposed"),
        ((1, 1), (1, 1), "contiguous", "contiguous"),
        ((2, 0), (0, 3), "contiguous", "contiguous"),
        ((0, 2), (2, 3), "contiguous", "contiguous"),
        ((2, 2, 3, 2), (2, 2, 2, 3), "contiguous", "contiguous"),
        ((17, 33), (33, 19), "contiguous", "contiguous"),
    ]
]


def places(values: Any) -> Operand:
    index = np.array(values, np.int64)
    return Operand(index.shape, dtype=int64, values=index)


# Shape of x, the index, the axis; an index may be smaller than x.
ELEMENTS: list[tuple[Shape, Any, int]] = [
    ((4,), [3, 0], 0), ((3, 2), [[2, 0], [0, 1]], 0), ((2, 4), [[3]], 1), ((3,), np.zeros(0), 0), ((3, 2), [[1, 1]], 0),
]  # fmt: skip
# Named twice: what `scatter` then keeps is left open by PyTorch.
ELEMENTS_TWICE: list[tuple[Shape, Any, int]] = [((2, 4), [[3, 1, 3], [0, 0, 2]], 1), ((3,), [2, 2, 2], 0)]
# Shape of x, the index; negative ones count from the end.
ROWS: list[tuple[Shape, Any]] = [((4,), [3, 0, -3]), ((3, 2), [[2, 0]]), ((3, 2), 1), ((3, 2), np.zeros(0))]
ROWS_TWICE: list[tuple[Shape, Any]] = [((3, 2), [[2, 0], [-3, 2]]), ((2, 3, 2), [1, 1, 0])]


def at_elements(cases: list[tuple[Shape, Any, int]], source: bool = False) -> list[Case]:
    return [
        Case((Operand(shape), places(index), *([Operand(np.shape(index))] if source else [])), {"axis": axis})
        for shape, index, axis in cases
    ]


def at_rows(cases: list[tuple[Shape, Any]], source: bool = False) -> list[Case]:
    return [
        Case((Operand(shape), places(index), *([Operand(np.shape(index) + shape[1:])] if source else [])))
        for shape, index in cases
    ]


def sources() -> dict[str, list[Case]]:
    full = [
        Case((), {"shape": shape, "value": value, "dtype": dtype})
        for dtype, value in zip(DTYPES, (True, 200, -7, 2**14, -3, 2**40, 0.1, -0.1, 0.1, 1e300), strict=True)
        for shape in [(), (0,), (2, 3)]
    ]
    infinite = [Case((), {"shape": (2,), "value": value, "dtype": float32}) for value in (np.inf, -np.inf, np.nan)]
    iota = [
        Case((), {"shape": shape, "axis": axis, "dtype": dtype})
        for dtype in NUMBERS
        for shape, axis in [((4,), 0), ((2, 3), 0), ((2, 3), 1), ((0, 2), 0)]
    ]
    return {"full": full + infinite, "iota": iota}


def casts() -> list[Case]:
    return [
        Case((Operand(shape, layout=layout),), {"dtype": dtype})
        for dtype in DTYPES
        for shape, layout in [((), "contiguous"), ((0, 2), "contiguous"), ((3, 4), "strided")]
    ]


SAMPLES: dict[str, list[Case]] = {
    **{name: unary(values, dtypes) for name, (values, dtypes) in UNARY.items()},
    **{name: binary(x, y, dtypes) for name, (x, y, dtypes) in BINARY.items()},
    **{name: unary(values, dtypes) for name, (values, dtypes) in special.UNARY.items()},
    **{name: binary(x, y, dtypes) for name, (x, y, dtypes) in special.BINARY.items()},
    **{name: half_derivable(x, y, dtypes) for name, (x, y, dtypes) in special.HALF_DERIVABLE.items()},
    **{name: underivable(operands) for name, operands in special.UNDERIVABLE.items()},
    "where": where_cases(),
    "elu": elu_cases(),
    "cast": casts(),
    "sum": folds(FOLDS + EMPTY_FOLDS),
    "prod": folds(FOLDS + EMPTY_FOLDS, high=1.5),
    "amax": extremes(),
    "amin": extremes(),
    "any": folds(FOLDS + EMPTY_FOLDS, (bool_,)),
    "all": folds(FOLDS + EMPTY_FOLDS, (bool_,)),
    "argmax": with_elements(along_each_axis()),
    "argmin": with_elements(along_each_axis()),
    "cumsum": along_each_axis(),
    "cumsum_rounded": along_each_axis(),
    "running_argmax": along_each_axis(),
    "running_argmin": along_each_axis(),
    "argsort": along_each_axis(descending=False) + along_each_axis(descending=True),
    **COMPLEX,
    **MOVEMENT,
    "concatenate": CONCATENATE,
    "update_slice": UPDATE_SLICE,
    "dot": DOT,
    "gather": at_elements(ELEMENTS + ELEMENTS_TWICE),
    "scatter": at_elements(ELEMENTS, source=True),
    "scatter_add": at_elements(ELEMENTS + ELEMENTS_TWICE, source=True),
    "take": at_rows(ROWS + ROWS_TWICE),
    "put": at_rows(ROWS, source=True),
    "index_add": at_rows(ROWS + ROWS_TWICE, source=True),
    **sources(),
    "scan": LOOPS,
    **RANDOM,
    **WINDOWS,
    **PLACES,
}
for name in ("floor_divide", "remainder", "fmod"):
    SAMPLES[name] += NEGATIVE_DIVISOR
SAMPLES["pow"] += NEGATIVE_BASE
SAMPLES["pow_tensor"] = SAMPLES["pow"]
