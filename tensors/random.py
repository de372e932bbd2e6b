"""Drawing random tensors. The numbers, and how many words each draw takes, are those of PyTorch's CPU generator.

`shape` is a tuple of ints, `generator` None means the default one. Draws that fill existing memory take its `strides`
(None: contiguous): numbers are made in the order in which elements lie in memory, and normal numbers by another method
where elements do not lie side by side.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..ops.core import current
from ..ops.elementary import log, log1p
from ..ops.identity import copy
from ..ops.movement import broadcast, concatenate, reshape, slice, transpose
from ..ops.numbers import computed
from ..ops.pointwise import cast
from ..ops.random import (
    BLOCK,
    block_normals,
    join_words,
    pairs,
    permutation,
    search,
    uniform24,
    uniform53,
    uniforms_for_blocks,
    unsigned_modulo,
)
from ..ops.reductions import argmax, sum
from ..ops.requirements import Requirement, require
from ..ops.rounding import ceil
from ..ops.scans import argsort, cumsum
from ..ops.sources import full, iota
from ..ops.types import DType, Type, bool_, broadcast_shapes, float32, float64, int32, int64
from ..tape.grad_mode import no_grad
from .composite import part
from .generator import Generator, default_generator

Shape = tuple[int, ...]

PROBABILITIES = Requirement(
    lambda p: (p >= 0, p <= 1),
    RuntimeError,
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli needs probabilities.",
)
DEVIATIONS = Requirement(lambda std: (std >= 0,), RuntimeError, "normal expects all elements of std >= 0.0")
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

#: Integers below this bound take one word each, others two.
WIDE_RANGE = 2**28

_TORCH_NAME = {bool_: "Bool", int32: "Int", int64: "Long"}
_C_NAME = {bool_: "bool", int32: "int", int64: "long"}
_INTEGER_RANGE = {bool_: (0, 1), int32: (-(2**31), 2**31 - 1), int64: (-(2**63), 2**63 - 1)}
#: How many values ``random_()`` draws from: all that are not negative, or all integers that a float holds exactly.
_ALL_VALUES = {bool_: 2, int32: 2**31, int64: 2**63, float32: 2**24 + 1, float64: 2**53 + 1}


# ------------------------------------------------------------------------------------------------- order in memory


def memory_order(shape: Shape, strides: Shape) -> Shape:
    """The axes from the slowest in memory to the fastest."""
    return tuple(sorted(range(len(shape)), key=lambda axis: -strides[axis]))


def strides_like(x: np.ndarray, dtype: DType) -> Shape:
    """The strides of ``empty_like(x)``: side by side, in x's order. Draws "like" x, and dropout's, take these."""
    return np.empty_like(x, dtype.numpy).strides


def _is_contiguous(shape: Shape, strides: Shape, itemsize: int) -> bool:
    expected = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def _shaped(flat: Any, shape: Shape, strides: Shape | None) -> Any:
    """`flat`, drawn in the order of memory, as a value of `shape`."""
    order = tuple(range(len(shape))) if strides is None else memory_order(shape, strides)
    laid_out = reshape(flat, tuple(shape[axis] for axis in order))
    if order == tuple(range(len(shape))):
        return laid_out
    return transpose(laid_out, tuple(order.index(axis) for axis in range(len(shape))))


def _words(generator: Generator | None, count: int) -> Any:
    return (generator or default_generator).words(count)


def _uniforms(generator: Generator | None, shape: Shape, dtype: DType, strides: Shape | None = None) -> Any:
    """In [0, 1). The words get their shape, not the numbers: the result then is a value of its own, no view."""
    count = math.prod(shape)
    if dtype is float32:
        return uniform24(_shaped(_words(generator, count), shape, strides))
    return uniform53(*(_shaped(part, shape, strides) for part in pairs(_words(generator, 2 * count))))


def _require_floating(dtype: DType, kernel: str) -> None:
    if not dtype.is_floating_point:
        raise NotImplementedError(
            f'"{kernel}" not implemented for {_TORCH_NAME[dtype]!r}. Draw floating-point numbers and convert them.'
        )


# -------------------------------------------------------------------------------------------------- uniform numbers


@part
def rand(shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None) -> Any:
    """Uniform numbers in [0, 1)."""
    _require_floating(dtype, "check_uniform_bounds")
    return _uniforms(generator, shape, dtype, strides)


def uniform(
    shape: Shape,
    dtype: DType,
    low: Any = 0.0,
    high: Any = 1.0,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Any:
    """Uniform numbers in [low, high). RuntimeError if `low` is above `high`."""
    _require_floating(dtype, "check_uniform_bounds")
    if _are_numbers(low, high):
        if low > high:
            raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
        width: Any = computed(functools.partial(_difference, dtype), high, low)
        low = computed(functools.partial(_rounded, dtype), low)
    else:
        width = high - low
    return _cast(_fused(_uniforms(generator, shape, dtype, strides), width, low), dtype)


def _fused(x: Any, scale: Any, shift: Any) -> Any:
    """``x * scale + shift`` in float64: PyTorch rounds once there, and for float32 numbers so does this."""
    return _cast(x, float64) * scale + shift


def _rounded(dtype: DType, number: float) -> float:
    return float(dtype.numpy.type(number))


def _difference(dtype: DType, high: float, low: float) -> float:
    """In `dtype`, as PyTorch subtracts them."""
    return float(dtype.numpy.type(high) - dtype.numpy.type(low))


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _cast(x: Any, dtype: DType) -> Any:
    return x if current().type_of(x).dtype is dtype else cast(x, dtype)


# -------------------------------------------------------------------------------------------------- normal numbers


@part
def randn(shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None) -> Any:
    """Normal numbers with mean 0 and standard deviation 1."""
    drawn = _standard_normals(shape, dtype, generator, strides)
    return copy(drawn) if current().type_of(drawn).dtype is dtype else cast(drawn, dtype)


def normal(
    shape: Shape,
    dtype: DType,
    mean: Any = 0.0,
    std: Any = 1.0,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Any:
    """Normal numbers with a mean and a standard deviation. RuntimeError if `std` is negative."""
    if _are_numbers(std) and not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if _are_numbers(mean, std):
        mean, std = (computed(functools.partial(_rounded, dtype), number) for number in (mean, std))
    return _cast(_fused(_standard_normals(shape, dtype, generator, strides), std, mean), dtype)


@no_grad()
def normal_around(mean: Any, std: Any, generator: Generator | None = None) -> Any:
    """``torch.normal`` with a mean, or a standard deviation, or both, in tensors, which are broadcast."""
    tensors = [current().type_of(x) for x in (mean, std) if not _are_numbers(x)]
    if not _are_numbers(std):
        require(std, DEVIATIONS)
    elif not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    shape = broadcast_shapes(*(t.shape for t in tensors))
    return randn(shape, tensors[0].dtype, generator) * std + mean


def _standard_normals(shape: Shape, dtype: DType, generator: Generator | None, strides: Shape | None) -> Any:
    """A view; in float64 where the numbers are made one by one (few, or not side by side in memory)."""
    _require_floating(dtype, "normal_kernel_cpu")
    count = math.prod(shape)
    if count < BLOCK or (strides is not None and not _is_contiguous(shape, strides, dtype.itemsize)):
        return _shaped((generator or default_generator).normals(count), shape, strides)
    u = _uniforms(generator, (uniforms_for_blocks(count),), dtype)
    return reshape(block_normals(u, count), shape)


# ------------------------------------------------------------------------------------------------------- integers


def randint(
    low: int,
    high: int,
    shape: Shape,
    dtype: DType = int64,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Any:
    """Integers in [low, high), in any dtype. RuntimeError if there are none, or if they do not fit into `dtype`."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    least, most = _INTEGER_RANGE.get(dtype, (low, high))
    for what, value in (("from", low), ("to - 1", high - 1)):
        if not least <= value <= most:
            raise RuntimeError(f"{what} is out of bounds for {_C_NAME[dtype]}: {value}. Choose a wider dtype.")
    drawn = _integers(generator, shape, strides, high - low, wide=high - low >= WIDE_RANGE)
    return _cast(_cast(drawn, int64) + low if low else drawn, dtype)


def random(shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None) -> Any:
    """``random_()`` without bounds: any number of `dtype` that is not negative; floats up to 2^24 or 2^53."""
    return _cast(_integers(generator, shape, strides, _ALL_VALUES[dtype], wide=dtype.itemsize == 8), dtype)


def _integers(generator: Generator | None, shape: Shape, strides: Shape | None, span: int, wide: bool) -> Any:
    """Integers below `span`: int32 from one word each, int64 from two if `wide`."""
    count = math.prod(shape)
    if not wide:
        return unsigned_modulo(_shaped(_words(generator, count), shape, strides), span)
    bits = join_words(*(_shaped(part, shape, strides) for part in pairs(_words(generator, 2 * count))))
    return bits if span == 2**64 else unsigned_modulo(bits, span)


def randperm(n: int, dtype: DType = int64, generator: Generator | None = None) -> Any:
    """0 ... n-1 in random order."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if n < 2:
        return iota((n,), 0, dtype)
    return _cast(permutation(_words(generator, n - 1), n), dtype)


# ------------------------------------------------------------------------------------------ other distributions


@no_grad()
def bernoulli(
    p: Any,
    generator: Generator | None = None,
    shape: Shape | None = None,
    dtype: DType | None = None,
    strides: Shape | None = None,
) -> Any:
    """1 with the probability in `p`, a floating-point tensor, else 0; p's dtype and shape unless others are given."""
    of = current().type_of(p)
    _require_floating(of.dtype, "bernoulli_tensor_cpu_p_")
    require(p, PROBABILITIES)
    shape = of.shape if shape is None else shape
    u = _uniforms(generator, shape, of.dtype, strides)
    return _cast(u < broadcast(p, shape), dtype or of.dtype)


def bernoulli_with(
    p: Any, shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None
) -> Any:
    """1 with probability `p`, a number, else 0: ``bernoulli_(p)``, and the mask of dropout with 1 - p."""
    if _are_numbers(p) and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _cast(_uniforms(generator, shape, float64, strides) < p, dtype)


def exponential(
    shape: Shape,
    dtype: DType,
    rate: Any = 1.0,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Any:
    """Numbers with density ``rate * exp(-rate * x)``. RuntimeError unless `rate` is positive."""
    if not dtype.is_floating_point:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {_TORCH_NAME[dtype]}"
        )
    if _are_numbers(rate) and not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    return _cast(log1p(-_uniforms(generator, shape, float64, strides)) * (-1.0 / rate), dtype)


def geometric(
    shape: Shape, dtype: DType, p: float, generator: Generator | None = None, strides: Shape | None = None
) -> Any:
    """How many trials it takes to succeed once, with probability `p` each. RuntimeError unless 0 < p < 1."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _cast(ceil(log(_uniforms(generator, shape, float64, strides)) / math.log(1 - p)), dtype)


@no_grad()
def multinomial(p: Any, count: int, replacement: bool = False, generator: Generator | None = None) -> Any:
    """Indices drawn with the weights in `p` (n or rows x n, of any positive sum): int64, `count` or rows x count."""
    of = current().type_of(p)
    _check_multinomial(of, count, replacement)
    draw = _with_replacement if replacement and count > 1 else _without_replacement
    for requirement in [WEIGHTS] if draw is _without_replacement else [NO_WEIGHT_BELOW_0, FINITE_WEIGHTS]:
        require(p, requirement)
    require(sum(p, (of.ndim - 1,)), SUMS_OF_WEIGHTS)
    rows = reshape(p, (1, *of.shape)) if of.ndim == 1 else p
    return copy(reshape(draw(rows, count, generator), (*of.shape[:-1], count)))


def _with_replacement(p: Any, count: int, generator: Generator | None) -> Any:
    rows, size = current().type_of(p).shape
    sums = cumsum(p, 1)
    shares = sums / slice(sums, (0, size - 1), (rows, size), (1, 1))
    # The last share is one whatever the roundings were.
    below = [slice(shares, (0, 0), (rows, size - 1), (1, 1)), full((rows, 1), 1.0, current().type_of(p).dtype)]
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
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {_TORCH_NAME[p.dtype]}")
    if p.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {p.ndim}")
    if count <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got {count}")
    if not replacement and count > p.shape[-1]:
        raise RuntimeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {count} > {p.shape[-1]}"
        )
