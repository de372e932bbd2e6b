"""Norms of windows over one to three axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...ops import elementary
from ...ops.arithmetic import abs
from ...ops.comparison import eq, where
from ...tensors.tensor import Tensor
from .average_pooling import avg_pool1d, avg_pool2d, avg_pool3d
from .max_pooling import max_pool1d, max_pool2d, max_pool3d
from .sliding import Numbers, block, plural, pool_sizes

if TYPE_CHECKING:
    from .signatures import NormPooling

_AVERAGES = (avg_pool1d, avg_pool2d, avg_pool3d)
_MAXIMA = (max_pool1d, max_pool2d, max_pool3d)


def _root(total: Tensor, norm_type: float) -> Tensor:
    """The `norm_type`-th root, whose derivative is infinite at 0: 0 takes no part in it, so that its gradient is 0."""
    zero, exponent = eq(total, 0), 1.0 / norm_type
    return where(zero, math.inf if exponent < 0 else 0.0, elementary.pow(where(zero, 1.0, total), exponent))


def _lp_pool(axes: int) -> NormPooling:
    average, maximum = _AVERAGES[axes - 1], _MAXIMA[axes - 1]

    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Numbers, stride: Numbers | None = None, ceil_mode: bool = False
    ) -> Tensor:
        if norm_type == math.inf:
            return maximum(abs(input), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -math.inf:
            return -maximum(-abs(input), kernel_size, stride, 0, 1, ceil_mode)
        size = pool_sizes(f"lp_pool{axes}d", axes, kernel_size, stride, 0)
        mean = average(elementary.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
        return _root(mean * math.prod(size.kernel), norm_type)

    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{axes}d"
    lp_pool.__doc__ = f"""The `norm_type`-norm ``sum(x ** p) ** (1 / p)`` of each window over the last {plural(axes)}.

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *windows]``; the default stride is the
    kernel's size, `ceil_mode` keeps a last window that is not full. A window whose sum is 0 has a gradient of 0; of an
    infinite norm the result is the largest of ``abs(x)``, of minus infinity the smallest. RuntimeError for sizes that
    do not fit, NotImplementedError for integers but int64.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> tg.nn.functional.lp_pool{axes}d(x, 1, 2).item()
    {float(2 ** (axes - 1) * (2**axes - 1))}
    """
    return lp_pool


lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool(1), _lp_pool(2), _lp_pool(3)
