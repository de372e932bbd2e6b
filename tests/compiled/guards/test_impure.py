"""Functions of Python's library and numpy that do not only compute, and what libraries keep that a step reads."""

import decimal
import functools
import gc
import hashlib
import itertools
import json
import math
import operator
import re
import resource
import statistics
import sys
import threading
import tracemalloc
import warnings
from collections import Counter, OrderedDict, deque

import numpy as np
import pytest

import tracegrad

W = tracegrad.ones(2)
IMPURE = {
    "threading.get_ident": lambda: threading.get_ident() % 7,
    "threading.active_count": lambda: threading.active_count(),
    "threading.current_thread": lambda: len(threading.current_thread().name),
    "Tensor.data_ptr": lambda: W.data_ptr() % 7,
    "id": lambda: id(W) % 7,
    "hash of an object": lambda: hash(object()) % 7,
    "sys.getrecursionlimit": lambda: sys.getrecursionlimit(),
    "sys.getrefcount": lambda: sys.getrefcount(W),
    "sys.getsizeof": lambda: sys.getsizeof([]),
    "sys.getswitchinterval": lambda: sys.getswitchinterval(),
    "resource.getrusage": lambda: resource.getrusage(resource.RUSAGE_SELF).ru_utime,
    "gc.get_count": lambda: gc.get_count()[0],
    "gc.isenabled": lambda: gc.isenabled(),
    "tracemalloc.is_tracing": lambda: tracemalloc.is_tracing(),
    "np.get_printoptions": lambda: np.get_printoptions()["precision"],
    "np.geterr": lambda: len(np.geterr()["divide"]),
    "object.__subclasses__": lambda: len(Exception.__subclasses__()),
    "warnings.catch_warnings": lambda: len(warnings.catch_warnings().__class__.__name__),
}
PURE = {
    "math": lambda: math.sqrt(2) + math.floor(2.5),
    "cut": lambda: round(abs(min(3, max(1, 2.7))), 1),
    "list": lambda: sum(sorted(zip(range(3), map(float, [3, 1, 2]), strict=True))[0]),
    "str": lambda: len("a-b".split("-")) + len(" x ".strip().join(["a", "b"])) + "abc".find("c"),
    "dict": lambda: len(dict.fromkeys("ab")) + {"a": 1}.get("a") + len(OrderedDict(a=1).items()),
    "operator": lambda: operator.add(1, 2) + functools.reduce(operator.mul, [1, 2, 3]),
    "itertools": lambda: len(list(itertools.chain([1], itertools.islice(itertools.repeat(2), 2)))),
    "collections": lambda: Counter("aab")["a"] + deque([1, 2]).pop(),
    "re": lambda: int(re.match(r"\d+", "12a").group()),
    "json": lambda: json.loads("[1]")[0],
    "hashlib": lambda: hashlib.sha256(b"a").digest()[0],
    "statistics": lambda: statistics.mean([1.0, 2.0]),
    "decimal": lambda: float(decimal.Decimal("1.5").sqrt()),
    "numpy": lambda: float(np.array([1.0, 2.0]).mean() + np.sqrt(2.0) + np.prod((2, 3)) + np.clip(3, 0, 2)),
    "hash of a text": lambda: Key("a") == Key("a") and len({Key("a"), Key("a")}),
}


class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


def way_of(read):
    step = tracegrad.compile(lambda x: x * float(read()))
    for _ in range(4):
        step(tracegrad.ones(2))
    return step.way


@pytest.mark.parametrize("name", IMPURE)
def test_what_may_answer_otherwise_is_asked_at_each_call(name):
    assert way_of(IMPURE[name]) in ("re-record", "eager")  # eager: what can reach other threads


@pytest.mark.parametrize("name", PURE)
def test_what_only_computes_is_replayed(name):
    assert way_of(PURE[name]) == "replay"


def test_the_line_is_named():
    step = tracegrad.compile(lambda x: x * sys.getrecursionlimit())
    for _ in range(3):
        step(tracegrad.ones(2))
    assert re.search(r"sys.getrecursionlimit\(\)[^\n]*\n *at [^\n]*test_impure.py:\d+", step.explain())


def appended(items, item):
    items.append(item)
    return items.pop


KEPT = {
    "sys.argv": (lambda: len(sys.argv), lambda: appended(sys.argv, "--more")),
    "sys.path": (lambda: len(sys.path), lambda: appended(sys.path, "/nowhere")),
    "warnings.filters": (
        lambda: len(warnings.filters), lambda: appended(warnings.filters, ("ignore", None, Warning, None, 0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_libraries_keep_is_compared(name):
    read, change = KEPT[name]
    step, x = tracegrad.compile(lambda x: x * float(read())), tracegrad.ones(1)
    before = [step(x).item() for _ in range(3)]
    assert before == [read()] * 3 and step.way == "replay"
    undo = change()
    try:
        assert [step(x).item() for _ in range(3)] == [read()] * 3 != before
    finally:
        undo()
    assert [step(x).item() for _ in range(3)] == before


@pytest.mark.parametrize("read", [lambda: decimal.getcontext().prec, lambda: decimal.Decimal(1) / 3 * 1000])
def test_the_context_of_decimals_is_compared(read):
    step, x = tracegrad.compile(lambda x: x * float(read())), tracegrad.ones(1, dtype=tracegrad.float64)
    before = [step(x).item() for _ in range(3)]
    assert before == [float(read())] * 3 and step.way == "replay"
    with decimal.localcontext() as context:
        context.prec = 4
        assert [step(x).item() for _ in range(3)] == [float(read())] * 3 != before
    assert [step(x).item() for _ in range(3)] == before
