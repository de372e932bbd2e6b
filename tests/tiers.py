"""The tiers of tests (README.md): which tests a run makes, of families a sample.

A test that the run does not ask for is left out before pytest makes an object of it: of 70,000 these take as long as
all the imports.
"""

import zlib
from collections import Counter

import pytest

FAST, LONG, EXHAUSTIVE = range(3)
LARGE, HUGE = 10, 30  # tests of one function
#: What is fast of a LARGE and of a HUGE family without a marker, in 48ths: a twelfth and a 48th.
FAST_OF_48 = (4, 1)
#: What is long: a sixth and a 16th; the rest is exhaustive.
LONG_OF_48 = (8, 3)
MET = Counter()  # tests met so far, by family
FUNCTIONS = set()  # those of which a test was met
LEFT_OUT = set()  # ids of tests that stand for functions of which nothing is asked


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run the tests that take minutes, and no others")
    parser.addoption("--exhaustive", action="store_true", help="run all of them, which takes hours: no sample of any")


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Leaves to a function those of its parameters that the tier asks for; all where one is asked for by its name."""
    yield
    calls, config, test = metafunc._calls, metafunc.config, metafunc.definition
    if any("[" in asked for asked in config.args):
        return
    marker = next(test.iter_markers_with_node("long"), None)
    ids = [f"{test.nodeid}[{call.id}]" for call in calls] or [test.nodeid]
    own = [(next((mark for mark in call.marks if mark.name == "long"), None)) for call in calls] or [None]
    places = [tier_of(id, mark, marker, len(ids)) for id, mark in zip(ids, own, strict=True)]
    chosen = [i for i, place in enumerate(places) if is_asked(config, place, own[i] or marker)]
    if not chosen:  # without any call there would be a test without parameters
        LEFT_OUT.add(ids[0])
    if calls:
        metafunc._calls[:] = [calls[i] for i in chosen or [0]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """What stands for functions of which nothing is asked goes, before others order what is left."""
    left_out = [item for item in items if item.nodeid in LEFT_OUT]
    items[:] = [item for item in items if item.nodeid not in LEFT_OUT]
    config.hook.pytest_deselected(items=left_out)


def is_asked(config, place, is_marked):
    """Whether this run makes a test of a tier."""
    if config.getoption("--exhaustive"):
        return is_marked or place != FAST
    return place == int(config.getoption("--long"))


def tier_of(id, own, marker, size):
    """Where a test belongs that has a marker of its own, or one on its function, class or file, or neither; its
    function has `size` tests."""
    function = id.partition("[")[0]
    family = marker[0].nodeid.partition("[")[0] if marker and not own else function
    met, mark, is_first = MET[family], own or (marker and marker[1]), function not in FUNCTIONS
    MET[family] += 1
    FUNCTIONS.add(function)
    return tier(id, met, size, is_first, **mark.kwargs) if mark else tier_by_size(id, size, is_first)


def tier_by_size(id, size, is_first):
    """Where a test of a family without a marker belongs, which has `size` tests: as if drawn, so that each parameter
    occurs with each of its values, whatever their order; and the same tests each time."""
    if size < LARGE or is_first or number_of(id) < FAST_OF_48[size >= HUGE]:
        return FAST
    return LONG if is_drawn(id, size) else EXHAUSTIVE


def number_of(id):
    return zlib.crc32(id.encode()) % 48


def is_drawn(id, size):
    """Whether a test is in the long tier that is not fast, of a function that has `size` tests."""
    fast, long = FAST_OF_48[size >= HUGE], LONG_OF_48[size >= HUGE]
    return size < LARGE or fast <= number_of(id) < fast + long


def tier(id, place, size, is_first, fast=0, every=1, by_size=False):
    """Where a test belongs that is number `place` of a family marked ``long(fast=..., every=..., by_size=...)``, and
    one of `size` of its function, or the first of these."""
    if fast and (place == 0 if fast == "first" else place % fast == 0):
        return FAST
    if fast:
        place -= 1 if fast == "first" else place // fast + 1  # among those that are not fast
    return LONG if place % every == 0 and (not by_size or is_first or is_drawn(id, size)) else EXHAUSTIVE
