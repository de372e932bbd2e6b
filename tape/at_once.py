"""Derivative rules that are arithmetic alone, of arrays: in plain eager mode, where no gradient gets a history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.array import quietly
from ..ops.core import Primitive, current, plain
from ..ops.vjp import unbroadcast
from .saved import Saved

_FLOAT32, _FLOAT64 = np.dtype("float32"), np.dtype("float64")


def size_of_second(pair: tuple[int, tuple[int, ...]]) -> int:
    """Of an operand and its shape the number of elements."""
    return math.prod(pair[1])


def gradients_at_once(node: Any, primitive: Primitive, g: Any, wanted: Sequence[bool]) -> list[Any] | None:
    """The cotangents of a node's operands, by rules of arithmetic alone; None where these are not given arrays of one
    floating-point type that lie by rows, or numbers of it. RuntimeError where one has been written to since."""
    arrays = _arrays_of(g, node)
    if arrays is None:
        return None
    given, dtype = arrays["g"], arrays["g"].dtype
    gradients: list[Any] = [None] * len(wanted)
    shapes = node.shapes
    pairs: Any = zip(node.on, shapes, strict=True)
    if len(shapes) > 1 and shapes[0] != shapes[1]:
        pairs = sorted(pairs, key=size_of_second)  # that of a small operand first, while no other is kept
    for i, shape in pairs:
        if not wanted[i]:
            continue
        rule: Any = primitive.rules[i]
        found = quietly(rule.rule, *map(arrays.__getitem__, rule.needs))
        if found is given:
            out = g
        elif type(found) is np.ndarray:
            if not found.flags.c_contiguous:
                return None
            out = current().make(found)  # type: ignore[attr-defined]
        else:
            out = current().make(np.asarray(found, dtype))  # type: ignore[attr-defined]
        gradients[i] = out if found.shape == shape else unbroadcast(out, shape)
    return gradients


def _arrays_of(g: Any, node: Any) -> dict[str, Any] | None:
    direct: Any = plain.direct
    kinds = direct.kinds
    array = g.ndarray
    dtype = array.dtype
    if type(g) not in kinds or (dtype is not _FLOAT32 and dtype is not _FLOAT64):
        return None
    if not array.flags.c_contiguous and any(array.strides):  # one number repeated has no order of its own
        return None
    arrays = {"g": array}
    for name, value in node.known.items():
        if type(value) is Saved:
            tensor = value.look(node)
            value = tensor.ndarray
            if type(tensor) not in kinds or not value.flags.c_contiguous:
                return None
        if type(value) is not np.ndarray and not isinstance(value, np.generic):
            return None
        if value.dtype is not dtype:
            return None
        arrays[name] = value
    return arrays
