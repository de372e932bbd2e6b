"""Epochs of `DataLoader` alone, with PyTorch's beside it: items a second, nothing is trained.

    python -m benchmarks.loader [--rounds 5] [--items 20000] [--only NAME]

Each row is the quietest of several epochs, by the clock; the two libraries alternate. Batches of both are compared
first. With workers, the epoch after the first is measured (the processes stay), which PyTorch's programs ask for with
``persistent_workers=True``.
"""

from __future__ import annotations

import argparse
import importlib
import time

import numpy as np

from . import environment

BATCH = 64


def pictures(lib, items):
    """Grey pictures of 28 x 28 and their classes, as tensors in memory."""
    rng = np.random.default_rng(0)
    x = lib.from_numpy(rng.standard_normal((items, 1, 28, 28)).astype(np.float32))
    return x, lib.from_numpy(rng.integers(0, 10, items))


def in_memory(lib, items):
    """A TensorDataset."""
    return lib.utils.data.TensorDataset(*pictures(lib, items))


def subset(lib, items):
    """The larger part of a random split of a TensorDataset."""
    return lib.utils.data.random_split(in_memory(lib, items), [items * 4 // 5, items - items * 4 // 5])[0]


class Rows:
    """A dataset of one's own over arrays: a row at a time, as a tensor and a number."""

    def __init__(self, lib, items):
        rng = np.random.default_rng(0)
        self.lib, self.x = lib, rng.standard_normal((items, 32)).astype(np.float32)
        self.y = rng.integers(0, 10, items)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.lib.from_numpy(self.x[i]), int(self.y[i])


class Records(Rows):
    """The same as dicts with a transformation in tensors."""

    def __getitem__(self, i):
        x = self.lib.tensor(self.x[i])
        return {"x": (x - 0.5) / 2.0, "y": self.lib.tensor(self.y[i])}


ROWS = {
    "tensors in memory": (in_memory, {}),
    "tensors in memory, shuffled": (in_memory, {"shuffle": True}),
    "random split, shuffled": (subset, {"shuffle": True}),
    "rows of arrays": (Rows, {"shuffle": True}),
    "dicts of computed tensors": (Records, {"shuffle": True}),
    "rows of arrays, 2 workers": (Rows, {"shuffle": True, "num_workers": 2, "persistent_workers": True}),
    "dicts of computed tensors, 2 workers": (Records, {"shuffle": True, "num_workers": 2, "persistent_workers": True}),
}


def loader_of(lib, row, items):
    """A new loader, the same for each library."""
    dataset, options = ROWS[row]
    lib.manual_seed(0)
    return lib.utils.data.DataLoader(dataset(lib, items), batch_size=BATCH, **options)


def numbers_of(batch):
    """The arrays of a batch."""
    return [np.asarray(part) for part in (batch.values() if isinstance(batch, dict) else batch)]


def epoch(loader):
    """Seconds of a pass over all batches."""
    start = time.perf_counter()
    for _ in loader:
        pass
    return time.perf_counter() - start


def compare(loaders):
    """AssertionError unless all libraries give the same batches, in the same order."""
    for batches in zip(*loaders, strict=True):
        first, *others = map(numbers_of, batches)
        for other in others:
            assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.loader", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--only", default="", help=f"one row: {', '.join(ROWS)}")
    options = parser.parse_args()
    environment.use_one_thread()
    libraries = [importlib.import_module(name) for name in ("torch", "tracegrad")]
    libraries[0].set_num_threads(1)
    print(f"{'items a second':40}{'torch':>12}{'tracegrad':>12}{'ratio':>9}")
    for row in [options.only] if options.only else ROWS:
        loaders = [loader_of(lib, row, options.items) for lib in libraries]
        compare(loaders)
        times = [[epoch(loader) for loader in loaders] for _ in range(options.rounds)]
        theirs, ours = (len(loaders[0].dataset) / min(column) for column in zip(*times, strict=True))
        print(f"{row:40}{theirs:12.0f}{ours:12.0f}{ours / theirs:8.2f}x")


if __name__ == "__main__":
    main()
