"""DataLoader: batches of a dataset, in order or shuffled, made here or by worker processes."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

from ...tensors.generator import Generator
from ...tracing.declares import Declares
from ...tracing.user_warning import warn_user
from ._utils.collate import default_collate, default_convert
from ._utils.worker import WorkerInfo, _DatasetKind, get_worker_info
from .dataset import IterableDataset, SupportsGetItem
from .in_memory import is_in_memory
from .iteration import _BaseDataLoaderIter, _InMemoryDataLoaderIter, _SingleProcessDataLoaderIter
from .multiprocess import _MultiProcessingDataLoaderIter
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "WorkerInfo", "default_collate", "default_convert", "get_worker_info"]

T = TypeVar("T", covariant=True)
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler(Sampler[None]):
    """The sampler of a dataset that has an order of its own."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T]):
    """Iterates over a dataset in batches; each iteration is an epoch, shuffled anew with ``shuffle=True``.

    Arguments and defaults are PyTorch's: `batch_size` (1; None gives single items), `shuffle`, `sampler`,
    `batch_sampler`, `collate_fn` (default `default_collate`, without batches `default_convert`), `drop_last`, and
    `generator` for the order and the workers' seeds. The order for a seed is PyTorch's.

    With ``num_workers > 0`` that many processes make batches, `prefetch_factor` (2) ahead each: their errors are raised
    here with their traceback, RuntimeError tells of one that was killed, or of none that answers for `timeout` seconds.
    `worker_init_fn` is called in each with its number, after its generators (Python's, numpy's, this library's) were
    seeded; `multiprocessing_context` ("fork", "spawn", "forkserver" or a context) says how they start;
    `persistent_workers` keeps them for the next epoch; without `in_order` batches come as they are ready.
    `pin_memory` warns, since there is no accelerator.

    ValueError for options that exclude each other, and for setting what decides about the batches afterwards.

    Difference: tensors of one batch that share memory are copies of each other when they come from a worker.

    >>> import tracegrad as tg
    >>> for batch in tg.utils.data.DataLoader([1, 2, 3], batch_size=2):
    ...     print(batch)
    tensor([1, 2])
    tensor([3])
    """

    _declares = Declares(attributes=True)
    __initialized = False
    _iterator: Any

    def __init__(
        self,
        dataset: SupportsGetItem[T],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: str | BaseContext | None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        is_stream = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if is_stream else _DatasetKind.Map
        _check_options(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last = drop_last
        self.sampler = sampler if sampler is not None else _default_sampler(dataset, shuffle, generator)
        self.batch_sampler = batch_sampler
        if self.batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, self.batch_size, drop_last)
        self.generator = generator
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        self.check_worker_number_rationality()

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started; None for Python's default."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self.__multiprocessing_context = None if context is None else _checked_context(context, self.num_workers)

    @staticmethod
    def default_context() -> Any:
        """Python's module `multiprocessing`: workers start as the program has said there."""
        return multiprocessing

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Any:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None or not self._iterator.begin_again(self):
            self._iterator = None  # whatever interrupts what follows, the old workers are not asked again
            self._iterator = self._get_iterator()
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers > 0:
            self.check_worker_number_rationality()
            return _MultiProcessingDataLoaderIter(self)
        if type(self) is DataLoader and is_in_memory(self.dataset, self.batch_sampler, self.collate_fn):
            return _InMemoryDataLoaderIter(self)
        return _SingleProcessDataLoaderIter(self)

    def __len__(self) -> int:
        """How many batches an epoch has; TypeError if the dataset, or a sampler of the program's own, does not say."""
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        items = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return items
        return items // self.batch_size if self.drop_last else math.ceil(items / self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn of more workers than this process may use processors."""
        has_affinity = hasattr(os, "sched_getaffinity")
        most = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count()
        if not self.num_workers or (most is not None and self.num_workers <= most):
            return
        known = "" if has_affinity else " (`cpuset` is not taken into account)"
        suggested = (
            "DataLoader is not able to compute a suggested max number of worker in current system."
            if most is None
            else f"Our suggested max number of worker in current system is {most}{known}, which is smaller than what "
            "this DataLoader is going to create."
        )
        warn_user(
            f"This DataLoader will create {self.num_workers} worker processes in total. {suggested} "
            "Please be aware that excessive worker creation might get DataLoader running slow or even freeze, "
            "lower the worker number to avoid potential slowness/freeze if necessary.",
        )


def _checked_context(context: Any, num_workers: int) -> BaseContext:
    if num_workers <= 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context


def _default_sampler(dataset: Any, shuffle: bool | None, generator: Generator | None) -> Iterable[Any]:
    if isinstance(dataset, IterableDataset):
        return _InfiniteConstantSampler()
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_options(
    dataset: Any, batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if isinstance(dataset, IterableDataset):
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
