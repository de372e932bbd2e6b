"""One iteration over a loader, in this process."""

from __future__ import annotations

from typing import Any, NoReturn

from ...tracing.user_warning import warn_user
from ._utils.worker import _DatasetKind
from .in_memory import InMemoryBatches
from .sampler import drawn_seed


class _BaseDataLoaderIter:
    """What all iterations have in common: when they draw random numbers, and what they warn of.

    The index sampler's iterator is made first; then the seed of the workers is drawn, whether there are any or not.
    """

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = False
        _warn_of_pinning(loader)
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = drawn_seed(loader.generator)
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0

    def __iter__(self) -> Any:
        return self

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        promised = self._IterableDataset_len_called
        if self._dataset_kind == _DatasetKind.Iterable and promised is not None and self._num_yielded > promised:
            self._warn_of_length(promised)
        return data

    def _warn_of_length(self, promised: int) -> None:
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {promised}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker: see get_worker_info()."
            )
        warn_user(text)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> NoReturn:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


def _warn_of_pinning(loader: Any) -> None:
    if not loader.pin_memory:
        return
    if loader.pin_memory_device:
        warn_user(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{loader.pin_memory_device}'.",
        )
    warn_user(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
    )


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Batches made when they are asked for."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(self._next_index())


class _InMemoryDataLoaderIter(_SingleProcessDataLoaderIter, InMemoryBatches):
    """Batches of rows of tensors, which may be known ahead."""

    def __init__(self, loader: Any) -> None:
        _SingleProcessDataLoaderIter.__init__(self, loader)
        InMemoryBatches.__init__(
            self, loader.dataset, loader.batch_sampler, loader.collate_fn, self._dataset_fetcher.fetch
        )

    __next__ = InMemoryBatches.__next__
