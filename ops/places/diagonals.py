"""The diagonals of matrices: a view whatever order the memory is in, unlike a slice of rows behind each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import Movement, at_once, bind, current, define
from ..movement import reshape, update_slice
from ..sources import zeros
from ..types import Type

Shape = tuple[int, ...]


def _length(shape: Shape, offset: int) -> int:
    rows, columns = shape[-2:]
    return max(0, min(rows + min(offset, 0), columns - max(offset, 0)))


def _diagonal_type(x: Type, offset: int) -> Type:
    return Type(x.dtype, (*x.shape[:-2], _length(x.shape, offset)))


def _diagonal(x: np.ndarray, offset: int) -> np.ndarray:
    corner = x[..., max(-offset, 0) :, max(offset, 0) :]
    *lead, down, right = x.strides
    return as_strided(corner, (*x.shape[:-2], _length(x.shape, offset)), (*lead, down + right))


def _among_zeros(g: Any, x_type: Type, offset: int) -> Any:
    if (interpreter := at_once(g)) is not None:
        out = np.zeros(x_type.shape, x_type.dtype.numpy)
        _diagonal(out, offset)[...] = g.ndarray
        return interpreter.literal(out)
    return with_diagonal(zeros(x_type), g, offset)


diagonal_primitive = define(
    "diagonal",
    ("x",),
    type=_diagonal_type,
    eval=_diagonal,
    lower=Movement("diagonal", view=True),
    vjp={"x": _among_zeros},
    backward_name="DiagonalBackward0",
)


def diagonal(x: Any, offset: int) -> Any:
    """``out[.., i] = x[.., i, i + offset]``, from ``x[.., i - offset, i]`` on for an `offset` below 0: a view."""
    return bind(diagonal_primitive, x, offset=offset)


def with_diagonal(x: Any, value: Any, offset: int) -> Any:
    """x with `value` on its diagonals."""
    shape = current().type_of(x).shape
    *lead, rows, columns = shape
    first = max(offset, 0) - min(offset, 0) * columns if _length(shape, offset) else 0
    starts, steps = (*(0 for _ in lead), first), (*(1 for _ in lead), columns + 1)
    return reshape(update_slice(reshape(x, (*lead, rows * columns)), value, starts, steps), shape)
