"""Loaders beside PyTorch's (stored; see expected/loaders.py): batches, orders, what every generator gives afterwards,
errors and warnings."""

import json

import pytest
from expected import loaders
from expected.compare import STORE

ANSWERS = json.loads((STORE / "loaders.json").read_text(encoding="utf-8"))


def as_stored(value):
    return json.loads(json.dumps(value))


def test_all_of_it_is_stored(tg):
    names = {f"epochs: {name}" for name in loaders.EPOCHS} | {f"workers: {name}" for name in loaders.WORKERS}
    names |= {f"collated: {name}" for name in loaders.ITEMS} | {f"called: {name}" for name in loaders.CALLS}
    assert names | {f"epochs with workers: {name}" for name in loaders.WITH_WORKERS} == ANSWERS.keys()
    assert len(names) > 200


@pytest.mark.parametrize("name", loaders.EPOCHS)
def test_epochs_and_what_they_draw(tg, name):
    assert as_stored(loaders.epochs(tg, *loaders.EPOCHS[name], 0)) == ANSWERS[f"epochs: {name}"]


@pytest.mark.parametrize("name", loaders.WITH_WORKERS)
def test_epochs_of_workers(tg, name):
    assert as_stored(loaders.epochs(tg, *loaders.EPOCHS[name], 2)) == ANSWERS[f"epochs with workers: {name}"]


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("name", loaders.WORKERS)
def test_what_workers_draw_and_stream(tg, name):
    assert as_stored(loaders.WORKERS[name](tg)) == ANSWERS[f"workers: {name}"]


def assert_answers(actual, expected):
    """Values are equal; an error's text begins as PyTorch's does, and may say more."""
    if isinstance(expected, str) and "Error: " in expected:
        assert isinstance(actual, str) and actual.startswith(expected)
    else:
        assert as_stored(actual) == expected


@pytest.mark.parametrize("name", loaders.ITEMS)
def test_collation(tg, name):
    items = loaders.ITEMS[name]
    assert_answers(loaders.attempt(lambda: tg.utils.data.default_collate(items(tg))), ANSWERS[f"collated: {name}"])


@pytest.mark.parametrize("name", loaders.CALLS)
def test_what_is_refused_and_warned_of(tg, name):
    assert_answers(loaders.attempt(lambda: loaders.CALLS[name](tg)), ANSWERS[f"called: {name}"])
