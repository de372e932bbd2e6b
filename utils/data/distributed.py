"""The share of a dataset that one of several processes goes through."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

from ...devices.distributed.groups import get_rank, get_world_size
from ...tensors.drawing.integers import randperm
from ...tensors.generator import Generator
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index from `rank` on, of all indices in an order that all processes share.

    With `shuffle` (the default) the order is that of `seed` plus the number given to `set_epoch`. So that all shares
    have one length the first indices are repeated, or, with `drop_last`, the last ones left out. ValueError for a rank
    outside.

    Without `num_replicas` and `rank` they are the process group's; ValueError if there is none.

    >>> import tracegrad as tg
    >>> list(tg.utils.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        size = len(dataset)
        dropped = num_replicas if drop_last and size % num_replicas else 0
        self.num_samples = math.ceil((size - dropped) / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        indices = self._order()
        if self.drop_last:
            indices = indices[: self.total_size]
        else:
            missing = self.total_size - len(indices)
            if missing:
                indices += (indices * math.ceil(missing / len(indices)))[:missing]
        if len(indices) != self.total_size:
            raise AssertionError(f"Number of indices ({len(indices)}) does not match total_size ({self.total_size})")
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def _order(self) -> list[int]:
        size = len(self.dataset)
        if not self.shuffle:
            return list(range(size))
        return randperm(size, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Shuffle in another order from the next iteration on; all processes have to say the same number."""
        self.epoch = epoch
