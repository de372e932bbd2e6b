"""Counting the references of many objects at once agrees with asking for them one by one."""

import numpy as np
import pytest

from tracegrad.runtime import references
from tracegrad.runtime.references import ReferenceCounts


@pytest.fixture(params=["_by_address", "_one_by_one"])
def counts(request, monkeypatch):
    """ReferenceCounts in both of its ways."""
    monkeypatch.setattr(references, "_comparing", getattr(references, request.param))
    return ReferenceCounts


def test_cpython_counts_by_address():
    assert references._comparing is references._by_address


def test_words_of_dicts_are_known_on_all_supported_versions():
    """Without them a guarded call takes a hundred times as long."""
    assert references.memory is not None and references.versions_are_known
    assert len(references._slots) == 5


@pytest.mark.parametrize("make", [object, lambda: np.zeros(3), list], ids=["object", "array", "list"])
def test_a_reference_more_or_less_is_noticed(counts, make):
    tuples = [tuple(make() for _ in range(3)) for _ in range(50)]
    known = counts(tuples, [1] * 150)
    assert known.agree()
    another = tuples[17][1]
    assert not known.agree()
    del another
    assert known.agree()
    inside = [tuples[0][0], tuples[0][0]]
    with_two_more = counts(tuples, [3, *[1] * 149])
    assert with_two_more.agree() and not known.agree()
    inside.clear()
    assert known.agree() and not with_two_more.agree()


def test_objects_are_kept_alive(counts):
    known = counts([(np.zeros(1000),)], [1])
    assert known.agree()
    others = [np.ones(1000) for _ in range(20)]
    assert known.agree() and len(others) == 20


def test_a_view_counts_for_the_owner_of_the_memory(counts):
    owner = np.zeros(8)
    kept = (owner,)
    known = counts([kept], [2])  # the variable and the tuple
    assert known.agree()
    view = owner[2:4]
    assert not known.agree() and view.base is owner


def test_nothing_to_count(counts):
    assert counts([], []).agree()
