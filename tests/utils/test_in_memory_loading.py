"""Batches of a TensorDataset are gathered together: the rows, their order and what is drawn are as one by one."""

import itertools

import pytest

BATCH_SIZES, SIZES = (1, 4, 5), (1, 4, 11)
SAMPLERS = {
    "in order": lambda data, dataset, g: data.SequentialSampler(dataset),
    "shuffled": lambda data, dataset, g: data.RandomSampler(dataset),
    "own generator": lambda data, dataset, g: data.RandomSampler(dataset, generator=g),
    "fewer": lambda data, dataset, g: data.RandomSampler(dataset, num_samples=max(1, len(dataset) // 2), generator=g),
    "more": lambda data, dataset, g: data.RandomSampler(dataset, num_samples=2 * len(dataset) + 1, generator=g),
    "replacement": lambda data, dataset, g: data.RandomSampler(dataset, True, 70, generator=g),
}


def dataset_of(tg, size):
    return tg.utils.data.TensorDataset(tg.arange(size * 2.0).reshape(size, 2), tg.arange(size), tg.ones(size, 1, 2))


def epochs(tg, size, batch_size, drop_last, sampler, **options):
    """Two epochs, and the numbers that each generator gives in between and afterwards."""
    tg.manual_seed(7)
    own = tg.Generator().manual_seed(8)
    dataset = dataset_of(tg, size)
    loader = tg.utils.data.DataLoader(
        dataset, batch_size, sampler=SAMPLERS[sampler](tg.utils.data, dataset, own), drop_last=drop_last, **options
    )
    seen = []
    for _ in range(2):
        for batch in loader:
            seen.append(([t.tolist() for t in batch], [str(t.dtype) for t in batch], tg.rand(1).item()))
        seen.append((tg.rand(1).item(), tg.rand(1, generator=own).item()))
    return seen


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_all_is_as_with_a_collation_of_ones_own(tg, sampler):
    own = tg.utils.data.default_collate
    for size, batch_size, drop_last in itertools.product(SIZES, BATCH_SIZES, (False, True)):
        if drop_last and batch_size > size:
            continue
        together = epochs(tg, size, batch_size, drop_last, sampler)
        assert together == epochs(tg, size, batch_size, drop_last, sampler, collate_fn=lambda rows: own(rows))


@pytest.mark.parametrize("method", ["__getitem__", "__getitems__"])
def test_a_dataset_whose_method_is_replaced_is_asked(tg, method, monkeypatch):
    kind, before = tg.utils.data.TensorDataset, tg.utils.data.TensorDataset.__getitem__
    asked = []

    def row(self, index):
        asked.append(index)
        return before(self, index)

    replaced = row if method == "__getitem__" else lambda self, indices: [row(self, i) for i in indices]
    monkeypatch.setattr(kind, method, replaced, raising=False)
    batches = list(tg.utils.data.DataLoader(dataset_of(tg, 4), batch_size=2))
    assert asked == [0, 1, 2, 3] and batches[1][1].tolist() == [2, 3]


def test_a_sampler_whose_method_is_replaced_is_asked(tg, monkeypatch):
    monkeypatch.setattr(tg.utils.data.SequentialSampler, "__iter__", lambda self: iter([3, 1]))
    (batch,) = tg.utils.data.DataLoader(dataset_of(tg, 4), batch_size=2)
    assert batch[1].tolist() == [3, 1]


def test_rows_are_those_that_the_tensors_have_when_a_batch_is_taken(tg):
    dataset = dataset_of(tg, 6)
    seen = []
    for x, y, _ in tg.utils.data.DataLoader(dataset, batch_size=2):
        seen.append((x.tolist(), y.tolist()))
        dataset.tensors[0].mul_(2.0)
        x.zero_()
    assert seen == [([[0, 1], [2, 3]], [0, 1]), ([[8, 10], [12, 14]], [2, 3]), ([[32, 36], [40, 44]], [4, 5])]


def test_batches_of_rows_that_require_gradients_lead_there(tg):
    w = tg.ones(4, 2, requires_grad=True)
    for (batch,) in tg.utils.data.DataLoader(tg.utils.data.TensorDataset(w), batch_size=3):
        batch.sum().backward()
    assert w.grad.tolist() == [[1, 1]] * 4
