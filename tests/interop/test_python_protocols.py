"""Tensors in the standard library's hands: data classes, caches, dispatch, logging, JSON, sorting."""

import collections
import dataclasses
import functools
import inspect
import io
import json
import logging
import sys
import weakref

import pytest


@dataclasses.dataclass
class Pair:
    first: object
    second: object


def test_data_classes(tg):
    v = tg.tensor([1.0, 2.0])
    if sys.version_info < (3, 13):  # which compares the fields as tuples are compared: first by identity
        assert Pair(v, 1) == Pair(v, 1)
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        Pair(v, 1) == Pair(v.clone(), 1)  # noqa: B015
    assert dataclasses.replace(Pair(v, 1), second=2).first is v and dataclasses.asdict(Pair(v, 1))["first"] is not v
    assert repr(Pair(v, 1)) == "Pair(first=tensor([1., 2.]), second=1)"


def test_caches_and_dispatch(tg):
    calls = []

    @functools.lru_cache
    def cached(x):
        calls.append(x)
        return len(calls)

    v = tg.ones(2)
    assert cached(v) == cached(v) == 1 and cached(v.clone()) == 2
    assert {v: 1}[v] == 1 and len(weakref.WeakKeyDictionary({v: 1})) == 1

    @functools.singledispatch
    def kind(x):
        return "object"

    kind.register(tg.Tensor)(lambda x: "tensor")
    assert [kind(v), kind(tg.nn.Parameter(v)), kind(1)] == ["tensor", "tensor", "object"]
    assert functools.partial(tg.sum, dim=0)(v).item() == functools.reduce(tg.add, v).item() == 2


def test_equality_in_containers(tg):
    v, w = tg.ones(2), tg.ones(2)
    assert v in [v] and [v, 1].index(v) == 0 and {"a": v} == {"a": v}
    for ask in (lambda: v in [w], lambda: [w, v].index(v), lambda: {"a": v} == {"a": w}, lambda: bool(v == w)):
        with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
            ask()
    with pytest.raises(RuntimeError, match="ambiguous"):
        assert v == w


def test_logging_json_and_sorting(tg):
    v, stream = tg.tensor([3.0, 1.0, 2.0]), io.StringIO()
    logger = logging.Logger("tensors")
    logger.addHandler(logging.StreamHandler(stream))
    logger.info("%s %.2f %d", v, v[0], v[1])
    assert stream.getvalue() == "tensor([3., 1., 2.]) 3.00 1\n"
    assert json.dumps({"loss": v[0].item(), "all": v.tolist()}) == '{"loss": 3.0, "all": [3.0, 1.0, 2.0]}'
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(v)
    assert [x.item() for x in sorted(v)] == [1, 2, 3] and max([v, v * 2], key=lambda x: x.sum()).sum() == 12
    assert sum([v, v]).tolist() == [6, 2, 4] and [len(group) for group in zip(*[v, v], strict=True)] == [2, 2, 2]
    assert collections.Counter(v.tolist())[1.0] == 1 and v[0] == pytest.approx(3.0)


def test_signatures(tg):
    without = []
    for module in (tg, tg.nn, tg.nn.functional, tg.optim, tg.linalg, tg.fft, tg.special):
        for name, value in vars(module).items():
            if name[:1] != "_" and (inspect.isfunction(value) or inspect.isclass(value)):
                try:
                    inspect.signature(value)
                except ValueError:
                    without.append(name)
    assert [name for name in without if name not in ("Tensor", "dtype", "LinAlgError")] == []
