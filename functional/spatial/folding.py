"""Sliding blocks of an image as columns of a matrix, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...ops import movement
from ...ops import reductions as folds
from ...ops.types import INTEGER
from ...ops.windows import spread
from ...tensors.composite import composite
from ...tensors.tensor import Tensor
from ..checks.shapes import check_not_integers
from .sliding import Shape, Sliding, per_axis, windows_of

#: One number for both axes, or one for each, in whatever can be iterated over.
Pair = int | Iterable[int] | Tensor


def _pair(value: Any, name: str) -> Shape:
    """Two numbers: one for both, or what can be iterated over, of two elements (a vector of integers, too)."""
    given = tuple(value) if isinstance(value, Iterable) else (value, value)
    if len(given) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(given)}")
    return per_axis(given, 2, name)


def _blocks(kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Sliding:
    given = (("kernel_size", kernel_size), ("stride", stride), ("padding", padding), ("dilation", dilation))
    kernel, steps, low, gaps = (_pair(value, name) for name, value in given)
    for name, numbers, least in (("kernel size", kernel, 1), ("stride", steps, 1), ("dilation", gaps, 1)):
        if min(numbers) < least:
            raise RuntimeError(f"{name} should be greater than zero, but got {list(numbers)}")
    if min(low) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {list(low)}")
    return Sliding(kernel, steps, low, low, gaps)


def _refuse_integers(kernel: str, x: Tensor) -> None:
    if x.dtype.category == INTEGER:
        check_not_integers(kernel, x)


@composite("Im2ColBackward0")
def unfold(input: Tensor, kernel_size: Pair, dilation: Pair = 1, padding: Pair = 0, stride: Pair = 1) -> Tensor:
    """The sliding blocks of images [batch, channels, height, width] as columns [batch, channels * kernel, blocks].

    Without a batch axis too; zeros are outside. Numbers are for both axes, or one for each. RuntimeError where no block
    fits or the shape is another, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.nn.functional.unfold(tg.tensor([[[[1.0, 2.0, 3.0]]]]), (1, 2))
    tensor([[[1., 2.],
             [2., 3.]]])
    """
    _refuse_integers("im2col_out_cpu", input)
    shape = input.ndarray.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            f"input, but got: {list(shape)}"
        )
    blocks = _blocks(kernel_size, dilation, padding, stride)
    counts = blocks.count(shape[-2:])
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {shape[-2:]}, kernel_size={blocks.kernel}, dilation={blocks.dilation}, "
            f"padding={blocks.padding}, stride={blocks.stride}, calculated shape of the array of sliding blocks as "
            f"{counts}, but its components must be at least one."
        )
    columns = (*shape[:-3], shape[-3] * math.prod(blocks.kernel), math.prod(counts))
    return movement.reshape(windows_of(input, blocks, counts), columns)


@composite("Col2ImBackward0")
def fold(
    input: Tensor,
    output_size: Pair,
    kernel_size: Pair,
    dilation: Pair = 1,
    padding: Pair = 0,
    stride: Pair = 1,
) -> Tensor:
    """Columns [batch, channels * kernel, blocks] added up where `unfold` takes them: [batch, channels, *output_size].

    Without a batch axis too. Numbers are for both axes, or one for each. RuntimeError for sizes that do not fit
    together, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> columns = tg.tensor([[[1.0, 2.0], [2.0, 3.0]]])
    >>> tg.nn.functional.fold(columns, (1, 3), (1, 2))
    tensor([[[[1., 4., 3.]]]])
    """
    _refuse_integers("col2im_out_cpu", input)
    shape, space = input.ndarray.shape, _pair(output_size, "output_size")
    blocks = _blocks(kernel_size, dilation, padding, stride)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(shape)}"
        )
    counts = _checked_blocks(shape, space, blocks)
    batch, channels = shape[:-2], shape[-2] // math.prod(blocks.kernel)
    split = movement.reshape(input, (*batch, channels, *blocks.kernel, *counts))
    apart = spread(split, space, blocks.stride, blocks.dilation, blocks.padding)
    return folds.sum(apart, (len(batch) + 1, len(batch) + 2))


def _checked_blocks(shape: Shape, space: Shape, blocks: Sliding) -> Shape:
    counts = blocks.count(space)
    if shape[-2] % math.prod(blocks.kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[-2]} and kernel_size={blocks.kernel}."
        )
    if min(counts) < 1 or shape[-1] != math.prod(counts):
        raise RuntimeError(
            f"Given output_size={space}, kernel_size={blocks.kernel}, dilation={blocks.dilation}, "
            f"padding={blocks.padding}, stride={blocks.stride}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {counts[0]} * {counts[1]} = {math.prod(counts)}, but got "
            f"input.size(2)={shape[-1]}."
        )
    return counts
