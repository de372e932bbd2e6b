"""Containers that another thread, or a signal handler, changes while their items are read for a guard."""

from collections import Counter, OrderedDict, defaultdict, deque

import pytest

from tracegrad.compiled.guards import states
from tracegrad.compiled.guards.value_kinds import CONTAINERS, items_of

FULL = {
    "list": lambda: [1, 2, 3],
    "tuple": lambda: (1, 2, 3),
    "dict": lambda: {1: 1, 2: 2, 3: 3},
    "OrderedDict": lambda: OrderedDict({1: 1, 2: 2, 3: 3}),
    "defaultdict": lambda: defaultdict(int, {1: 1, 2: 2, 3: 3}),
    "Counter": lambda: Counter({1: 1, 2: 2, 3: 3}),
    "set": lambda: {1, 2, 3},
    "frozenset": lambda: frozenset({1, 2, 3}),
    "deque": lambda: deque([1, 2, 3]),
}
CHANGES = {
    "grows": lambda each: each.update({4: 4}) if hasattr(each, "update") else each.append(4),
    "is emptied": lambda each: each.clear(),
}


def test_every_kind_of_container_is_here():
    assert all(any(isinstance(make(), kind) for make in FULL.values()) for kind in CONTAINERS)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", [name for name, make in FULL.items() if hasattr(make(), "clear")])
def test_what_is_read_is_what_was_there(name, change):
    container = FULL[name]()
    expected = list(items_of(container))
    items = items_of(container)
    first = next(items)
    CHANGES[change](container)
    assert [first, *items] == expected


@pytest.mark.parametrize("name", ["dict", "OrderedDict", "defaultdict", "Counter", "set", "deque"])
def test_a_state_is_taken_while_it_changes(name, monkeypatch):
    container = FULL[name]()
    exact = states.exact

    def changing(value):
        """What is asked of each number, while which another thread might change the container."""
        CHANGES["grows"](container)
        return exact(value)

    monkeypatch.setattr(states, "exact", changing)
    assert states.state(container)[0] is type(container)
    assert 4 in container
