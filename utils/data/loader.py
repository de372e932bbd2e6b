"""DataLoader: batches of a dataset, in order or shuffled."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...tensors.generator import Generator
from ...tensors.rows import StackedRows
from ...tracing.declares import Declares
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .in_memory import InMemoryBatches, is_in_memory
from .sampler import BatchSampler, RandomSampler, SequentialSampler, drawn_seed


class DataLoader:
    """Iterates over a dataset in batches; each iteration is an epoch, shuffled anew with ``shuffle=True``.

    Items are fetched and collated in this process, whatever `num_workers` says: it, `pin_memory`, `timeout`,
    `worker_init_fn`, `prefetch_factor` and the like are accepted for PyTorch's sake and have no effect.
    ``batch_size=None`` gives single items. The order for a seed is PyTorch's.

    >>> import tracegrad as tg
    >>> for batch in tg.utils.data.DataLoader([1, 2, 3], batch_size=2):
    ...     print(batch)
    tensor([1, 2])
    tensor([3])
    """

    _declares = Declares(attributes=True)

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        **unused: Any,
    ) -> None:
        _check_unused(num_workers, timeout, unused)
        _check_options(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.sampler = sampler if sampler is not None else _default_sampler(dataset, shuffle, generator)
        self.batch_sampler = batch_sampler
        if self.batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, self.batch_size, drop_last)
        self.collate_fn = collate_fn or (default_convert if self.batch_sampler is None else default_collate)

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws a seed for its workers at the start of each epoch, whether there are any or not; a program that
        # draws numbers afterwards sees it.
        drawn_seed(self.generator)
        if isinstance(self.dataset, IterableDataset):
            return self._streamed()
        if type(self) is DataLoader and is_in_memory(self.dataset, self.batch_sampler, self.collate_fn):
            return InMemoryBatches(self)
        return map(self._fetched, self.sampler if self.batch_sampler is None else self.batch_sampler)

    def _streamed(self) -> Iterator[Any]:
        items = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, items)
            return
        while batch := list(itertools.islice(items, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield self.collate_fn(batch)

    def _fetched(self, index: Any) -> Any:
        """The batch for a list of indices, the item for one."""
        if self.batch_sampler is None:
            return self.collate_fn(self.dataset[index])
        if isinstance(self.dataset, StackedRows) and self.dataset.has_own_rows() and self.collate_fn is default_collate:
            return list(self.dataset[index])  # all rows at once: what collating them one by one gives
        if hasattr(self.dataset, "__getitems__"):
            return self.collate_fn(self.dataset.__getitems__(index))
        return self.collate_fn([self.dataset[i] for i in index])

    def __len__(self) -> int:
        """How many batches an epoch has."""
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        items = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return items
        return items // self.batch_size if self.drop_last else -(-items // self.batch_size)


class _Endless:
    """The sampler of a dataset that has an order of its own."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _default_sampler(dataset: Any, shuffle: bool | None, generator: Generator | None) -> Iterable[Any]:
    if isinstance(dataset, IterableDataset):
        return _Endless()
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


_WITHOUT_EFFECT = {"prefetch_factor", "persistent_workers", "pin_memory_device", "in_order"}


def _check_unused(num_workers: int, timeout: float, unused: dict[str, Any]) -> None:
    for name in unused.keys() - _WITHOUT_EFFECT:
        raise TypeError(f"DataLoader.__init__() got an unexpected keyword argument {name!r}")
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")


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
