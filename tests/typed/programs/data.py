from __future__ import annotations
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Optional
import numpy as np
import tracegrad as torch
from tracegrad import Tensor
from tracegrad.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    random_split,
    get_worker_info,
)


class Rows(Dataset[dict[str, Tensor]]):
    def __init__(self, transform: Optional[Callable[[Tensor], Tensor]] = None) -> None:
        self.rows = torch.from_numpy(np.random.rand(10, 3).astype(np.float32))
        self.transform = transform

    def __getitem__(self, i: int) -> dict[str, Tensor]:
        row = self.rows[i]
        if self.transform is not None:
            row = self.transform(row)
        return {"x": row, "y": row.sum()}

    def __len__(self) -> int:
        return self.rows.shape[0]


class Stream(IterableDataset[Tensor]):
    def __iter__(self) -> Iterator[Tensor]:
        info = get_worker_info()
        start = 0 if info is None else info.id
        for i in range(start, 5):
            yield torch.tensor([float(i)])


class Evens(Sampler[int]):
    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[int]:
        return iter(range(0, self.n, 2))

    def __len__(self) -> int:
        return self.n // 2


def collate(batch: list[dict[str, Tensor]]) -> tuple[Tensor, Tensor]:
    return torch.stack([b["x"] for b in batch]), torch.stack([b["y"] for b in batch])


class Plain(Dataset):  # type: ignore[type-arg]
    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return torch.zeros(2), 1

    def __len__(self) -> int:
        return 4


rows = Rows(transform=lambda r: r * 2)
train, val = random_split(rows, [8, 2], generator=torch.Generator().manual_seed(0))
loader = DataLoader(train, batch_size=4, sampler=RandomSampler(train), drop_last=True, num_workers=0, pin_memory=False)
for batch in loader:
    s = batch["x"].sum() + batch["y"].mean()
for i, batch in enumerate(DataLoader(rows, batch_size=2, collate_fn=collate)):
    x, y = batch
    print(i, x.shape, y.shape)
for item in DataLoader(Stream(), batch_size=2):
    print(item.shape)
for x, y in DataLoader(Plain(), batch_size=2):
    print(x.sum().item(), y)
pairs = TensorDataset(torch.ones(6, 2), torch.zeros(6))
a, b = pairs[0]
subset = Subset(pairs, [0, 1])
both = ConcatDataset([pairs, subset])
n: int = len(both) + len(loader)
w = WeightedRandomSampler([0.1, 0.9], num_samples=4)
bs = BatchSampler(SequentialSampler(rows), batch_size=3, drop_last=False)
for indices in bs:
    print(sum(indices))
it = iter(DataLoader(pairs, batch_size=2))
xb, yb = next(it)
print(xb.shape, default_collate([1, 2]))
loader2 = DataLoader(pairs, batch_sampler=bs, worker_init_fn=lambda i: None, generator=torch.Generator())
first: Tensor = next(iter(loader2))[0]
