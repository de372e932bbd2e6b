"""Batches that are rows of tensors in memory: who goes through many of them need not ask for one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .tensor import Tensor


class RowBatches(Iterator[Any]):
    """An iterator whose next batches can be known before they are taken: rows of `tensors`, each of which is plain,
    contiguous and requires no gradient.

    `permutation` is what random words and a length are given to for 0 ... n-1 in random order; None: the op of eager
    mode, which is slower and gives the same.
    """

    permutation: Callable[[np.ndarray, int], np.ndarray] | None = None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors, as they are now."""
        raise NotImplementedError

    def rows_ahead(self) -> np.ndarray | None:
        """int64 (batches, rows of a batch): the batches that come next, as far as they are known; looking ahead draws
        no random numbers but those that taking the first of them draws. None if nothing is known."""
        raise NotImplementedError

    def skip(self, count: int) -> None:
        """Leave out so many of the batches that are known."""
        raise NotImplementedError


class StackedRows:
    """What is indexed by number: item i is made of the i-th rows of `tensors`."""

    tensors: tuple[Tensor, ...]

    def has_own_rows(self) -> bool:
        """False for what gives other items than the class that says this, a subclass for example."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError


class StackedTensors(StackedRows):
    """Tensors of one length."""

    def __init__(self, tensors: tuple[Tensor, ...]) -> None:
        self.tensors = tensors

    def has_own_rows(self) -> bool:
        return True

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)  # type: ignore[index]


def are_plain_rows(tensors: Any) -> bool:
    """True for a tuple of plain contiguous tensors with rows, as many in each, none of which requires a gradient."""
    return (
        type(tensors) is tuple
        and len(tensors) > 0
        and all(type(t) is Tensor and t.ndarray.ndim > 0 and not t.requires_grad for t in tensors)
        and all(t.ndarray.flags.c_contiguous and t.ndarray.flags.aligned for t in tensors)
        and len({len(t.ndarray) for t in tensors}) == 1
    )
