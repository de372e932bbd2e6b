"""Loaders, samplers, datasets and collation: what they give, what they draw, what they refuse and what they warn of.

Each program is written in names that both libraries share; `tg` is the library. Results are what JSON can hold.
"""

import collections
import itertools
import random
import types
import warnings

import numpy as np

Point = collections.namedtuple("Point", "x y")


def plain(value):
    """Batches as JSON has them; tensors with their type."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        kind = str(value.dtype).rpartition(".")[2]
        return [kind, str(value.tolist()) if kind.startswith("complex") else value.tolist()]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    return value if isinstance(value, (int, float, str, type(None))) else repr(value)


def numbers(tg, count=11):
    return tg.utils.data.TensorDataset(tg.arange(count), tg.arange(count * 2.0).reshape(count, 2))


class Eager:
    """A sampler that draws when its iterator is made, not when the first index is asked for."""

    def __init__(self, tg, count):
        self.tg, self.count = tg, count

    def __iter__(self):
        return iter(self.tg.randperm(self.count).tolist())

    def __len__(self):
        return self.count


DATASETS = {
    "tensors": numbers,
    "list": lambda tg: [i * 10 for i in range(11)],
    "subset": lambda tg: tg.utils.data.Subset(numbers(tg), [9, 0, 4, 7, 7, 2]),
    "subset of subset": lambda tg: tg.utils.data.Subset(tg.utils.data.Subset(numbers(tg), range(9, 0, -1)), [1, -2, 5]),
    "subset of a list": lambda tg: tg.utils.data.Subset([i * 10 for i in range(11)], [3, 1, 2]),
    "split": lambda tg: tg.utils.data.random_split(numbers(tg), [0.7, 0.3])[0],
    "concat": lambda tg: tg.utils.data.ConcatDataset([numbers(tg, 3), numbers(tg, 4)]),
    "stack": lambda tg: tg.utils.data.StackDataset(numbers(tg, 5), tg.utils.data.Subset(numbers(tg), [8, 6, 4, 2, 0])),
    "named stack": lambda tg: tg.utils.data.StackDataset(a=numbers(tg, 4), b=[1.5, 2.5, 3.5, 4.5]),
}

SAMPLERS = {
    "in order": lambda tg, dataset, own: {},
    "shuffled": lambda tg, dataset, own: {"shuffle": True},
    "own generator": lambda tg, dataset, own: {"shuffle": True, "generator": own},
    "generator only": lambda tg, dataset, own: {"generator": own},
    "replacement": lambda tg, dataset, own: {"sampler": tg.utils.data.RandomSampler(dataset, True, 37)},
    "more": lambda tg, dataset, own: {"sampler": tg.utils.data.RandomSampler(dataset, num_samples=14, generator=own)},
    "some": lambda tg, dataset, own: {"sampler": tg.utils.data.SubsetRandomSampler([2, 0, 1])},
    "weighted": lambda tg, dataset, own: {"sampler": tg.utils.data.WeightedRandomSampler([1.0, 2.0, 0.5], 7)},
    "weighted once": lambda tg, dataset, own: {
        "sampler": tg.utils.data.WeightedRandomSampler([1.0, 2.0, 0.5], 2, replacement=False, generator=own)
    },
    "eager": lambda tg, dataset, own: {"sampler": Eager(tg, len(dataset))},
    "a list": lambda tg, dataset, own: {"sampler": [2, 0]},
    "distributed": lambda tg, dataset, own: {"sampler": tg.utils.data.DistributedSampler(dataset, 2, 1, seed=3)},
}


def epochs(tg, dataset, sampler, batches, workers):
    """Two epochs, and the numbers that each generator gives next."""
    tg.manual_seed(7)
    own = tg.Generator().manual_seed(8)
    made = DATASETS[dataset](tg)
    loader = tg.utils.data.DataLoader(made, **SAMPLERS[sampler](tg, made, own), **batches, num_workers=workers)
    seen = [plain(list(loader)), plain(list(loader)), len(loader)]
    return [*seen, tg.randint(1000, (2,)).tolist(), tg.randint(1000, (2,), generator=own).tolist()]


BATCHES = {
    "two": {"batch_size": 2},
    "four, dropping": {"batch_size": 4, "drop_last": True},
    "none": {"batch_size": None},
}
EPOCHS = {
    f"{dataset}, {sampler}, {batches}": (dataset, sampler, BATCHES[batches])
    for dataset, sampler, batches in itertools.product(DATASETS, SAMPLERS, BATCHES)
    if dataset in ("tensors", "subset") or sampler == "shuffled"
}
WITH_WORKERS = ["tensors, shuffled, two", "tensors, eager, none", "subset, own generator, four, dropping"]


# ------------------------------------------------------------------------------------------------------------ workers


def drawing(tg):
    """A dataset whose items are random numbers of all three generators."""

    class Drawing(tg.utils.data.Dataset):
        def __len__(self):
            return 7

        def __getitem__(self, index):
            info = tg.utils.data.get_worker_info()
            return index, random.random(), np.random.randint(1000), tg.randint(1000, (2,)), info.id, info.seed % 1000

    return Drawing()


def streaming(tg, count, sharded=True):
    class Streaming(tg.utils.data.IterableDataset):
        def __len__(self):
            return count

        def __iter__(self):
            info = tg.utils.data.get_worker_info()
            return iter(range(info.id, count, info.num_workers) if sharded and info else range(count))

    return Streaming()


def worker_draws(tg, **options):
    tg.manual_seed(4)
    loader = tg.utils.data.DataLoader(drawing(tg), 2, num_workers=2, **options)
    return [plain(list(loader)), plain(list(loader)), tg.randint(1000, (2,)).tolist()]


def worker_streams(tg, **options):
    seen = []
    for count, sharded in itertools.product((0, 1, 5, 8), (True, False)):
        loader = tg.utils.data.DataLoader(streaming(tg, count, sharded), num_workers=2, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of lengths: `list` asks for the loader's
            seen.append([plain(list(loader)), plain(list(loader))])
    return seen


def early_end(tg):
    loader = tg.utils.data.DataLoader(range(20), 2, num_workers=2, persistent_workers=True)
    for batch in loader:
        if int(batch[0]) > 6:
            break
    return [plain(list(loader)), plain(next(iter(loader)))]


WORKERS = {
    "draws": worker_draws,
    "draws, persistent": lambda tg: worker_draws(tg, persistent_workers=True),
    "draws, init": lambda tg: worker_draws(tg, worker_init_fn=random.seed),
    "streams": lambda tg: worker_streams(tg, batch_size=2),
    "streams, dropping": lambda tg: worker_streams(tg, batch_size=3, drop_last=True),
    "streams, no batches": lambda tg: worker_streams(tg, batch_size=None),
    "streams, persistent": lambda tg: worker_streams(tg, batch_size=2, persistent_workers=True, prefetch_factor=1),
    "early end": early_end,
}

# ---------------------------------------------------------------------------------------------------------- collation

ITEMS = {
    "integers": lambda tg: [1, 2],
    "booleans": lambda tg: [True, False],
    "numbers": lambda tg: [1.0, 2.5],
    "texts": lambda tg: ["a", "b"],
    "bytes": lambda tg: [b"a", b"b"],
    "tuples": lambda tg: [(1, 2.0), (3, 4.0)],
    "lists": lambda tg: [[1, "a"], [2, "b"]],
    "named tuples": lambda tg: [Point(1, 2.0), Point(3, 4.0)],
    "dicts": lambda tg: [{"k": 1, "j": [1.0]}, {"k": 2, "j": [2.0]}],
    "more keys later": lambda tg: [{"k": 1}, {"k": 2, "j": 1}],
    "ordered dicts": lambda tg: [collections.OrderedDict(b=1, a=2), collections.OrderedDict(b=3, a=4)],
    "default dicts": lambda tg: [collections.defaultdict(int, b=1), collections.defaultdict(int, b=2)],
    "deques": lambda tg: [collections.deque([1, 2]), collections.deque([3, 4])],
    "user lists": lambda tg: [collections.UserList([1, 2]), collections.UserList([3, 4])],
    "ranges": lambda tg: [range(2), range(2, 4)],
    "read-only mappings": lambda tg: [types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})],
    "tensors": lambda tg: [tg.ones(2), tg.zeros(2)],
    "tensors of no dimensions": lambda tg: [tg.tensor(1), tg.tensor(2)],
    "tensors of two types": lambda tg: [tg.ones(2), tg.zeros(2, dtype=tg.float64)],
    "turned tensors": lambda tg: [tg.arange(6).reshape(2, 3).t(), tg.arange(6).reshape(2, 3).t()],
    "empty tensors": lambda tg: [tg.ones(0), tg.ones(0)],
    "nothing inside": lambda tg: [(), ()],
    **{
        f"arrays of {name}": lambda tg, name=name: [np.array([0, 1], name), np.array([1, 0], name)]
        for name in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool", "complex64")
    },
    **{
        f"scalars of {name}": lambda tg, name=name: [np.dtype(name).type(0), np.dtype(name).type(1)]
        for name in ("uint8", "int16", "int32", "int64", "float16", "float32", "float64", "bool")
    },
    "arrays of no dimensions": lambda tg: [np.array(1.5), np.array(2.5)],
    "numpy's texts": lambda tg: [np.str_("a"), np.str_("b")],
    "turned arrays": lambda tg: [np.arange(6).reshape(2, 3).T, np.arange(6).reshape(2, 3).T],
    "integers, then numbers": lambda tg: [1, 2.5],
    "numbers, then integers": lambda tg: [2.5, 1],
    # What is refused:
    "None": lambda tg: [None, None],
    "sets": lambda tg: [{1}, {2}],
    "objects": lambda tg: [random, random],
    "arrays of texts": lambda tg: [np.array(["a"]), np.array(["b"])],
    "arrays of objects": lambda tg: [np.array([None]), np.array([None])],
    "lengths": lambda tg: [[1, 2], [3]],
    "shapes": lambda tg: [tg.ones(2), tg.ones(3)],
    "shapes of arrays": lambda tg: [np.ones(2), np.ones((2, 1))],
    "a tensor, then a number": lambda tg: [tg.ones(2), 1.0],
    "no such key": lambda tg: [{"k": 1}, {"j": 1}],
    "empty": lambda tg: [],
}


def attempt(function):
    """What it returns, or the class and the first line of what it raises; with the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(function())
        except Exception as error:
            result = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    warned = [f"{w.category.__name__}: {str(w.message).partition(' at each worker')[0]}" for w in caught]
    return [result, warned] if warned else result


# ------------------------------------------------------------------------------------------------- refused and warned


def loader(**options):
    return lambda tg: type(tg.utils.data.DataLoader([1, 2, 3], **options)).__name__


def stream(**options):
    return lambda tg: type(tg.utils.data.DataLoader(streaming(tg, 3), **options)).__name__


def set_after(name):
    return lambda tg: setattr(tg.utils.data.DataLoader([1, 2, 3]), name, 1)


def part_of(tg, **members):
    return type("Part", (tg.utils.data.Subset,), members)([1, 2, 3], [1])


def own_collation(tg):
    functions = tg.utils.data._utils.collate.default_collate_fn_map
    functions[types.SimpleNamespace] = lambda batch, *, collate_fn_map: [item.x for item in batch]
    try:
        return tg.utils.data.default_collate([types.SimpleNamespace(x=1), types.SimpleNamespace(x=2)])
    finally:
        del functions[types.SimpleNamespace]


CALLS = {
    "negative workers": loader(num_workers=-1),
    "negative timeout": loader(timeout=-1),
    "prefetching without workers": loader(prefetch_factor=2),
    "negative prefetching": loader(num_workers=1, prefetch_factor=-1),
    "no prefetching": lambda tg: iter(tg.utils.data.DataLoader([1], num_workers=1, prefetch_factor=0)),
    "persistent without workers": loader(persistent_workers=True),
    "context without workers": loader(multiprocessing_context="fork"),
    "an unknown context": loader(num_workers=1, multiprocessing_context="thread"),
    "no context": loader(num_workers=1, multiprocessing_context=3),
    "shuffle and sampler": loader(shuffle=True, sampler=[0]),
    "batch sampler and size": loader(batch_sampler=[[0]], batch_size=2),
    "batch sampler and shuffle": loader(batch_sampler=[[0]], shuffle=True),
    "batch sampler and drop_last": loader(batch_sampler=[[0]], drop_last=True),
    "drop_last without batches": loader(batch_size=None, drop_last=True),
    "no batch size": loader(batch_size=0),
    "a batch size that is no integer": loader(batch_size=2.5),
    "an unknown option": loader(shufle=True),
    "stream, shuffled": stream(shuffle=True),
    "stream, not shuffled": stream(shuffle=False),
    "stream with sampler": stream(sampler=[0]),
    "stream with batch sampler": stream(batch_sampler=[[0]]),
    "timeout without workers": lambda tg: list(tg.utils.data.DataLoader([1], timeout=1)),
    "shuffling nothing": lambda tg: list(tg.utils.data.DataLoader([], shuffle=True)),
    "too many workers": loader(num_workers=1000),
    "pinning": lambda tg: list(tg.utils.data.DataLoader([1, 2], pin_memory=True)),
    "pinning on a device": lambda tg: list(tg.utils.data.DataLoader([1], pin_memory=True, pin_memory_device="cuda")),
    "length of a generator": lambda tg: len(tg.utils.data.DataLoader([1, 2], sampler=(i for i in [0]))),
    **{
        f"setting {name}": set_after(name)
        for name in "batch_size batch_sampler sampler drop_last dataset persistent_workers collate_fn".split()
    },
    "a wrong index": lambda tg: list(tg.utils.data.DataLoader(numbers(tg), 2, sampler=[3, 11])),
    "a wrong index of a subset": lambda tg: list(tg.utils.data.DataLoader(tg.utils.data.Subset(numbers(tg), [11]))),
    "a wrong place of a subset": lambda tg: list(
        tg.utils.data.DataLoader(tg.utils.data.Subset(numbers(tg), [1]), 2, sampler=[0, 1])
    ),
    "negative indices": lambda tg: list(tg.utils.data.DataLoader(numbers(tg), 3, sampler=[-1, 0, -11])),
    "indices that are booleans": lambda tg: [
        list(t.shape) for t in next(iter(tg.utils.data.DataLoader(numbers(tg), 2, sampler=[True, False])))
    ],
    "indices that are tensors": lambda tg: list(tg.utils.data.DataLoader(numbers(tg), 2, sampler=tg.tensor([1, 2, 3]))),
    "lists as batches": lambda tg: list(tg.utils.data.DataLoader(numbers(tg), batch_sampler=[[1], [2, 3], []])),
    "tuples as batches": lambda tg: list(tg.utils.data.DataLoader(numbers(tg), batch_sampler=[(1, 2)])),
    "a promised length": lambda tg: _overrun(tg, 0),
    "a promised length with workers": lambda tg: _overrun(tg, 2),
    "own collation": own_collation,
    "sizes of tensors": lambda tg: tg.utils.data.TensorDataset(tg.ones(2), tg.ones(3)),
    "a dataset without items": lambda tg: tg.utils.data.Dataset()[0],
    "the sum of datasets": lambda tg: (numbers(tg, 2) + numbers(tg, 3)).cumulative_sizes,
    "the sum of streams": lambda tg: list(streaming(tg, 2) + streaming(tg, 3)),
    "length of the sum of streams": lambda tg: len(streaming(tg, 2) + streaming(tg, 3)),
    "a chain with a list": lambda tg: list(tg.utils.data.ChainDataset([streaming(tg, 1), [1]])),
    "concatenating nothing": lambda tg: tg.utils.data.ConcatDataset([]),
    "concatenating streams": lambda tg: tg.utils.data.ConcatDataset([streaming(tg, 1)]),
    "concatenation, too low": lambda tg: tg.utils.data.ConcatDataset([[1], [2]])[-3],
    "concatenation, too high": lambda tg: tg.utils.data.ConcatDataset([[1], [2]])[2],
    "the older name": lambda tg: tg.utils.data.ConcatDataset([[1], [2]]).cummulative_sizes,
    "stacking nothing": lambda tg: tg.utils.data.StackDataset(),
    "stacking both": lambda tg: tg.utils.data.StackDataset([1], a=[1]),
    "stacking lengths": lambda tg: tg.utils.data.StackDataset([1], [1, 2]),
    "a subset's method": lambda tg: part_of(tg, __getitem__=lambda self, i: 0),
    "a subset's methods": lambda tg: list(
        tg.utils.data.DataLoader(part_of(tg, __getitem__=lambda s, i: 0, __getitems__=lambda s, i: [7] * len(i)))
    ),
    "a subset of a list of indices": lambda tg: tg.utils.data.Subset(numbers(tg), [5, 6, 7])[[0, 2]],
    "split sum": lambda tg: tg.utils.data.random_split(range(5), [2, 2]),
    "split fraction": lambda tg: tg.utils.data.random_split(range(5), [1.5, -0.5]),
    "split, empty": lambda tg: [len(p) for p in tg.utils.data.random_split(range(2), [0.5, 0.4, 0.1])],
    "split, rounded": lambda tg: [len(p) for p in tg.utils.data.random_split(range(17), [0.3, 0.3, 0.4])],
    "replacement": lambda tg: tg.utils.data.RandomSampler([1], replacement=1),
    "number of samples": lambda tg: tg.utils.data.RandomSampler([1], num_samples=0),
    "sampling nothing": lambda tg: tg.utils.data.RandomSampler([]),
    "weights": lambda tg: tg.utils.data.WeightedRandomSampler([[1.0]], 1),
    "weights, number": lambda tg: tg.utils.data.WeightedRandomSampler([1.0], True),
    "weights, replacement": lambda tg: tg.utils.data.WeightedRandomSampler([1.0], 1, replacement=1),
    "batches, dropping": lambda tg: tg.utils.data.BatchSampler([1], 1, 0),
    "batches, size": lambda tg: tg.utils.data.BatchSampler([1], True, False),
    "length of batches": lambda tg: [
        len(tg.utils.data.BatchSampler(range(n), 3, dropping)) for n in (0, 3, 7) for dropping in (False, True)
    ],
    "rank": lambda tg: tg.utils.data.DistributedSampler([1], 2, 2),
    "sampler": lambda tg: iter(tg.utils.data.Sampler()),
    "no worker": lambda tg: tg.utils.data.get_worker_info(),
    "shares": lambda tg: [
        [*tg.utils.data.DistributedSampler(range(n), k, r, shuffle=False, drop_last=d)]
        for n in (1, 7, 9) for k in (1, 2, 4) for r in range(k) for d in (False, True) if n >= k or not d
    ],
    "shuffled shares": lambda tg: [_shuffled_share(tg, epoch) for epoch in (0, 1, 5)],
    "converted": lambda tg: [
        tg.utils.data.default_convert(make(tg)) for name, make in ITEMS.items() if name != "objects"
    ][:30],
}  # fmt: skip


def _shuffled_share(tg, epoch):
    sampler = tg.utils.data.DistributedSampler(range(10), 3, 1, seed=2)
    sampler.set_epoch(epoch)
    return list(sampler)


def _overrun(tg, workers):
    class Longer(tg.utils.data.IterableDataset):
        def __len__(self):
            return 2

        def __iter__(self):
            return iter(range(3))

        def __repr__(self):
            return "Longer()"

    loader = tg.utils.data.DataLoader(Longer(), batch_size=None, num_workers=workers)
    len(loader)
    return len(list(loader))


def make(tg):
    """All answers by name."""
    found = {f"epochs: {name}": epochs(tg, *of, 0) for name, of in EPOCHS.items()}
    found |= {f"epochs with workers: {name}": epochs(tg, *EPOCHS[name], 2) for name in WITH_WORKERS}
    found |= {f"workers: {name}": program(tg) for name, program in WORKERS.items()}
    found |= {
        f"collated: {name}": attempt(lambda items=items: tg.utils.data.default_collate(items(tg)))
        for name, items in ITEMS.items()
    }
    found |= {f"called: {name}": attempt(lambda call=call: call(tg)) for name, call in CALLS.items()}
    return found
