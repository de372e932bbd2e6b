"""Normalisation by the squares of neighbouring channels (Krizhevsky et al. 2012)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...autograd.function import Operation, once_differentiable
from ...ops import elementary, movement
from ...ops import reductions as folds
from ...ops.comparison import where
from ...ops.sources import iota
from ...ops.types import FLOATING, int64
from ...tensors.calling.kernels import OF_OPTIONS
from ...tensors.composite import whole
from ..spatial.sliding import Sliding, windows_of

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _sums(x: Any, before: int, behind: int) -> Any:
    """For each channel (axis 1) the sum over it and its neighbours; there is nothing beyond the first and the last."""
    batch, channels, *space = x.ndarray.shape
    rows = movement.reshape(x, (batch, channels, math.prod(space)))
    sliding = Sliding((before + 1 + behind, 1), (1, 1), (before, 0), (behind, 0), (1, 1))
    seen = windows_of(rows, sliding, rows.ndarray.shape[1:])  # [batch, size, 1, channels, space]
    return movement.reshape(folds.sum(seen, (1, 2)), x.ndarray.shape)


@whole
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """``input / (k + alpha * m) ** beta``, m the mean of the squares of `size` channels around each; zeros beyond.

    `input` is ``[batch, channels, *space]``, with one axis of space or more; ValueError for fewer.

    >>> import tracegrad as tg
    >>> tg.nn.functional.local_response_norm(tg.tensor([[[1.], [2.]]]), 1, alpha=1., beta=1.)
    tensor([[[0.5000],
             [0.4000]]])
    """
    if input.ndarray.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.ndarray.ndim} dimensions)")
    if not input.ndarray.size:
        return input
    OF_OPTIONS["averages of channels" if input.ndarray.ndim == 3 else "averages of images"].require(input)
    sums = _sums(input * input, size // 2, (size - 1) // 2)
    mean = sums // size if input.dtype.category < FLOATING else sums / size  # PyTorch averages in the input's type
    return input / elementary.pow(mean * alpha + k, beta)


class _CrossMap(Operation):
    """PyTorch's older form, to the letter: the first channel stays in all sums, and the derivative sums the products
    of `size` channels that begin one earlier than those of the value."""

    @staticmethod
    def forward(ctx: Any, input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
        reach = (size - 1) // 2
        square = input * input
        channel = iota((1, input.ndarray.shape[1], *(1,) * (input.ndarray.ndim - 2)), 1, int64)
        first = movement.slice(square, (0,) * 4, (square.ndarray.shape[0], 1, *square.ndarray.shape[2:]), (1,) * 4)
        scale = (_sums(square, reach, reach) + where(channel > reach, first, 0.0)) * (alpha / size) + k
        out = elementary.pow(scale, -beta) * input
        ctx.save_for_backward(input, out, scale)
        ctx.numbers = size, alpha, beta
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        input, out, scale = ctx.saved_tensors
        size, alpha, beta = ctx.numbers
        before = int(size - (size - 1) / 2)
        products = _sums(g * out / scale, before, size - 1 - before)
        gradient = elementary.pow(scale, -beta) * g - input * products * (2 * alpha * beta / size)
        return gradient, None, None, None, None


@whole
def cross_map_lrn(input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    """The older form of `local_response_norm`, over ``[batch, channels, height, width]``, with PyTorch's numbers."""
    return _CrossMap.apply(input, size, alpha, beta, k)
