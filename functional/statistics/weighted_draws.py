"""Draws of places with weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.array import quietly
from ...ops.core import current
from ...ops.identity import copy
from ...ops.movement import concatenate, reshape, slice
from ...ops.places.searching import search, search_primitive
from ...ops.pointwise import cast
from ...ops.reductions import argmax, sum, sum_primitive
from ...ops.requirements import Requirement, require
from ...ops.scans import argsort, cumsum_rounded, cumsum_rounded_primitive
from ...ops.sources import full
from ...ops.types import DType, Type, float32, float64
from ...tape.grad_mode import no_grad
from ...tensors.generator import Generator, chosen
from ...tensors.random import exponential, exponentials_now, rand
from ...tensors.tensor import EAGER, Tensor, make
from ...tracing.watch import watcher

WEIGHTS = Requirement(
    lambda p: (p >= 0, p < math.inf),
    RuntimeError,
    "probability tensor contains either `inf`, `nan` or element < 0",
)
NO_WEIGHT_BELOW_0 = Requirement(
    lambda p: (p >= 0,), RuntimeError, "invalid multinomial distribution (encountering probability entry < 0)"
)
FINITE_WEIGHTS = Requirement(
    lambda p: (p < math.inf,),
    RuntimeError,
    "invalid multinomial distribution (encountering probability entry = infinity or NaN)",
)
SUMS_OF_WEIGHTS = Requirement(
    lambda sums: (sums > 0,), RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)"
)


@no_grad()
def multinomial(p: Any, count: int, replacement: bool = False, generator: Generator | None = None) -> Tensor:
    """Indices drawn with the weights in `p` (n or rows x n, of any positive sum): int64, `count` or rows x count."""
    of = current().type_of(p)
    _check_multinomial(of, count, replacement)
    if (drawn := _drawn_now(p, of, count, replacement, generator)) is not None:
        return make(drawn.reshape((*of.shape[:-1], count)))
    draw = _with_replacement if replacement and count > 1 else _without_replacement
    for requirement in [WEIGHTS] if draw is _without_replacement else [NO_WEIGHT_BELOW_0, FINITE_WEIGHTS]:
        require(p, requirement)
    require(sum(p, (of.ndim - 1,)), SUMS_OF_WEIGHTS)
    rows = reshape(p, (1, *of.shape)) if of.ndim == 1 else p
    return copy(reshape(draw(rows, count, generator), (*of.shape[:-1], count)))


def _drawn_now(p: Any, of: Type, count: int, replacement: bool, generator: Generator | None) -> np.ndarray | None:
    """What the primitives below compute, as numpy code: in plain eager mode, of weights that are as required."""
    if of.dtype not in (float32, float64) or current() is not EAGER or watcher() is not None:
        return None
    weights = p.ndarray
    if not weights.size or not weights.flags.c_contiguous or (count > 1 and not replacement):
        return None
    rows = weights.reshape(-1, of.shape[-1])
    sums = quietly(sum_primitive.evaluate_wide, rows, (1,))
    if not (rows.min() >= 0 and rows.max() < math.inf and sums.min() > 0):
        return None
    return quietly(_chosen, rows, count, chosen(generator))


def _chosen(p: np.ndarray, count: int, generator: Generator) -> np.ndarray:
    """`_without_replacement` for one draw, else `_with_replacement`."""
    if count == 1:
        waits = exponentials_now(p.shape, 1.0, generator, None)
        assert waits is not None
        return (p / waits.astype(p.dtype, copy=False)).argmax(1)
    sums = cumsum_rounded_primitive.evaluate_wide(p, axis=1)
    shares = (sums / sums[:, -1:]).astype(np.float64, copy=False)
    shares[:, -1] = 1.0
    found: np.ndarray = search_primitive.evaluate_wide(shares, generator.uniforms_at_once((len(p), count), float64))
    return found


def _with_replacement(p: Any, count: int, generator: Generator | None) -> Any:
    (rows, size), dtype = current().type_of(p).shape, current().type_of(p).dtype
    # Sums rounded one by one, as in PyTorch: where a draw falls depends on their last bits.
    sums = cumsum_rounded(_cast(p, float32) if dtype.itemsize == 2 else p, 1)
    shares = sums / slice(sums, (0, size - 1), (rows, size), (1, 1))
    # The last share is one whatever the roundings were.
    below = [slice(shares, (0, 0), (rows, size - 1), (1, 1)), full((rows, 1), 1.0, current().type_of(sums).dtype)]
    u = rand((rows, count), float64, generator)
    return search(_cast(concatenate(below, 1), float64), u)


def _without_replacement(p: Any, count: int, generator: Generator | None) -> Any:
    """The places of the largest p / q, where q are exponential numbers."""
    of = current().type_of(p)
    ratio = p / exponential(of.shape, of.dtype, 1.0, generator, p.ndarray.strides)
    if count == 1:
        return argmax(ratio, 1)
    return slice(argsort(ratio, 1, descending=True), (0, 0), (of.shape[0], count), (1, 1))


def _check_multinomial(p: Type, count: int, replacement: bool) -> None:
    if not p.dtype.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {p.dtype.title}")
    if p.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {p.ndim}")
    if count <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got {count}")
    if not replacement and count > p.shape[-1]:
        size = p.shape[-1]
        raise RuntimeError(f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {count} > {size}")


def _cast(x: Any, dtype: DType) -> Any:
    return x if current().type_of(x).dtype is dtype else cast(x, dtype)
