"""TensorDataset, DataLoader, samplers and splits; shuffled orders are PyTorch's (stored; see expected/loading.py)."""

import json

import numpy as np
import pytest
from expected.compare import STORE
from expected.loading import CASES, numbers, order

ORDERS = json.loads((STORE / "loading.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_order(tg, case):
    assert case(tg) == ORDERS[case.__name__]


def test_tensor_dataset(tg):
    x, y = tg.arange(6.0).view(3, 2), tg.tensor([0, 1, 2])
    dataset = tg.utils.data.TensorDataset(x, y)
    assert len(dataset) == 3 and [t.tolist() for t in dataset[1]] == [[2.0, 3.0], 1] and dataset.tensors[0] is x
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        tg.utils.data.TensorDataset(x, tg.zeros(2))


def test_batches(tg):
    dataset = tg.utils.data.TensorDataset(tg.arange(10.0).view(5, 2), tg.arange(5))
    loader = tg.utils.data.DataLoader(dataset, batch_size=2)
    batches = list(loader)
    assert len(loader) == len(batches) == 3 and isinstance(batches[0], list)
    assert [tuple(x.shape) for x, _ in batches] == [(2, 2), (2, 2), (1, 2)] and batches[2][1].tolist() == [4]
    assert loader.dataset is dataset and loader.batch_size == 2


def test_drop_last(tg):
    loader = tg.utils.data.DataLoader(numbers(tg, 10), batch_size=4, drop_last=True)
    assert len(loader) == 2 and order(loader) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_every_epoch_starts_again_and_shuffles_again(tg):
    loader = tg.utils.data.DataLoader(numbers(tg), batch_size=12, shuffle=True)
    first, second = order(loader)[0], order(loader)[0]
    assert sorted(first) == sorted(second) == list(range(12)) and first != second


@pytest.mark.parametrize(
    "items, expected",
    [
        ([1, 2], "tensor([1, 2])"),
        ([1.0, 2.5], "tensor([1.0000, 2.5000], dtype=float64)"),
        (["a", "b"], "['a', 'b']"),
        ([(1, 2.0), (3, 4.0)], "[tensor([1, 3]), tensor([2., 4.], dtype=float64)]"),
        ([{"k": 1}, {"k": 2}], "{'k': tensor([1, 2])}"),
        ([np.float32(1), np.float32(2)], "tensor([1., 2.])"),
        ([np.zeros(2, dtype=np.float32)] * 2, "tensor([[0., 0.],\n        [0., 0.]])"),
        ([[1, 2], [3, 4]], "[tensor([1, 3]), tensor([2, 4])]"),
        ([(np.int64(1), "x"), (np.int64(2), "y")], "[tensor([1, 2]), ('x', 'y')]"),
    ],
)
def test_default_collation(tg, items, expected):
    (batch,) = tg.utils.data.DataLoader(items, batch_size=2)
    assert repr(batch).replace(f"{tg.__name__}.", "") == expected


def test_own_collation(tg):
    loader = tg.utils.data.DataLoader([[1], [2, 3], [4]], batch_size=2, collate_fn=lambda items: sum(items, []))
    assert list(loader) == [[1, 2, 3], [4]]


def test_without_batching(tg):
    loader = tg.utils.data.DataLoader(numbers(tg, 3), batch_size=None)
    assert [item[0].tolist() for item in loader] == [0, 1, 2]


def test_own_dataset_and_samplers(tg):
    class Squares(tg.utils.data.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return index * index

    data = tg.utils.data
    assert [batch.tolist() for batch in data.DataLoader(Squares(), batch_size=3)] == [[0, 1, 4], [9, 16]]
    assert [batch.tolist() for batch in data.DataLoader(Squares(), batch_size=2, sampler=[4, 0, 2])] == [[16, 0], [4]]
    batches = data.BatchSampler(data.SequentialSampler(Squares()), batch_size=2, drop_last=False)
    assert list(batches) == [[0, 1], [2, 3], [4]] and len(batches) == 3
    assert [batch.tolist() for batch in data.DataLoader(Squares(), batch_sampler=batches)] == [[0, 1], [4, 9], [16]]
    assert len(data.ConcatDataset([Squares(), Squares()])) == 10


def test_subset(tg):
    subset = tg.utils.data.Subset(numbers(tg), [3, 5])
    assert len(subset) == 2 and subset[1][0].item() == 5 and len(tg.utils.data.Subset(subset, [0])) == 1


def test_iterable_dataset(tg):
    class Stream(tg.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    assert [batch.tolist() for batch in tg.utils.data.DataLoader(Stream(), batch_size=2)] == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize(
    "options, phrase",
    [
        ({"shuffle": True, "sampler": [0]}, "sampler option is mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive with batch_size"),
        ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
        ({"num_workers": -1}, "num_workers option should be non-negative"),
    ],
)
def test_options_that_exclude_each_other(tg, options, phrase):
    with pytest.raises(ValueError, match=phrase):
        list(tg.utils.data.DataLoader(numbers(tg), **options))


def test_shuffling_nothing(tg):
    assert list(tg.utils.data.DataLoader(numbers(tg, 0))) == []


def test_split_lengths_must_add_up(tg):
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset"):
        tg.utils.data.random_split(numbers(tg, 10), [5, 4])
