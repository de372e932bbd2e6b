"""Batches of tensors in memory: the rows of a batch are copied together by one call, not one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ops.core import current
from ...tensors.rows import RowBatches, StackedRows, are_plain_rows
from ...tensors.tensor import EAGER, Tensor, make
from .collate import default_collate
from .sampler import BatchSampler, RandomSampler, SequentialSampler

# What decides which rows come when: where one of these has been replaced, it is asked.
_METHODS = [
    (kind, name, vars(kind)[name])
    for kind in (BatchSampler, RandomSampler, SequentialSampler)
    for name in ("__iter__", "__len__")
]


def is_in_memory(dataset: Any, batch_sampler: Any, collate_fn: Any) -> bool:
    """True if batches are rows of a TensorDataset, chosen and collated by nothing but the library's own classes."""
    if not (isinstance(dataset, StackedRows) and dataset.has_own_rows()):
        return False
    if type(batch_sampler) is not BatchSampler or collate_fn is not default_collate:
        return False
    sampler: Any = batch_sampler.sampler
    if type(sampler) not in (RandomSampler, SequentialSampler) or sampler.data_source is not dataset:
        return False
    return all(vars(kind)[name] is method for kind, name, method in _METHODS)


class InMemoryBatches(RowBatches):
    """One epoch of a loader over a TensorDataset. Random numbers are drawn when PyTorch draws them: the order of the
    rows when the first batch is asked for, what follows an epoch when there is no whole batch left."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._sampler = loader.batch_sampler
        self._blocks: Iterator[np.ndarray] | None = None
        self._rows = np.empty(0, np.int64)  # drawn, and not yet taken
        self._largest = -1  # of all that were drawn

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        tensors: tuple[Tensor, ...] = self._loader.dataset.tensors
        return tensors

    def __next__(self) -> list[Any]:
        self._draw()
        rows = self._rows[: self._sampler.batch_size]
        if not len(rows) or (self._sampler.drop_last and len(rows) < self._sampler.batch_size):
            raise StopIteration
        self._rows = self._rows[len(rows) :]
        if current() is EAGER and are_plain_rows(self.tensors):
            return [make(tensor.ndarray.take(rows, 0)) for tensor in self.tensors]
        return list(self._loader.dataset[rows.tolist()])

    def rows_ahead(self) -> np.ndarray | None:
        self._draw()
        size = self._sampler.batch_size
        whole = self._rows[: len(self._rows) // size * size].reshape(-1, size)
        tensors = self.tensors
        if not len(whole) or not are_plain_rows(tensors) or self._largest >= len(tensors[0].ndarray):
            return None
        return whole

    def skip(self, count: int) -> None:
        self._rows = self._rows[count * self._sampler.batch_size :]

    def _draw(self) -> None:
        """Draw on until there is a batch, or nothing is left to draw."""
        if self._blocks is None:
            self._blocks = self._sampler.sampler.blocks(self.permutation)
        while len(self._rows) < self._sampler.batch_size:
            block = next(self._blocks, None)
            if block is None:
                return
            if len(block):
                self._largest = max(self._largest, int(block.max()))
            self._rows = np.concatenate([self._rows, block])
