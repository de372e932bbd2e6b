"""How numpy lays out the result of an op, found without its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...ops.array import Array
from ...ops.core import Params, Primitive
from ...ops.identity import lay_primitive
from ...ops.layouts.orders import own_strides
from ...ops.memory import order_of


def strides_of_result(primitive: Primitive, operands: Sequence[Any], params: Params) -> tuple[int, ...] | None:
    """How numpy lays out the result, which follows from the operands' layouts and not from the numbers in them; None
    for the order of the axes, in which it is if the operands are, but where the op is to turn it."""
    if primitive is not lay_primitive and all(own_strides(o.ndarray) is None for o in operands if isinstance(o, Array)):
        return None
    zeros = [_zeros_laid_out_as(o.ndarray) if isinstance(o, Array) else o for o in operands]
    try:
        with np.errstate(all="ignore"):
            out = np.asarray(primitive.evaluate(*zeros, **params))
    except Exception:  # 0 is no index into nothing; then there is nothing to lay out, either
        return None
    if order_of(out) is None or any(isinstance(x, np.ndarray) and np.may_share_memory(out, x) for x in zeros):
        out = np.empty_like(out)  # a result that shows an operand in another way becomes memory of its own
    return own_strides(out)


def _zeros_laid_out_as(array: np.ndarray) -> np.ndarray:
    last = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    if not array.size or min(array.strides, default=0) < 0 or last % array.itemsize:
        return np.zeros_like(array)
    return as_strided(np.zeros(last // array.itemsize + 1, array.dtype), array.shape, array.strides)
