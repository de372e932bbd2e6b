"""Batches of a dataset, for the indices that a sampler gives: the same in this process and in workers."""

from __future__ import annotations

from typing import Any

from ....tracing.watch import AT_ONCE, serve
from ..in_memory import gathered


class _BaseDatasetFetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """What the loader gives for one index, or for one batch of them."""
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """The next items of a stream, as many as a batch has indices. StopIteration when it has ended."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        items = self._items(possibly_batched_index)
        if not items or (self.drop_last and len(items) < len(possibly_batched_index)):
            raise StopIteration
        return self.collate_fn(items)

    def _items(self, indices: Any) -> list[Any]:
        items: list[Any] = []
        for _ in indices:
            try:
                items.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        return items


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """The items at the given indices."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        dataset, index = self.dataset, possibly_batched_index
        if not self.auto_collation:
            return self.collate_fn(dataset[index])
        batch = gathered(dataset, index, self.collate_fn)
        if batch is not None:
            return batch
        if hasattr(dataset, "__getitems__") and dataset.__getitems__:
            return self.collate_fn(dataset.__getitems__(index))
        return serve(AT_ONCE, self._collated, (index,), {})

    def _collated(self, index: Any) -> Any:
        return self.collate_fn([self.dataset[i] for i in index])
