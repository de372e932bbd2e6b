"""Drawing random integers, as `random` draws other numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.core import current, writes_now
from ...ops.random import join_words, join_words_primitive, pairs, permutation, unsigned_modulo
from ...ops.sources import iota
from ...ops.types import (
    DType,
    array_in,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from ...tracing.watch import watcher
from ..generator import Generator, chosen
from ..layouts.order import in_row_major_order
from ..random import Shape, in_type, made, shaped, words
from ..tensor import EAGER, Tensor

#: Integers below this bound take one word each, others two.
WIDE_RANGE = 2**28

_INTEGER_RANGE = {bool_: (0, 1)} | {
    dtype: (int(np.iinfo(dtype.numpy).min), int(np.iinfo(dtype.numpy).max))
    for dtype in (uint8, int8, int16, int32, int64)
}
#: How many values ``random_()`` draws from: all that are not negative, or all integers that a float holds exactly.
_ALL_VALUES = {dtype: most + 1 for dtype, (_, most) in _INTEGER_RANGE.items()} | {
    float16: 2**11 + 1, bfloat16: 2**8 + 1, float32: 2**24 + 1, float64: 2**53 + 1,
}  # fmt: skip


def randint(
    low: int,
    high: int,
    shape: Shape,
    dtype: DType = int64,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Tensor:
    """Integers in [low, high), in any dtype. RuntimeError if there are none, or if they do not fit into `dtype`."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    least, most = _INTEGER_RANGE.get(dtype, (low, high))
    name = dtype.c_name.removesuffix(" int")
    for what, value in (("from", low), ("to - 1", high - 1)):
        if not least <= value <= most:
            raise RuntimeError(f"{what} is out of bounds for {name}: {value}. Choose a wider dtype.")
    span, wide = high - low, high - low >= WIDE_RANGE
    if (dtype is int64 or current() is EAGER) and _are_drawn_now(generator, shape, strides):
        numbers = _integers_at_once(chosen(generator), math.prod(shape), span, wide)
        return made(array_in((numbers + low).reshape(shape), dtype))
    drawn = _integers(generator, shape, strides, span, wide)
    return in_type(in_type(drawn, int64) + low if low else drawn, dtype)


def _are_drawn_now(generator: Generator | None, shape: Shape, strides: Shape | None) -> bool:
    """Whether integers are drawn in one go, with numpy: in plain eager mode, and where ops are put off. There, whoever
    takes them as positions would want to see them next."""
    if watcher() is not None or 0 in shape or not (strides is None or in_row_major_order(strides)):
        return False
    return writes_now(chosen(generator).state)


def _integers_at_once(generator: Generator, count: int, span: int, wide: bool) -> np.ndarray:
    """`_integers` where nobody records them, in int64."""
    if not wide:
        return (generator.few_words(count).view(np.uint32) % np.uint32(span)).astype(np.int64)
    words = generator.words_at_once(2 * count)
    bits: np.ndarray = join_words_primitive.evaluate_wide(words[::2], words[1::2])
    return bits if span == 2**64 else (bits.view(np.uint64) % np.uint64(span)).view(np.int64)


def random(shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None) -> Tensor:
    """``random_()`` without bounds: any number of `dtype` that is not negative; floats up to 2^24 or 2^53."""
    span, wide = _ALL_VALUES[dtype], dtype.itemsize == 8
    if current() is EAGER and _are_drawn_now(generator, shape, strides):
        numbers = _integers_at_once(chosen(generator), math.prod(shape), span, wide)
        return made(array_in(numbers.reshape(shape), dtype))
    return in_type(_integers(generator, shape, strides, span, wide), dtype)


def _integers(generator: Generator | None, shape: Shape, strides: Shape | None, span: int, wide: bool) -> Any:
    """Integers below `span`: int32 from one word each, int64 from two if `wide`."""
    count = math.prod(shape)
    if not wide:
        return unsigned_modulo(shaped(words(generator, count), shape, strides), span)
    bits = join_words(*(shaped(part, shape, strides) for part in pairs(words(generator, 2 * count))))
    return bits if span == 2**64 else unsigned_modulo(bits, span)


def randperm(n: int, dtype: DType = int64, generator: Generator | None = None) -> Tensor:
    """0 ... n-1 in random order."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if n < 2:
        return iota((n,), 0, dtype)
    return in_type(permutation(words(generator, n - 1), n), dtype)
