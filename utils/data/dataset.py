"""Datasets: things with a length and items, or things that give items one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, Protocol, TypeVar

from ...tensors.drawing.integers import randperm
from ...tensors.generator import Generator, default_generator
from ...tensors.rows import StackedRows
from ...tensors.tensor import Tensor
from ...tracing.declares import Declares
from ...tracing.user_warning import warn_user

T = TypeVar("T", covariant=True)


class SupportsGetItem(Protocol[T]):
    """What has items at indices: datasets, sequences, tensors and arrays."""

    def __getitem__(self, index: Any, /) -> T: ...


class Dataset(Generic[T]):
    """The base of datasets with a length: a subclass defines ``__getitem__(index)`` and ``__len__()``.

    ``__getitems__(indices)``, if there is one, gives the items of a whole batch. ``a + b`` is `ConcatDataset`.
    NotImplementedError for an item where a subclass defines none.

    >>> import tracegrad as tg
    >>> class Squares(tg.utils.data.Dataset):
    ...     def __getitem__(self, index):
    ...         return index ** 2
    ...     def __len__(self):
    ...         return 4
    >>> next(iter(tg.utils.data.DataLoader(Squares(), batch_size=3)))
    tensor([0, 1, 4])
    """

    _declares = Declares(attributes=True)

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T]) -> ConcatDataset[T]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """The base of datasets that are streams: a subclass defines ``__iter__``, and items come in its order, however many
    there are.

    With workers each has a copy of the dataset: ``get_worker_info()`` tells a copy which part of the items is its own.
    Samplers and `shuffle` are refused by the loader (ValueError).

    >>> import tracegrad as tg
    >>> class Count(tg.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(5))
    >>> list(tg.utils.data.DataLoader(Count(), batch_size=3))
    [tensor([0, 1, 2]), tensor([3, 4])]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[T]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])  # type: ignore[list-item]


class TensorDataset(Dataset[tuple[Tensor, ...]], StackedRows):
    """Item i is the tuple of the i-th rows of all tensors.

    >>> import tracegrad as tg
    >>> tg.utils.data.TensorDataset(tg.arange(3), tg.ones(3))[2]
    (tensor(2), tensor(1.))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError(f"Size mismatch between tensors: {[tensor.size(0) for tensor in tensors]} rows")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)

    def has_own_rows(self) -> bool:
        """False for a subclass, or where the ways to get items are not those of the class itself."""
        own = type(self) is TensorDataset and TensorDataset.__getitem__ is _rows_of_tensors
        return own and not hasattr(self, "__getitems__")


_rows_of_tensors = TensorDataset.__getitem__


class StackDataset(Dataset[Any]):
    """Item i is the tuple of the i-th items of all datasets, or the dict of them where they are given by name.

    ValueError for datasets of different lengths, none at all, or some with names and some without.

    >>> import tracegrad as tg
    >>> tg.utils.data.StackDataset([1, 2], "ab")[1]
    (2, 'b')
    >>> tg.utils.data.StackDataset(x=[1, 2], y="ab")[0]
    {'x': 1, 'y': 'a'}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or"
                "``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        self.datasets: Any = args or kwargs
        parts = self._parts()
        if not parts:
            raise ValueError("At least one dataset should be passed")
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")

    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _item(self, parts: Iterable[Any]) -> Any:
        return dict(zip(self.datasets, parts, strict=True)) if isinstance(self.datasets, dict) else tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._item([part[index] for part in self._parts()])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """The items at several indices; datasets that have this method are asked once."""
        columns = [_items_at(part, indices) for part in self._parts()]
        return [self._item(parts) for parts in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


def _items_at(dataset: Any, indices: list[Any]) -> list[Any]:
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    items = dataset.__getitems__(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class ConcatDataset(Dataset[T]):
    """Datasets one behind the other.

    AssertionError if there are none, or for an IterableDataset among them.

    >>> import tracegrad as tg
    >>> both = tg.utils.data.ConcatDataset([[1, 2], [3]])
    >>> len(both), both[2], both[-3]
    (3, 3, 1)
    """

    @staticmethod
    def cumsum(sequence: Iterable[Sized]) -> list[int]:
        """Where each dataset ends."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[SupportsGetItem[T]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][idx - start]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The older name of `cumulative_sizes`."""
        text = "`cummulative_sizes` attribute is renamed to `cumulative_sizes`"
        warn_user(text, FutureWarning)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Streams one behind the other. AssertionError, when it is reached, for anything but an IterableDataset.

    >>> import tracegrad as tg
    >>> class Count(tg.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(2))
    >>> list(tg.utils.data.ChainDataset([Count(), Count()]))
    [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[IterableDataset[Any]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._streams():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._streams())

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset


class Subset(Dataset[T]):
    """The items of a dataset at some indices.

    Loaders ask for whole batches by ``__getitems__``: a subclass with a ``__getitem__`` of its own needs both, or
    NotImplementedError is raised.

    >>> import tracegrad as tg
    >>> part = tg.utils.data.Subset("abcd", [3, 1])
    >>> len(part), part[0]
    (2, 'd')
    """

    def __init__(self, dataset: SupportsGetItem[T], indices: Sequence[int]) -> None:
        self.dataset: Any = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. "
                "When subclassing Subset and overriding __getitem__, you must also override "
                "__getitems__ to ensure DataLoader works correctly with your custom logic. "
                "A simple implementation:\n\n"
                "def __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx: Any) -> T:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        """The items at several indices of this subset; a dataset with such a method is asked once."""
        places = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(places)
        return [self.dataset[place] for place in places]

    def __len__(self) -> int:
        return len(self.indices)

    def has_own_items(self) -> bool:
        """False for a subclass, or where the ways to get items are not those of the class itself."""
        own = type(self) is Subset and not {"__getitem__", "__getitems__", "__len__"} & vars(self).keys()
        return own and all(vars(Subset)[name] is method for name, method in _methods_of_subsets.items())


_methods_of_subsets = {name: vars(Subset)[name] for name in ("__getitem__", "__getitems__", "__len__")}


def random_split(
    dataset: SupportsGetItem[T], lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[T]]:
    """Cut a dataset into random parts of the given lengths, or fractions that add up to 1.

    Fractions are rounded down, and what is left over goes to the first parts, one item each; a part without items is
    warned of. ValueError if the lengths do not add up to the dataset's, or a fraction is none.

    >>> import tracegrad as tg
    >>> train, test = tg.utils.data.random_split(range(10), [0.75, 0.25], generator=tg.Generator().manual_seed(0))
    >>> len(train), test.indices
    (8, [6, 2])
    """
    total = len(dataset)  # type: ignore[arg-type]
    sizes = _sizes(total, lengths)
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(sum(sizes), generator=generator).tolist()
    return [
        Subset(dataset, order[end - size : end]) for end, size in zip(itertools.accumulate(sizes), sizes, strict=True)
    ]


def _sizes(total: int, lengths: Sequence[int | float]) -> list[Any]:
    """Fractions as numbers of items; what rounding leaves over goes to the first parts, one each."""
    if not (math.isclose(sum(lengths), 1) and sum(lengths) <= 1):
        return list(lengths)
    for i, fraction in enumerate(lengths):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    sizes = [math.floor(total * fraction) for fraction in lengths]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if size == 0:
            warn_user(f"Length of split at index {i} is 0. This might result in an empty dataset.")
    return sizes
