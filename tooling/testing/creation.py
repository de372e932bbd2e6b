"""``make_tensor``: random tensors for tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...ops.types import FLOATING, DType, bool_, complex128, float32, float64, int64
from ...tape.grad_mode import no_grad
from ...tensors.creation import empty
from ...tensors.limits import finfo, iinfo


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """Random numbers of a type, between `low` (-9, or 0) and below `high` (9, or 10 for integers, 2 for bool).

    ValueError for bounds that the type does not have, and for integers that require gradients. With `noncontiguous`
    the elements have gaps; with `exclude_zero` zeros become 1, or the smallest number.

    >>> import tracegrad as tg
    >>> tg.testing.make_tensor((2, 3), dtype=tg.float32, device="cpu").shape
    tracegrad.Size([2, 3])
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else tuple(shape)
    is_floating = dtype.category >= FLOATING
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got both")
    if requires_grad and not is_floating:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype!r}"
        )
    low, high = _bounds(dtype, low, high)
    noncontiguous = noncontiguous and math.prod(sizes) > 1
    drawn = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous else sizes
    with no_grad():
        result = _drawn(drawn, dtype, device, low, high)
        if noncontiguous:
            result = result[..., 1::2]
        elif memory_format is not None:
            result = result.clone(memory_format=memory_format)
        if exclude_zero:
            result[result == 0] = finfo(dtype).tiny if is_floating else 1
    return result.requires_grad_() if requires_grad else result


def _bounds(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    least: float
    most: float
    if dtype is bool_:
        least, most, usual = 0, 2, (0, 2)
    elif dtype.category < FLOATING:
        limits = iinfo(dtype)
        least, most, usual = limits.min, limits.max + (dtype is not int64), (-9, 10)
    else:
        real = finfo(dtype)
        least, most, usual = real.min, real.max, (-9, 9)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low > high or (low == high and dtype.category < FLOATING):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype!r} only supports "
            f"[{least}, {most})"
        )
    low, high = min(max(low, least), most), min(max(high, least), most)
    return (low, high) if dtype.category >= FLOATING else (math.ceil(low), math.ceil(high))


def _drawn(shape: Any, dtype: DType, device: Any, low: float, high: float) -> Any:
    if dtype.category < FLOATING:
        values = empty(shape, dtype=int64, device=device)
        return values.random_(int(low), int(high)).to(dtype)
    if dtype.is_complex:
        real = float64 if dtype is complex128 else float32
        parts = [empty(shape, dtype=real, device=device).uniform_(low, high) for _ in range(2)]
        return parts[0].to(dtype) + parts[1].to(dtype) * 1j
    return empty(shape, dtype=dtype, device=device).uniform_(low, high)
