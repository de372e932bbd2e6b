"""Tensors with a given layout in memory, and indices of triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...ops.array import eager
from ...ops.types import DType, get_default_dtype, int32, int64
from ..device import require_cpu
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..calling.annotations import DeviceLike
    from .formats import layout


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Uninitialised memory of the given sizes and strides (in elements).

    RuntimeError where their numbers differ, and for negative ones.

    >>> import tracegrad as tg
    >>> tg.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    require_cpu(device)
    sizes, strides = tuple(map(int, size)), tuple(map(int, stride))
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides ({len(strides)})"
        )
    if min((*sizes, *strides), default=0) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(strides)}")
    of = (dtype or get_default_dtype()).numpy
    extent = 0 if 0 in sizes else 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    memory = np.zeros(max(extent, 1), of)
    out: Tensor = eager().literal(as_strided(memory, sizes, tuple(s * of.itemsize for s in strides)))
    return out._begin_as_leaf() if requires_grad else out


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Uninitialised memory of the given sizes without gaps, its axes from slowest to fastest in `physical_layout`.

    RuntimeError where that is no order of the axes.

    >>> import tracegrad as tg
    >>> tg.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
    (3, 1, 6)
    """
    sizes, order = tuple(map(int, size)), tuple(map(int, physical_layout))
    if len(sizes) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; "
            f"i.e. len(size) = {len(sizes)} is not equal to len(physical_layout) = {len(order)}"
        )
    for place, axis in enumerate(order):
        if not 0 <= axis < len(sizes):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(sizes) - 1}, but got {axis} at index "
                f"{place}).  NB: negative dims not currently supported; file an issue if you want it."
            )
        if axis in order[:place]:
            raise RuntimeError("Duplicate dim not allowed")
    strides, step = [0] * len(sizes), 1
    for axis in reversed(order):
        strides[axis], step = step, step * max(sizes[axis], 1)
    return empty_strided(sizes, strides, dtype=dtype, device=device, requires_grad=requires_grad)


def _triangle(name: str, row: int, col: int, dtype: DType, device: Any, mask: np.ndarray) -> Tensor:
    if dtype not in (int32, int64):
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtype.title}'")
    require_cpu(device)
    return eager().literal(np.stack(np.nonzero(mask)).astype(dtype.numpy))


def _mask(row: int, col: int) -> np.ndarray:
    for what, extent in (("row", row), ("col", col)):
        if extent < 0:
            raise RuntimeError(f"{what} must be non-negative, got{extent}")
    return np.ones((row, col), bool)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = int64,
    device: DeviceLike | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """The rows and columns of a matrix's elements on and below the diagonal `offset`: 2 x n integers.

    >>> import tracegrad as tg
    >>> tg.tril_indices(2, 3)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle("tril_indices", row, col, dtype, device, np.tril(_mask(row, col), offset))


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = int64,
    device: DeviceLike | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """The rows and columns of a matrix's elements on and above the diagonal `offset`: 2 x n integers.

    >>> import tracegrad as tg
    >>> tg.triu_indices(2, 3, 1)
    tensor([[0, 0, 1],
            [1, 2, 2]])
    """
    return _triangle("triu_indices", row, col, dtype, device, np.triu(_mask(row, col), offset))
