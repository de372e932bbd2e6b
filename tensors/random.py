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

from ..ops.array import quietly
from ..ops.comparison import eq, where
from ..ops.complex_numbers.parts import view_as_complex
from ..ops.core import current
from ..ops.elementary import log, log1p
from ..ops.identity import copy
from ..ops.movement import broadcast, reshape, transpose
from ..ops.numbers import computed
from ..ops.pointwise import cast
from ..ops.random import (
    BLOCK,
    block_normals,
    pairs,
    uniform24,
    uniform53,
    uniforms_for_blocks,
)
from ..ops.requirements import Requirement, require
from ..ops.rounding import ceil
from ..ops.types import (
    WIDE,
    DType,
    Type,
    array_in,
    broadcast_shapes,
    float32,
    float64,
    real_of,
)
from ..tape.grad_mode import no_grad
from ..tracing.watch import watcher
from .composite import part
from .generator import Generator, chosen
from .layouts.order import in_row_major_order, is_contiguous, memory_order
from .tensor import EAGER, Tensor, make

Shape = tuple[int, ...]

PROBABILITIES = Requirement(
    lambda p: (p >= 0, p <= 1),
    RuntimeError,
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false: bernoulli needs probabilities.",
)
DEVIATIONS = Requirement(lambda std: (std >= 0,), RuntimeError, "normal expects all elements of std >= 0.0")


# ------------------------------------------------------------------------------------------------- order in memory


def strides_like(x: np.ndarray, dtype: DType) -> Shape:
    """The strides of ``empty_like(x)``: side by side, in x's order. Draws "like" x, and dropout's, take these."""
    return np.empty_like(x, dtype.numpy).strides


def shaped(flat: Any, shape: Shape, strides: Shape | None) -> Any:
    """`flat`, drawn in the order of memory, as a value of `shape`."""
    order = tuple(range(len(shape))) if strides is None else memory_order(shape, strides)
    laid_out = reshape(flat, tuple(shape[axis] for axis in order))
    if order == tuple(range(len(shape))):
        return laid_out
    return transpose(laid_out, tuple(order.index(axis) for axis in range(len(shape))))


def words(generator: Generator | None, count: int) -> Any:
    return chosen(generator).words(count)


def uniforms(generator: Generator | None, shape: Shape, dtype: DType, strides: Shape | None = None) -> Tensor:
    """In [0, 1), of short types in float32. The words get their shape, not the numbers: no view is the result."""
    count = math.prod(shape)
    if current() is EAGER and (strides is None or in_row_major_order(strides)):
        return make(chosen(generator).uniforms_at_once(shape, dtype))
    if dtype is not float64:
        return uniform24(shaped(words(generator, count), shape, strides))
    return uniform53(*(shaped(part, shape, strides) for part in pairs(words(generator, 2 * count))))


def _uniforms_now(generator: Generator | None, shape: Shape, dtype: DType, strides: Shape | None) -> np.ndarray | None:
    """`uniforms` as an array, where what is made of them is numpy code: nobody records, in row-major order."""
    if current() is not EAGER or watcher() is not None or not (strides is None or in_row_major_order(strides)):
        return None
    return chosen(generator).uniforms_at_once(shape, dtype)


def made(values: np.ndarray | np.generic) -> Tensor:
    """A tensor of what numpy has computed, which is a scalar where there are no dimensions."""
    return make(np.asarray(values))


def _require_floating(dtype: DType, kernel: str) -> None:
    if not dtype.is_floating_point:
        raise NotImplementedError(
            f'"{kernel}" not implemented for {dtype.title!r}. Draw floating-point numbers and convert them.'
        )


# -------------------------------------------------------------------------------------------------- uniform numbers


@part
def rand(shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None) -> Tensor:
    """Uniform numbers in [0, 1)."""
    _require_floating(dtype, "check_uniform_bounds")
    return _below(in_type(uniforms(generator, shape, dtype, strides), dtype), 0.0, 1.0)


def _below(drawn: Any, low: Any, high: Any) -> Any:
    """Numbers of short types in [low, high): what rounds up to `high` is `low`, as in PyTorch."""
    dtype = current().type_of(drawn).dtype
    if dtype not in WIDE or not _are_numbers(low, high):
        return drawn
    return where(eq(drawn, computed(functools.partial(_rounded_short, dtype), high)), low, drawn)


def uniform(
    shape: Shape,
    dtype: DType,
    low: Any = 0.0,
    high: Any = 1.0,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Tensor:
    """Uniform numbers in [low, high), both parts of complex ones. RuntimeError if `low` is above `high`."""
    if dtype.is_complex:
        return _of_parts(uniform, shape, dtype, low, high, generator)
    _require_floating(dtype, "check_uniform_bounds")
    if _are_numbers(low, high):
        if low > high:
            raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
        width: Any = computed(functools.partial(_difference, dtype), high, low)
        low = computed(functools.partial(_rounded, dtype), low)
    else:
        width = high - low
    u = _uniforms_now(generator, shape, dtype, strides) if dtype in (float32, float64) and _are_numbers(low) else None
    if u is not None:
        return made(quietly(_spread, u, width, low))
    return _below(in_type(_fused(uniforms(generator, shape, dtype, strides), width, low), dtype), low, high)


def _spread(u: np.ndarray, scale: float, shift: float) -> np.ndarray:
    """`_fused`, in the type of `u`."""
    return (u.astype(np.float64, copy=False) * scale + shift).astype(u.dtype, copy=False)


def _of_parts(draw: Any, shape: Shape, dtype: DType, *options: Any) -> Any:
    """Complex numbers of which both parts are drawn, side by side as they lie in memory."""
    return copy(view_as_complex(draw((*shape, 2), real_of(dtype), *options)))


def _fused(x: Any, scale: Any, shift: Any) -> Any:
    """``x * scale + shift`` in float64: PyTorch rounds once there, and for float32 numbers so does this."""
    return in_type(x, float64) * scale + shift


def _rounded(dtype: DType, number: float) -> float:
    return float(WIDE.get(dtype, dtype).numpy.type(number))


def _rounded_short(dtype: DType, number: float) -> float:
    return float(dtype.numpy.type(number))


def _difference(dtype: DType, high: float, low: float) -> float:
    """In `dtype` (float32 for short types), as PyTorch subtracts them."""
    of = WIDE.get(dtype, dtype).numpy.type
    return float(of(high) - of(low))


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def in_type(x: Any, dtype: DType) -> Any:
    return x if current().type_of(x).dtype is dtype else cast(x, dtype)


# -------------------------------------------------------------------------------------------------- normal numbers


@part
def randn(shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None) -> Tensor:
    """Normal numbers with mean 0 and standard deviation 1."""
    if _draws_at_once(shape, dtype, strides):
        return make(chosen(generator).normals_like(shape, dtype).astype(dtype.numpy, copy=False))
    drawn = _standard_normals(shape, dtype, generator, strides)
    return copy(drawn) if current().type_of(drawn).dtype is dtype else cast(drawn, dtype)


def normal(
    shape: Shape,
    dtype: DType,
    mean: Any = 0.0,
    std: Any = 1.0,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Tensor:
    """Normal numbers with a mean and a standard deviation; both parts of complex ones, with half the variance each.

    RuntimeError if `std` is negative.
    """
    if dtype.is_complex:
        return _of_parts(normal, shape, dtype, mean, std * 2**-0.5, generator)
    if _are_numbers(std) and not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if _are_numbers(mean, std):
        if not _one_by_one(shape, dtype, strides):  # those are computed in float64, of options as they are given
            mean, std = (computed(functools.partial(_rounded, dtype), number) for number in (mean, std))
        if _draws_at_once(shape, dtype, strides):
            drawn = chosen(generator).normals_like(shape, dtype).astype(np.float64, copy=False)
            return made((drawn * std + mean).astype(dtype.numpy, copy=False))
    return in_type(_fused(_standard_normals(shape, dtype, generator, strides), std, mean), dtype)


def _draws_at_once(shape: Shape, dtype: DType, strides: Shape | None) -> bool:
    """Whether normal numbers are numpy code: nobody records, and they lie side by side in one of the usual types."""
    if dtype not in (float32, float64) or current() is not EAGER or watcher() is not None:
        return False
    return strides is None or is_contiguous(shape, strides, dtype.itemsize)


@no_grad()
def normal_around(mean: Any, std: Any, generator: Generator | None = None) -> Tensor:
    """``torch.normal`` with a mean, or a standard deviation, or both, in tensors, which are broadcast."""
    tensors = [current().type_of(x) for x in (mean, std) if not _are_numbers(x)]
    if not _are_numbers(std):
        require(std, DEVIATIONS)
    elif not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    shape = broadcast_shapes(*(t.shape for t in tensors))
    dtype = tensors[0].dtype
    drawn = (normal if dtype.is_complex else randn)(shape, dtype, generator=generator)
    if not _are_numbers(std) and current().type_of(std).dtype.is_complex:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    return in_type(drawn * std + mean, dtype)


def _one_by_one(shape: Shape, dtype: DType, strides: Shape | None) -> bool:
    """Whether normal numbers are few or not side by side: PyTorch makes these one after the other in float64."""
    return math.prod(shape) < BLOCK or (strides is not None and not is_contiguous(shape, strides, dtype.itemsize))


def _standard_normals(shape: Shape, dtype: DType, generator: Generator | None, strides: Shape | None) -> Any:
    """A view; in float64 where the numbers are made one by one (few, or not side by side in memory)."""
    count = math.prod(shape)
    if count:  # none are asked for no type, as in PyTorch
        _require_floating(dtype, "normal_kernel_cpu")
    if _one_by_one(shape, dtype, strides):
        return shaped(chosen(generator).normals(count), shape, strides)
    # Short types are drawn block by block, the last one of fresh numbers where it is not full.
    drawn = count + -count % BLOCK if dtype in WIDE else uniforms_for_blocks(count)
    u = uniforms(generator, (drawn,), dtype)
    return reshape(block_normals(u, count), shape)


# ------------------------------------------------------------------------------------------ other distributions


@no_grad()
def bernoulli(
    p: Any,
    generator: Generator | None = None,
    shape: Shape | None = None,
    dtype: DType | None = None,
    strides: Shape | None = None,
) -> Tensor:
    """1 with the probability in `p`, a floating-point tensor, else 0; p's dtype and shape unless others are given."""
    of = current().type_of(p)
    _require_floating(of.dtype, "bernoulli_tensor_cpu_p_")
    require(p, PROBABILITIES)
    shape = of.shape if shape is None else shape
    drawn = _uniforms_now(generator, shape, of.dtype, strides) if _takes_part(p, of) else None
    if drawn is not None:
        return made(array_in(drawn < p.ndarray, dtype or of.dtype))
    u = uniforms(generator, shape, of.dtype, strides)
    return in_type(u < broadcast(p, shape), dtype or of.dtype)


def _takes_part(p: Any, of: Type) -> bool:
    """Whether arrays are compared with the numbers of `p` as tensors are."""
    return of.dtype in (float32, float64) and current() is EAGER and p.ndarray.flags.c_contiguous


def bernoulli_with(
    p: Any, shape: Shape, dtype: DType, generator: Generator | None = None, strides: Shape | None = None
) -> Tensor:
    """1 with probability `p`, a number, else 0: ``bernoulli_(p)``, and the mask of dropout with 1 - p."""
    if _are_numbers(p) and not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    drawn = _uniforms_now(generator, shape, float64, strides) if _are_numbers(p) else None
    if drawn is not None:
        return made(array_in(drawn < p, dtype))
    return in_type(uniforms(generator, shape, float64, strides) < p, dtype)


def exponential(
    shape: Shape,
    dtype: DType,
    rate: Any = 1.0,
    generator: Generator | None = None,
    strides: Shape | None = None,
) -> Tensor:
    """Numbers with density ``rate * exp(-rate * x)``. RuntimeError unless `rate` is positive."""
    if math.prod(shape) and not dtype.is_floating_point:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {dtype.title}"
        )
    if _are_numbers(rate) and not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    drawn = exponentials_now(shape, rate, generator, strides) if _are_numbers(rate) else None
    if drawn is not None:
        return made(quietly(array_in, drawn, dtype))
    return in_type(log1p(-uniforms(generator, shape, float64, strides)) * (-1.0 / rate), dtype)


def exponentials_now(
    shape: Shape, rate: float, generator: Generator | None, strides: Shape | None
) -> np.ndarray | None:
    """`exponential` as an array of float64, where `_uniforms_now` gives one."""
    u = _uniforms_now(generator, shape, float64, strides)
    return None if u is None else np.log1p(np.negative(u, out=u), out=u) * (-1.0 / rate)


def geometric(
    shape: Shape, dtype: DType, p: float, generator: Generator | None = None, strides: Shape | None = None
) -> Tensor:
    """How many trials it takes to succeed once, with probability `p` each. RuntimeError unless 0 < p < 1."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return in_type(ceil(log(uniforms(generator, shape, float64, strides)) / math.log(1 - p)), dtype)
