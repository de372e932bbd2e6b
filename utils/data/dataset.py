"""Datasets: things with a length and items, or things that give items one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...tensors.generator import Generator
from ...tensors.random import randperm
from ...tensors.rows import StackedRows
from ...tensors.tensor import Tensor
from ...tracing.declares import Declares

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """A subclass defines ``__getitem__(index)`` and ``__len__()``."""

    _declares = Declares(attributes=True)

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T]) -> ConcatDataset[T]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """A subclass defines ``__iter__``: items come in its order, however many there are."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset[tuple[Tensor, ...]], StackedRows):
    """Item i is the tuple of the i-th rows of all tensors.

    >>> import tracegrad as tg
    >>> tg.utils.data.TensorDataset(tg.arange(3), tg.ones(3))[2]
    (tensor(2), tensor(1.))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(tensor) != len(tensors[0]) for tensor in tensors):
            raise AssertionError(f"Size mismatch between tensors: {[len(tensor) for tensor in tensors]} rows")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)  # type: ignore[index]

    def __len__(self) -> int:
        return len(self.tensors[0])

    def has_own_rows(self) -> bool:
        """False for a subclass, or where the ways to get items are not those of the class itself."""
        own = type(self) is TensorDataset and TensorDataset.__getitem__ is _rows_of_tensors
        return own and not hasattr(self, "__getitems__")


_rows_of_tensors = TensorDataset.__getitem__


class ConcatDataset(Dataset[T]):
    """Datasets one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T:
        if not -len(self) <= index < len(self):
            raise ValueError("absolute value of index should not exceed dataset length")
        place = index % len(self)
        which = bisect.bisect_right(self.cumulative_sizes, place)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][place - start]


class Subset(Dataset[T]):
    """The items of a dataset at some indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Cut a dataset into random parts of the given lengths, or fractions that add up to 1.

    ValueError if the lengths do not add up to the dataset's.
    """
    sizes = _sizes(len(dataset), lengths)
    if sum(sizes) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(len(dataset), generator=generator).tolist()
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
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return sizes
