"""Batches of tensors in memory: the rows of a batch are copied together by one call, not one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...ops.core import current
from ...tensors.indexing import getitem
from ...tensors.rows import RowBatches, StackedRows, are_plain_rows
from ...tensors.tensor import EAGER, Tensor, make
from ._utils.collate import stacks_tensors
from .dataset import Subset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

# What decides which rows come when: where one of these has been replaced, it is asked.
_METHODS = [
    (kind, name, vars(kind)[name])
    for kind in (BatchSampler, RandomSampler, SequentialSampler)
    for name in ("__iter__", "__len__")
]
_INDEX_TYPES = {int, np.int64, np.int32, np.intp}
_BATCHES_AHEAD = 256  # of a subset, whose indices a program may change


def tensors_of(dataset: Any) -> tuple[Tensor, ...] | None:
    """The tensors whose rows are the items of `dataset`, a TensorDataset or a subset of one; None for anything else,
    and where the program has replaced a method that gives the items."""
    while isinstance(dataset, Subset):
        if not dataset.has_own_items():
            return None
        dataset = dataset.dataset
    if not (isinstance(dataset, StackedRows) and dataset.has_own_rows()):
        return None
    return dataset.tensors if Tensor.__getitem__ is getitem else None


def rows_of(dataset: Any, indices: Any) -> np.ndarray | None:
    """The rows of `tensors_of(dataset)` that are the items at `indices`, as int64; None where these are no plain
    integers. What a wrong index raises in a list of indices is raised here as well."""
    while isinstance(dataset, Subset):
        places = dataset.indices
        indices = [places[i] for i in indices]
        dataset = dataset.dataset
    if type(indices) is not np.ndarray:
        if not set(map(type, indices)) <= _INDEX_TYPES:
            return None
        indices = np.array(indices, np.int64)
    return indices if indices.ndim == 1 else None


def gathered(dataset: Any, indices: Any, collate_fn: Any) -> list[Any] | None:
    """The batch of the items at `indices`, as `collate_fn` makes it; None where they have to be fetched one by one."""
    if current() is not EAGER or type(indices) is not list or not indices or not stacks_tensors(collate_fn):
        return None
    tensors = tensors_of(dataset)
    if tensors is None or not _are_plain(tensors):
        return None
    rows = rows_of(dataset, indices)
    return None if rows is None else taken(tensors, rows)


def taken(tensors: tuple[Tensor, ...], rows: np.ndarray) -> list[Any] | None:
    """Those rows of each tensor in memory of their own; None if one of them is not there."""
    arrays = [tensor.ndarray for tensor in tensors]
    lowest, highest = int(rows.min()), int(rows.max())
    if any(highest >= len(array) or lowest < -len(array) for array in arrays):
        return None
    return [make(_rows(array, rows)) for array in arrays]


def _rows(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if array.flags.c_contiguous:
        return array.take(rows, 0)
    return np.ascontiguousarray(array[rows])  # `take` would make all of it contiguous first


def _are_plain(tensors: Any) -> bool:
    """True for tensors with rows none of which leads a gradient anywhere, or is asked how it is indexed."""
    return (
        type(tensors) is tuple
        and len(tensors) > 0
        and all(type(t) is Tensor and t.ndarray.ndim > 0 and not t.requires_grad for t in tensors)
    )


def is_in_memory(dataset: Any, batch_sampler: Any, collate_fn: Any) -> bool:
    """True if batches are rows of a TensorDataset, chosen and collated by nothing but the library's own classes."""
    if tensors_of(dataset) is None or not stacks_tensors(collate_fn) or type(batch_sampler) is not BatchSampler:
        return False
    sampler: Any = batch_sampler.sampler
    if type(sampler) not in (RandomSampler, SequentialSampler) or sampler.data_source is not dataset:
        return False
    return all(vars(kind)[name] is method for kind, name, method in _METHODS)


class InMemoryBatches(RowBatches):
    """One epoch of a loader over a TensorDataset, or a subset of one. Random numbers are drawn when PyTorch draws them:
    the order of the rows when the first batch is asked for, what follows an epoch when there is no whole batch left.

    `fetch` is asked for the batch at a list of indices where the rows cannot be taken together.
    """

    def __init__(self, dataset: Any, batch_sampler: Any, collate_fn: Any, fetch: Callable[[Any], Any]) -> None:
        self._dataset = dataset
        self._sampler = batch_sampler
        self._collate_fn = collate_fn
        self._fetch = fetch
        self._blocks: Iterator[np.ndarray] | None = None
        self._places = np.empty(0, np.int64)  # drawn, and not yet taken
        self._largest = -1  # of all that were drawn

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return tensors_of(self._dataset) or ()

    def __next__(self) -> Any:
        self._draw()
        places = self._places[: self._sampler.batch_size]
        if not len(places) or (self._sampler.drop_last and len(places) < self._sampler.batch_size):
            raise StopIteration
        self._places = self._places[len(places) :]
        return self._batch(places)

    def _batch(self, places: np.ndarray) -> Any:
        if type(self._dataset) is Subset or current() is not EAGER or not _are_plain(self.tensors):
            return self._fetch(places.tolist())
        batch = taken(self.tensors, places) if stacks_tensors(self._collate_fn) else None
        return self._fetch(places.tolist()) if batch is None else batch

    def rows_ahead(self) -> np.ndarray | None:
        self._draw()
        size = self._sampler.batch_size
        whole = self._places[: len(self._places) // size * size]
        tensors = self.tensors
        if not len(whole) or not are_plain_rows(tensors):
            return None
        if type(self._dataset) is not Subset:
            return whole.reshape(-1, size) if self._largest < len(tensors[0].ndarray) else None
        rows = self._rows_of_subset(whole[: _BATCHES_AHEAD * size].tolist())
        if rows is None or rows.min() < 0 or rows.max() >= len(tensors[0].ndarray):
            return None
        return rows.reshape(-1, size)

    def _rows_of_subset(self, places: list[int]) -> np.ndarray | None:
        try:
            return rows_of(self._dataset, places)
        except (IndexError, KeyError, TypeError):
            return None  # taking that batch raises it

    def skip(self, count: int) -> None:
        self._places = self._places[count * self._sampler.batch_size :]

    def _draw(self) -> None:
        """Draw on until there is a batch, or nothing is left to draw."""
        if self._blocks is None:
            self._blocks = self._sampler.sampler.blocks(self.permutation)
        while len(self._places) < self._sampler.batch_size:
            block = next(self._blocks, None)
            if block is None:
                return
            if len(block):
                self._largest = max(self._largest, int(block.max()))
            self._places = np.concatenate([self._places, block])
