"""Tensors put together as columns, blocks and combinations, and turned."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import indexing, movement
from ...ops.array import eager
from ...ops.identity import copy
from ...ops.pointwise import converted
from ...ops.sources import zeros
from ...ops.types import DIMENSIONED, Type, get_default_dtype, result_dtype
from ...tensors.arguments import axis_of
from ...tensors.composite import composite
from ..checks.shapes import check_tensors
from ..joining import cat
from ..shapes import flatten, transpose
from .broadcasting import atleast_3d
from .diagonals import diag_embed

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _listed(name: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    given = list(tensors)
    check_tensors(name, given)
    if not given:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return given


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors beside each other along axis 1; vectors and numbers as columns. RuntimeError where they do not fit.

    >>> import tracegrad as tg
    >>> tg.column_stack((tg.tensor([1, 2]), tg.tensor([3, 4])))
    tensor([[1, 3],
            [2, 4]])
    """
    given = _listed("column_stack", tensors)
    return cat([x if x.ndarray.ndim > 1 else movement.reshape(x, (x.ndarray.size, 1)) for x in given], 1)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors, with at least three axes each (see `atleast_3d`), behind each other along axis 2.

    >>> import tracegrad as tg
    >>> tg.dstack((tg.tensor([1, 2]), tg.tensor([3, 4])))
    tensor([[[1, 3],
             [2, 4]]])
    """
    parts: list[Any] = [atleast_3d(x) for x in _listed("dstack", tensors)]
    return cat(parts, 2)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the tensors along its diagonal, zeros elsewhere; vectors count as rows. Types are promoted.

    RuntimeError for more than two axes.

    >>> import tracegrad as tg
    >>> tg.block_diag(tg.tensor([[1], [2]]), tg.tensor([3, 4]))
    tensor([[1, 0, 0],
            [2, 0, 0],
            [0, 3, 4]])
    """
    check_tensors("block_diag", list(tensors))
    for place, x in enumerate(tensors):
        if x.ndarray.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {place} has {x.ndarray.ndim} dimensions"
            )
    if not tensors:
        return zeros(Type(get_default_dtype(), (1, 0)))
    dtype = result_dtype((x.dtype, DIMENSIONED) for x in tensors)
    blocks = [x if x.ndarray.ndim == 2 else movement.reshape(x, (1, x.ndarray.size)) for x in tensors]
    width, start, rows = sum(x.ndarray.shape[1] for x in blocks), 0, []
    for x in blocks:
        behind = width - start - x.ndarray.shape[1]
        rows.append(movement.pad(converted(x, dtype), (0, start), (0, behind)))
        start += x.ndarray.shape[1]
    return movement.concatenate(rows, 0)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` of a vector's elements, in order, as rows; `with_replacement` each one several times.

    RuntimeError for what is no vector, and for a negative `r`.

    >>> import tracegrad as tg
    >>> tg.combinations(tg.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    if input.ndarray.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return movement.slice(input, (0,), (0,), (1,))
    chosen = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(chosen(range(input.ndarray.size), r))
    return indexing.take(input, eager().literal(np.array(places, np.int64).reshape(len(places), r)))


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A square matrix with all elements of `input` along one diagonal.

    >>> import tracegrad as tg
    >>> tg.diagflat(tg.tensor([1, 2]), 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    return diag_embed(flatten(input), offset)


@composite("Rot90Backward0")
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """`input` turned `k` times by 90 degrees in the plane of two axes, from the first towards the second; a copy.

    RuntimeError unless `dims` are two different axes.

    >>> import tracegrad as tg
    >>> tg.rot90(tg.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    ndim = input.ndarray.ndim
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    first, second = (axis_of(d, ndim) for d in dims)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    if k % 4 == 1:
        return transpose(movement.flip(input, (second,)), first, second)
    if k % 4 == 2:
        return movement.flip(input, tuple(sorted((first, second))))
    return transpose(movement.flip(input, (first,)), first, second) if k % 4 else copy(input)
