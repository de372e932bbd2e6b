"""What is made anew counts as no change, since no guard knows it; what is known by then does."""

import copy

import pytest

from tracegrad.tracing.counts import changes

MADE = {
    "a parameter": lambda tg, model: tg.nn.Parameter(tg.ones(2)),
    "a copy of a parameter": lambda tg, model: copy.deepcopy(model.weight),
    "a copy of a model": lambda tg, model: copy.deepcopy(model),
    "SGD": lambda tg, model: tg.optim.SGD(model.parameters(), lr=0.1),
    "Adam of groups": lambda tg, model: tg.optim.Adam([{"params": [p], "lr": 0.1} for p in model.parameters()]),
    "AdamW of names": lambda tg, model: tg.optim.AdamW(model.named_parameters()),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_made_counts_as_no_change(tg, make):
    model = tg.nn.Linear(2, 2)
    before = changes.count
    make(tg, model)
    assert changes.count == before


def reader_of(tg, optimizer):
    """A compiled function that asks how many groups there are, and what their rates are."""

    @tg.compile
    def read(x):
        groups = optimizer.param_groups if hasattr(optimizer, "param_groups") else []
        return x * (10 + len(groups)) + sum(group["lr"] for group in groups)

    return read


def test_an_optimizer_that_is_made_again_is_another_one(tg):
    weight = tg.nn.Parameter(tg.ones(2))
    optimizer = tg.optim.SGD([weight], lr=0.5)
    read = reader_of(tg, optimizer)
    assert [read(tg.ones(1)).item() for _ in range(3)] == [11.5] * 3
    optimizer.__init__([{"params": [weight]}, {"params": [tg.nn.Parameter(tg.ones(1))]}], lr=0.25)
    assert [read(tg.ones(1)).item() for _ in range(3)] == [12.5] * 3
    optimizer.param_groups[1]["lr"] = 1.25
    assert read(tg.ones(1)).item() == 13.5


def test_an_optimizer_is_looked_at_while_it_is_made(tg):
    """A compiled function that is called before, within and after `__init__` sees the groups of that moment."""
    seen = []

    class Looking(tg.optim.SGD):
        def add_param_group(self, group):
            seen.append([read(tg.ones(1)).item() for _ in range(2)])
            super().add_param_group(group)
            seen.append([read(tg.ones(1)).item() for _ in range(2)])

    optimizer = Looking.__new__(Looking)
    read = reader_of(tg, optimizer)
    seen.append([read(tg.ones(1)).item() for _ in range(2)])
    optimizer.__init__([{"params": [tg.nn.Parameter(tg.ones(1))], "lr": rate} for rate in (0.5, 0.25)])
    seen.append([read(tg.ones(1)).item() for _ in range(2)])
    assert seen == [[value] * 2 for value in (10, 10, 11.5, 11.5, 12.75, 12.75)]


def test_an_optimizer_whose_making_fails_is_looked_at_each_time(tg):
    optimizer = tg.optim.SGD.__new__(tg.optim.SGD)
    read = reader_of(tg, optimizer)
    found = [read(tg.ones(1)).item()]
    with pytest.raises(TypeError):
        optimizer.__init__([tg.nn.Parameter(tg.ones(1)), "no tensor"])
    found += [read(tg.ones(1)).item() for _ in range(2)]
    with pytest.raises(ValueError, match="empty"):
        optimizer.__init__([])
    optimizer.add_param_group({"params": [tg.nn.Parameter(tg.ones(1))], "lr": 0.5})
    found += [read(tg.ones(1)).item() for _ in range(2)]
    assert found == [10, 10, 10, 11.5, 11.5]
