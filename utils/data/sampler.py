"""Samplers: in which order the items of a dataset are taken. The orders are PyTorch's for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from ...ops.array import eager
from ...ops.types import float64, int64
from ...tensors.creation import as_tensor
from ...tensors.generator import Generator
from ...tensors.random import multinomial, randint, random, randperm
from ...tracing.declares import Declares

T = TypeVar("T", covariant=True)
Permutation = Callable[[np.ndarray, int], np.ndarray]  # of random words and a length


def _numbers(indices: Any) -> np.ndarray:
    return eager().read(indices, "tolist()")


def drawn_seed(generator: Generator | None = None) -> int:
    """63 random bits, as PyTorch draws the seed of another generator."""
    return int(random((), int64, generator).item())


class Sampler(Generic[T]):
    """A subclass defines ``__iter__``, which gives indices (or lists of them: a batch sampler)."""

    _declares = Declares(attributes=True)

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def blocks(self, permutation: Permutation | None = None) -> Iterator[np.ndarray]:
        """The same indices in one int64 array."""
        yield np.arange(len(self.data_source))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All indices in random order; with `replacement`, or another `num_samples`, as many as asked for.

    Without a `generator` each iteration seeds one of its own from the default generator.
    """

    def __init__(
        self,
        data_source: Any,
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
        return (index for block in self.blocks() for index in block.tolist())

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
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in randperm(len(self.indices), generator=self.generator).tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices drawn with the given weights."""

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        self.weights = as_tensor(weights, dtype=float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        return iter(multinomial(self.weights, self.num_samples, self.replacement, self.generator).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of `batch_size`; with `drop_last` without a shorter one at the end."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
