"""Distances between rows, and bilinear forms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...ops import indexing, movement
from ...ops import reductions as folds
from ...ops.array import eager
from ...ops.comparison import where
from ...ops.core import current
from ...ops.products import dot as product
from ...ops.types import bool_
from ...tensors.autocasting import full_precision
from ...tensors.composite import composite, relabel
from ...tensors.short_floats import rounded_once
from ..linear_algebra import require_one_type

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@full_precision
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = _MODES[0]) -> Tensor:
    """The `p`-norm distances [..., n, m] between all rows of `x1` [..., n, k] and all rows of `x2` [..., m, k].

    Leading axes are broadcast. `compute_mode`, how PyTorch computes Euclidean distances, is checked only: here they are
    always computed of differences. RuntimeError for shapes and types that do not fit, and for a negative `p`.

    >>> import tracegrad as tg
    >>> tg.cdist(tg.zeros(1, 2), tg.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode; take one of {', '.join(_MODES)}")
    _check_norm("cdist", p)
    for place, x in enumerate((x1, x2), 1):
        if x.ndarray.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{place} got: {x.ndarray.ndim}D")
        if not x.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{place} got: {x.dtype.title}")
    require_one_type("x1 and x2", x1, x2)
    columns = x1.ndarray.shape[-1], x2.ndarray.shape[-1]
    if columns[0] != columns[1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {columns[0]} X2: {columns[1]}")
    out = _norms(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)
    relabel(out, "CdistBackward0", (x1, x2), [x1, x2, out])
    return out


def _check_norm(name: str, p: float) -> None:
    if p < 0:
        raise RuntimeError(f"{name} only supports non-negative p values, got {p}")


def _norms(difference: Tensor, p: float) -> Tensor:
    """The norms along the last axis. All elements that are the largest get the whole gradient of that of infinity."""
    if p == 0:  # a count: its gradient is there, and zero
        return difference.norm(p, -1) + where(current().constant(False, bool_), difference, 0).sum(-1)
    if p != math.inf or not difference.ndarray.shape[-1]:
        return difference.norm(p, -1)
    sizes = difference.abs()
    largest = sizes.detach().amax(-1)
    hit = sizes.detach() == largest.unsqueeze(-1)
    return largest + where(hit, sizes - sizes.detach(), 0).sum(-1)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The `p`-norm distances between all pairs of different rows of `input` [n, m], those of the first row first.

    The result has ``n * (n - 1) / 2`` elements. RuntimeError for what is no matrix of floating-point numbers, and for a
    negative `p`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.pdist(tg.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if input.ndarray.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndarray.ndim}D")
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"pdist only supports floating-point dtypes, got: {input.dtype.title}")
    _check_norm("pdist", p)
    first, second = np.triu_indices(input.ndarray.shape[0], 1)
    left, right = (indexing.take(input, eager().literal(rows.astype(np.int64))) for rows in (first, second))
    out = _norms(left - right, p)
    relabel(out, "PdistBackward0", (input,), [input, out])
    return out


@rounded_once
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[o] @ input2 + bias[o]`` for each `o`.

    `input1` is [..., n], `input2` [..., m], `weight` [out, n, m], `bias` [out], the result [..., out].

    RuntimeError for sizes that do not fit together.

    >>> import tracegrad as tg
    >>> tg.nn.functional.bilinear(tg.ones(2, 3), tg.ones(2, 4), tg.ones(1, 3, 4))
    tensor([[12.],
            [12.]])
    """
    _check_bilinear(input1, input2, weight, bias)
    *lead, n = input1.ndarray.shape
    count, _, m = weight.ndarray.shape
    out = _bilinear_form(input1, input2, weight, (math.prod(lead), n, m, count))
    out = movement.reshape(out, (*lead, count))
    return out if bias is None else out + bias


@composite(
    "TrilinearBackward0",
    {"input1": ("input2", "weight"), "input2": ("input1", "weight"), "weight": ("input1", "input2")},
)
def _bilinear_form(input1: Tensor, input2: Tensor, weight: Tensor, sizes: tuple[int, int, int, int]) -> Tensor:
    rows, n, m, count = sizes
    table = movement.reshape(movement.transpose(movement.by_rows(weight), (1, 0, 2)), (n, count * m))
    left = movement.reshape(product(movement.reshape(input1, (rows, n)), table), (rows, count, m))
    return folds.sum(left * movement.reshape(input2, (rows, 1, m)), (2,))


def _check_bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    x, y, w = input1.ndarray.shape, input2.ndarray.shape, weight.ndarray.shape
    if len(w) != 3:
        raise RuntimeError(f"bilinear(): weight must have 3 dimensions, got {len(w)}")
    if len(x) != len(y):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(x)} and {len(y)}")
    for axis, (n, m) in enumerate(zip(x[:-1], y[:-1], strict=True)):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {axis}: got {n} and {m}")
    for place, extent, expected in ((1, x[-1], w[1]), (2, y[-1], w[2])):
        if extent != expected:
            raise RuntimeError(
                f"bilinear(): input{place} size does not match weight size: got {extent} but expected {expected}"
            )
    if bias is not None and bias.ndarray.size != w[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.ndarray.size} but expected {w[0]}"
        )
