"""Ops with a number among their parameters, said with the number as an operand: for numbers that vary between calls.

Memory is filled with a number that was met; a region that begins elsewhere at each call is written at positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.core import REGISTRY, Params, Primitive
from ...ops.identity import copy_primitive
from ...ops.indexing import put_primitive
from ...ops.movement import broadcast_primitive, reshape_primitive

Kind = Callable[..., Any]  # makes arrays


FEW = 16  # elements that are filled at once


@dataclass(frozen=True)
class Varying:
    """`otherwise(interpreter, operands, params, kind)` does the op with `parameter` as data."""

    parameter: str
    otherwise: Callable[[Any, Sequence[Any], Params, Kind], Any]


def _filled(interpreter: Any, operands: Sequence[Any], params: Params, kind: Kind) -> Any:
    if math.prod(params["shape"]) <= FEW:
        return kind(np.full(params["shape"], params["value"], params["dtype"].numpy))
    number = interpreter.constant_met(np.array(params["value"], params["dtype"].numpy))
    wide = interpreter.evaluate(broadcast_primitive, (number,), {"shape": params["shape"]}, kind)
    return interpreter.evaluate(copy_primitive, (wide,), {}, kind)


def _updated(interpreter: Any, operands: Sequence[Any], params: Params, kind: Kind) -> Any:
    x, update = operands
    shape, count = x.ndarray.shape, x.ndarray.size
    written_to = places(shape, params["starts"], params["steps"], update.ndarray.shape)
    index = interpreter.constant_met(written_to)
    flat = interpreter.evaluate(reshape_primitive, (x,), {"shape": (count,)}, kind)
    values = interpreter.evaluate(reshape_primitive, (update,), {"shape": (len(written_to),)}, kind)
    written = interpreter.evaluate(put_primitive, (flat, index, values), {}, kind)
    return interpreter.evaluate(
        copy_primitive, (interpreter.evaluate(reshape_primitive, (written,), {"shape": shape}, kind),), {}, kind
    )


def places(shape: Sequence[int], starts: Sequence[int], steps: Sequence[int], extents: Sequence[int]) -> np.ndarray:
    """The positions, in an array of that shape, of the region that begins at `starts`."""
    spans = zip(starts, steps, extents, strict=True)
    region: tuple[Any, ...] = (..., *(slice(start, start + extent * step, step) for start, step, extent in spans))
    return np.array(np.arange(math.prod(shape)).reshape(shape)[region].reshape(-1), np.int64)


VARYING: dict[Primitive, Varying] = {
    REGISTRY["full"]: Varying("value", _filled),
    REGISTRY["update_slice"]: Varying("starts", _updated),
}
