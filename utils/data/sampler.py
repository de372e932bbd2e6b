"""Samplers: in which order the items of a dataset are taken. The orders are PyTorch's for the same seed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ...functional.statistics.weighted_draws import multinomial
from ...ops.array import eager
from ...ops.types import float64, int64
from ...tensors.creation import as_tensor
from ...tensors.drawing.integers import randint, random, randperm
from ...tensors.generator import Generator
from ...tracing.declares import Declares

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

T = TypeVar("T", covariant=True)
Permutation = Callable[[np.ndarray, int], np.ndarray]  # of random words and a length


def _numbers(indices: Any) -> np.ndarray:
    return eager().read(indices, "tolist()")


def drawn_seed(generator: Generator | None = None) -> int:
    """63 random bits, as PyTorch draws the seed of another generator."""
    return int(random((), int64, generator).item())


class Sampler(Generic[T]):
    """The base of samplers: a subclass defines ``__iter__``, which gives indices (or lists of them: a batch sampler),
    and mostly ``__len__``.

    >>> import tracegrad as tg
    >>> class EverySecond(tg.utils.data.Sampler):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     def __iter__(self):
    ...         return iter(range(0, len(self.data), 2))
    >>> loader = tg.utils.data.DataLoader([10, 20, 30], sampler=EverySecond("abc"), batch_size=2)
    >>> list(loader)
    [tensor([10, 30])]
    """

    _declares = Declares(attributes=True)

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """The indices of `data_source`, which has a length, in order: 0, 1, 2, ...

    >>> import tracegrad as tg
    >>> list(tg.utils.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def blocks(self, permutation: Permutation | None = None) -> Iterator[np.ndarray]:
        """The same indices in one int64 array."""
        yield np.arange(len(self.data_source))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All indices of `data_source` in random order; with `replacement`, or another `num_samples`, as many as asked for.

    Without a `generator` each iteration seeds one of its own from the default generator; from the same seed the order
    is PyTorch's. TypeError for a `replacement` that is no bool, ValueError for a `num_samples` that is not positive.

    >>> import tracegrad as tg
    >>> sorted(tg.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    >>> len(tg.utils.data.RandomSampler("abc", replacement=True, num_samples=7))
    7
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """How many indices one iteration gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        for block in self.blocks():
            yield from block.tolist()

    def blocks(self, permutation: Permutation | None = None) -> Iterator[np.ndarray]:
        """The same indices in int64 arrays, as many in each as are drawn at once.

        `permutation` does what `randperm` does with its random words, more quickly.
        """
        generator = self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(drawn_seed())
        return self._replaced(generator) if self.replacement else self._permuted(generator, permutation)

    def _replaced(self, generator: Generator) -> Iterator[np.ndarray]:
        n = len(self.data_source)
        for _ in range(self.num_samples // 32):
            yield _numbers(randint(0, n, (32,), generator=generator))
        yield _numbers(randint(0, n, (self.num_samples % 32,), generator=generator))

    def _permuted(self, generator: Generator, permutation: Permutation | None) -> Iterator[np.ndarray]:
        n = len(self.data_source)

        def shuffled() -> np.ndarray:
            if permutation is None or n < 2:
                return _numbers(randperm(n, generator=generator))
            return permutation(_numbers(generator.words(n - 1)), n)

        for _ in range(self.num_samples // n):
            yield shuffled()
        # PyTorch draws a last permutation even if nothing of it is used; a generator of the user's sees that.
        if self.num_samples % n:
            yield shuffled()[: self.num_samples % n]
        else:
            generator.words(max(0, n - 1))

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order, drawn by `generator`, or the default one.

    >>> import tracegrad as tg
    >>> sorted(tg.utils.data.SubsetRandomSampler([5, 2, 9]))
    [2, 5, 9]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices, drawn with probabilities in proportion to `weights` [n], with `replacement` (default True)
    or without.

    ValueError for a `num_samples` that is not positive and for weights of more axes; RuntimeError, when it is iterated,
    for more samples than weights without replacement.

    >>> import tracegrad as tg
    >>> list(tg.utils.data.WeightedRandomSampler([0.0, 1.0, 0.0], num_samples=3))
    [1, 1, 1]
    """

    def __init__(
        self,
        weights: Tensor | Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            shape = tuple(self.weights.shape)
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {shape}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from multinomial(self.weights, self.num_samples, self.replacement, self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of `batch_size`; with `drop_last` without a shorter one at the end.

    ValueError for a `batch_size` that is not a positive int, or a `drop_last` that is no bool.

    >>> import tracegrad as tg
    >>> list(tg.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else (size + self.batch_size - 1) // self.batch_size
