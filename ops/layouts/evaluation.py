"""How a primitive's numpy evaluation is made PyTorch's: rounded as its kernels round, laid out as they lay out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..types import LAST_LONG_TYPE, is_short_float


def rounded_once(evaluate: Callable[..., Any], laid: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """An op's numpy evaluation, in float32 for 16-bit floating-point operands: PyTorch's kernels round results.

    `laid` puts a result into PyTorch's order of axes, where the first operand does not lie by rows.
    """

    @functools.wraps(evaluate)
    def evaluated(*values: Any, **params: Any) -> Any:
        for value in values:
            if value.dtype.num > LAST_LONG_TYPE:  # `is_short_float`, without a call for each operand of each op
                return _in_float32(evaluate, value.dtype, values, params)
        out = evaluate(*values, **params)
        return laid(out, values) if values and not values[0].flags.c_contiguous else out

    return evaluated


def _in_float32(evaluate: Callable[..., Any], short: np.dtype, values: Any, params: Mapping[str, Any]) -> Any:
    wide = [value.astype(np.float32) if is_short_float(value.dtype) else value for value in values]
    out = evaluate(*wide, **params)
    if "dtype" in params or out.dtype != np.float32:  # a conversion, a comparison, positions
        return out
    return out.astype(short)
