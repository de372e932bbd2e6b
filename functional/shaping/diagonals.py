"""Diagonals of matrices, and what lies above and below them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...ops import movement
from ...ops.comparison import where
from ...ops.core import switch
from ...ops.identity import copy
from ...ops.indexing import FEW
from ...ops.memory import by_rows
from ...ops.places import diagonals
from ...ops.sources import iota
from ...ops.types import bool_, int64
from ...tensors.arguments import axis_of
from ...tensors.composite import composite
from ...tensors.fusion import fused
from ...tensors.tensor import Tensor
from ..shapes import contiguous, movedim


def _triangle(input: Tensor, diagonal: int, upper: bool) -> Tensor:
    if input.ndarray.ndim < 2 or switch.stack or type(diagonal) is not int:
        return _keep_where(input, diagonal, upper)
    return _TRIANGLES[upper](input, diagonal, upper)


def _keep_where(input: Tensor, diagonal: int, upper: bool) -> Tensor:
    if input.ndarray.ndim < 2:
        raise RuntimeError(f"{'triu' if upper else 'tril'}: input tensor must have at least 2 dimensions")
    rows, columns = input.ndarray.shape[-2:]
    input = contiguous(input)
    distance = iota((rows, columns), 1, int64) - iota((rows, columns), 0, int64)
    return where(distance >= diagonal if upper else distance <= diagonal, input, False if input.dtype is bool_ else 0)


@functools.lru_cache(maxsize=64)
def _few_in_triangle(rows: int, columns: int, diagonal: int, upper: bool) -> np.ndarray:
    return _in_triangle(rows, columns, diagonal, upper)


def _in_triangle(rows: int, columns: int, diagonal: int, upper: bool) -> np.ndarray:
    distance = np.arange(columns) - np.arange(rows)[:, None]
    return distance >= diagonal if upper else distance <= diagonal


def _masked(x: np.ndarray, diagonal: int, upper: bool) -> np.ndarray:
    rows, columns = x.shape[-2:]
    within = (_few_in_triangle if rows * columns <= FEW else _in_triangle)(rows, columns, diagonal, upper)
    return np.where(within, by_rows(x), x.dtype.type(0))


def _forward(wanted: Any, x: np.ndarray, diagonal: int, upper: bool) -> Any:
    return _masked(x, diagonal, upper), None


def _gradient(g: np.ndarray, kept: None, shapes: Any, x: None, diagonal: int, upper: bool) -> Any:
    return (_masked(g, diagonal, upper),)


def _rule(g: Any, kept: None, diagonal: int, upper: bool) -> Any:
    return _keep_where(g, diagonal, upper)


#: Of tensors, by whether it is the upper one: in plain eager mode one call of numpy code.
_TRIANGLES = {
    True: fused("TriuBackward0", _forward, _gradient, rule=_rule)(_keep_where),
    False: fused("TrilBackward0", _forward, _gradient, rule=_rule)(_keep_where),
}


@composite("TriuBackward0")
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """A copy of the matrices ``[..., m, n]`` with zeros below a diagonal: 0 is the main one, positive ones lie above.

    ``out[i, j] = input[i, j] if j - i >= diagonal else 0``, of the same type. RuntimeError for fewer than two axes.

    >>> import tracegrad as tg
    >>> tg.triu(tg.ones(2, 3, dtype=tg.int64))
    tensor([[1, 1, 1],
            [0, 1, 1]])
    """
    return _triangle(input, diagonal, True)


@composite("TrilBackward0")
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """A copy of the matrices ``[..., m, n]`` with zeros above a diagonal: 0 is the main one, positive ones lie above.

    ``out[i, j] = input[i, j] if j - i <= diagonal else 0``, of the same type. RuntimeError for fewer than two axes.

    >>> import tracegrad as tg
    >>> tg.tril(tg.ones(2, 3, dtype=tg.int64))
    tensor([[1, 0, 0],
            [1, 1, 0]])
    """
    return _triangle(input, diagonal, False)


@composite("DiagonalBackward0")
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal ``input[i, i + offset]`` of the matrices in the axes `dim1` and `dim2`, as the last axis.

    A view, in whatever order the memory is. RuntimeError for two equal axes, IndexError for one that is not there.

    >>> import tracegrad as tg
    >>> tg.diagonal(tg.tensor([[1, 2], [3, 4]])), tg.diagonal(tg.tensor([[1, 2], [3, 4]]), offset=1)
    (tensor([1, 4]), tensor([2]))
    """
    ndim = input.ndarray.ndim
    if axis_of(dim1, ndim) == axis_of(dim2, ndim):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    last = {axis_of(dim1, ndim), axis_of(dim2, ndim)} == {ndim - 2, ndim - 1}
    moved = movedim(input if last else movement.by_rows(input), (axis_of(dim1, ndim), axis_of(dim2, ndim)), (-2, -1))
    return diagonals.diagonal(moved, offset)


def _diagonal_of_matrix(input: Tensor, offset: int) -> Tensor:
    return diagonal(input, offset)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, as a copy (see `diagonal`); of a vector, a matrix that has it there, and zeros.

    `diagonal` says how far above the main one it lies. RuntimeError for other numbers of axes than one and two.

    >>> import tracegrad as tg
    >>> tg.diag(tg.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    >>> tg.diag(tg.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    if input.ndarray.ndim == 1:
        return diag_embed(input, diagonal)
    if input.ndarray.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndarray.ndim}D")
    return copy(_diagonal_of_matrix(input, diagonal))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Square matrices in the axes `dim1` and `dim2` of the result whose diagonals are the last axis of `input`.

    ``[..., n]`` gives ``[..., n + |offset|, n + |offset|]``, zero elsewhere; `offset` says how far above the main
    diagonal it lies. IndexError for axes that are not there, RuntimeError for equal ones.

    >>> import tracegrad as tg
    >>> tg.diag_embed(tg.tensor([1, 2]), offset=1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    ndim = input.ndarray.ndim + 1
    rows, columns = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if rows == columns:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if ndim == 1:
        raise IndexError(f"Dimension out of range (expected to be in range of [-1, 0], but got {dim1})")
    if rows > columns:
        rows, columns, offset = columns, rows, -offset
    matrices = _with_diagonal(input, offset)
    return matrices if (rows, columns) == (ndim - 2, ndim - 1) else copy(movedim(matrices, (-2, -1), (rows, columns)))


def _with_diagonal(input: Tensor, offset: int) -> Tensor:
    """Matrices in the last two axes."""
    *lead, n = input.ndarray.shape
    extent = n + abs(offset)
    place = iota((extent, extent), 1, int64) - iota((extent, extent), 0, int64)
    low = (0,) * len(lead) + (max(-offset, 0),)
    high = (0,) * len(lead) + (max(offset, 0),)
    rows = movement.reshape(movement.pad(input, low, high), (*lead, extent, 1))
    return where(place.eq(offset), rows, False if input.dtype is bool_ else 0)
