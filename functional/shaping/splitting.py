"""Parts of a tensor along an axis: where the cuts are is given in several ways."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ...ops.identity import copy
from ...tensors.arguments import axis_of
from ...tensors.tensor import Tensor
from ..joining import chunk, narrow, split

Parts = tuple[Any, ...]


def tensor_split(input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0) -> Parts:
    """Views of parts along `dim`: so many (the first ones may be larger by one), or cut before each index given.

    The number or the indices may be an int64 tensor, which is looked at. RuntimeError for a number below 1.

    >>> import tracegrad as tg
    >>> tg.tensor_split(tg.arange(5), 2), tg.tensor_split(tg.arange(5), (1, 3))
    ((tensor([0, 1, 2]), tensor([3, 4])), (tensor([0]), tensor([1, 2]), tensor([3, 4])))
    """
    if not input.ndarray.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    given: Any = indices_or_sections
    if isinstance(given, bool):
        raise TypeError("tensor_split(): argument 'indices_or_sections' must be int or a tuple of ints, not bool")
    if isinstance(given, Tensor):
        given = _read(given)
    axis = axis_of(dim, input.ndarray.ndim)
    extent = input.ndarray.shape[axis]
    if isinstance(given, (tuple, list)):
        ends = [*(slice(operator.index(i)).indices(extent)[1] for i in given), extent]
    else:
        ends = _even_ends(operator.index(given), extent)
    starts = [0, *ends[:-1]]
    return tuple(narrow(input, axis, a, max(b - a, 0)) for a, b in zip(starts, ends, strict=True))


def _read(given: Tensor) -> Any:
    if given.dtype.name != "int64" or given.ndarray.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor of "
            f"long dtype, but got a tensor with {given.ndarray.ndim} dims of {given.dtype.title}"
        )
    return given.tolist()


def _even_ends(sections: int, extent: int) -> list[int]:
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    size, larger = divmod(extent, sections)
    return [(i + 1) * size + min(i + 1, larger) for i in range(sections)]


def _split_along(name: str, ndim: int, axis: int, input: Any, given: Any) -> Parts:
    shape = input.ndarray.shape
    if len(shape) < ndim:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {ndim} dimension, but got a tensor with {len(shape)} "
            "dimensions!"
        )
    if isinstance(given, int) and given > 0 and shape[axis] % given:
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {axis}, but the size of the dimension {shape[axis]} is "
            f"not divisible by the split_size {given}!"
        )
    return tensor_split(input, given, axis)


def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> Parts:
    """`tensor_split` along axis 1, of vectors along axis 0. RuntimeError for a number that does not divide the extent.

    >>> import tracegrad as tg
    >>> tg.hsplit(tg.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    return _split_along("hsplit", 1, 0 if input.ndarray.ndim == 1 else 1, input, indices_or_sections)


def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> Parts:
    """`tensor_split` along axis 0 of at least two. RuntimeError for a number that does not divide the extent.

    >>> import tracegrad as tg
    >>> tg.vsplit(tg.arange(4).view(2, 2), 2)
    (tensor([[0, 1]]), tensor([[2, 3]]))
    """
    return _split_along("vsplit", 2, 0, input, indices_or_sections)


def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> Parts:
    """`tensor_split` along axis 2 of at least three. RuntimeError for a number that does not divide the extent.

    >>> import tracegrad as tg
    >>> tg.dsplit(tg.arange(2).view(1, 1, 2), 2)
    (tensor([[[0]]]), tensor([[[1]]]))
    """
    return _split_along("dsplit", 3, 2, input, indices_or_sections)


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Parts:
    """Views of parts of the given sizes along `dim`; RuntimeError unless they add up to its extent.

    >>> import tracegrad as tg
    >>> tg.split_with_sizes(tg.arange(3), (1, 2))
    (tensor([0]), tensor([1, 2]))
    """
    return split(input, list(split_sizes), dim)


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> Parts:
    """`split`, whose parts may be written to: here they are copies.

    >>> import tracegrad as tg
    >>> tg.unsafe_split(tg.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    return copies_of(split(input, split_size, dim))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Parts:
    """`split_with_sizes`, whose parts may be written to: here they are copies.

    >>> import tracegrad as tg
    >>> tg.unsafe_split_with_sizes(tg.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    return copies_of(split_with_sizes(input, split_sizes, dim))


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> Parts:
    """`chunk`, whose parts may be written to: here they are copies.

    >>> import tracegrad as tg
    >>> tg.unsafe_chunk(tg.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    return copies_of(chunk(input, chunks, dim))


def copies_of(parts: Parts) -> Parts:
    """Copies of views."""
    return tuple(copy(part) for part in parts)
