"""The usual call with arguments that are no tensors by position: keywords, containers, objects, plain values."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import pytest

from tracegrad.compiled.replay.fast_path import MISS
from tracegrad.compiled.replay.structured_calls import StructuredCall

Pair = namedtuple("Pair", ["x", "y"])


@dataclass
class Record:
    x: object
    y: object
    weight: float = 1.0


class Named(dict):
    """A dict of the program's own."""


# A call as (args, kwargs) of two tensors, and the function that takes it.
FORMS = {
    "keywords": (lambda x, y: ((), {"x": x, "y": y}), lambda x, y: (x * y).sum()),
    "one keyword": (lambda x, y: ((x,), {"y": y}), lambda x, y: (x * y).sum()),
    "a tuple": (lambda x, y: (((x, y),), {}), lambda batch: (batch[0] * batch[1]).sum()),
    "a list": (lambda x, y: (([x, y],), {}), lambda batch: (batch[0] * batch[1]).sum()),
    "a dict": (lambda x, y: (({"x": x, "y": y},), {}), lambda batch: (batch["x"] * batch["y"]).sum()),
    "an ordered dict": (
        lambda x, y: ((OrderedDict(x=x, y=y),), {}),
        lambda batch: sum((v * v).sum() for v in batch.values()),
    ),
    "a named tuple": (lambda x, y: ((Pair(x, y),), {}), lambda batch: (batch[0] * batch[1]).sum()),
    "nested": (lambda x, y: (([{"x": x}, (y, None)],), {}), lambda b: (b[0]["x"] * b[1][0]).sum()),
    "a string": (lambda x, y: ((x, "mean"), {"y": y}), lambda x, how, y: getattr(x * y, how)()),
    "flags": (lambda x, y: ((x, True, None), {"y": y}), lambda x, on, other, y: (x * y).sum() if on else x.sum()),
    "a dataclass": (lambda x, y: ((Record(x, y),), {}), lambda r: (r.x * r.y).sum() * r.weight),
    "what is read": (
        lambda x, y: (({"id": str(x.sum().item()), "x": x, "y": y},), {}),
        lambda batch: (batch["x"] * batch["y"]).sum(),
    ),
}


def data(tg, i, shape=(3,)):
    return tg.full(shape, 1.0 + i), tg.full(shape, 2.0 + i)


def warmed(tg, name):
    make, function = FORMS[name]
    step = tg.compile(function)
    for i in range(8):
        args, kwargs = make(*data(tg, i))
        step(*args, **kwargs)
    return make, function, step


@pytest.mark.parametrize("name", FORMS)
def test_calls_are_usual(tg, name):
    make, function, step = warmed(tg, name)
    assert isinstance(step._usual, StructuredCall)
    args, kwargs = make(*data(tg, 20))
    served = step._usual(args, kwargs)
    assert served is not MISS and served.item() == function(*args, **kwargs).item()
    assert step(*args, **kwargs).item() == served.item() and step.way == "replay"


def other_calls(tg, args, kwargs):
    """Calls that are like this one but for one thing, in each container."""
    yield (*args, 1), kwargs
    yield args, {**kwargs, "another": 1}
    for place, tree in [*enumerate(args), *kwargs.items()]:
        for other in others(tg, tree):
            if isinstance(place, int):
                yield (*args[:place], other, *args[place + 1 :]), kwargs
            else:
                yield args, {**kwargs, place: other}


def others(tg, tree):
    if isinstance(tree, tg.Tensor):
        yield from (tree.double(), tree[:2], tree.reshape(3, 1), tree.clone().requires_grad_(), None, 2.0, [tree])
        yield tg.stack([tree, tree], 1)[:, 0]
    elif isinstance(tree, (list, tuple)):
        remade = (lambda items: type(tree)(*items)) if hasattr(tree, "_fields") else type(tree)
        if not hasattr(tree, "_fields"):
            yield remade([*tree, tree[0]])
        yield [*tree] if isinstance(tree, tuple) else tuple(tree)
        for i, item in enumerate(tree):
            for other in others(tg, item):
                yield remade([*tree[:i], other, *tree[i + 1 :]])
    elif isinstance(tree, dict):
        yield type(tree)(reversed(tree.items()))
        yield type(tree)(tree, another=1.0)
        yield defaultdict(list, tree)
        yield Named(tree)
        for key, item in tree.items():
            for other in others(tg, item):
                yield type(tree)({**tree, key: other})
    elif isinstance(tree, Record):
        yield Record(tree.x, tree.y, 3.0)
        yield Record(tree.x, tree.y, 3)
        yield from (Record(other, tree.y) for other in others(tg, tree.x))
    else:
        yield from ("sum", False, True, None, 1, 1.0, 0)


def outcome(function, args, kwargs):
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__
    return result.dtype, result.requires_grad, result.tolist()


@pytest.mark.parametrize("name", FORMS)
def test_what_is_otherwise_is_told_apart(tg, name):
    """After each other call the usual one is made once more, so that both are asked again and again."""
    make, function, _ = warmed(tg, name)
    args, kwargs = make(*data(tg, 30))
    for other in other_calls(tg, args, kwargs):
        _, _, step = warmed(tg, name)
        for call in (other, (args, kwargs), other):
            assert outcome(step, *call) == outcome(function, *call)


def test_numbers_in_containers_are_data(tg):
    step = tg.compile(lambda batch, scale: (batch["x"] * batch["weight"]).sum() * scale)
    for i in range(20):
        x, weight, scale = tg.ones(3), 1.0 + i, 0.5 * i
        assert step({"x": x, "weight": weight}, scale=scale).item() == pytest.approx(3 * weight * scale)
    assert isinstance(step._usual, StructuredCall) and len(step.specialisations) <= 3
    assert step._usual(({"x": tg.ones(3), "weight": 2.0},), {"scale": 3.0}).item() == 18.0
    assert step._usual(({"x": tg.ones(3), "weight": 2},), {"scale": 3.0}) is MISS


def test_what_is_returned_of_the_arguments_is_that_of_the_call(tg):
    step = tg.compile(lambda *, batch: {"double": batch["x"] * 2, "same": batch["x"], "y": [batch["y"]]})
    for i in range(8):
        x, y = data(tg, i)
        out = step(batch={"x": x, "y": y})
        assert out["same"] is x and out["y"][0] is y and out["double"].tolist() == (x * 2).tolist()
    assert step.way == "replay"


def test_arguments_that_share_memory_with_what_is_written(tg):
    """The usual call asks for memory of arguments, as with arguments by position."""
    w = tg.zeros(3)

    def function(*, x):
        w.add_(1.0)
        return x * 2

    step = tg.compile(function)
    for _ in range(8):
        step(x=tg.ones(3))
    assert isinstance(step._usual, StructuredCall)
    for x in (w, w[:], w.detach()):
        before = w.clone()
        assert step(x=x).tolist() == ((before + 1) * 2).tolist()


def test_many_steps_go_on_one_by_one(tg):
    step = tg.compile(lambda batch: batch["x"].sum())
    batches = [({"x": tg.full((3,), 1.0 * i)},) for i in range(12)]
    for batch in batches:
        step(*batch)
    assert step.run(batches).tolist() == [3.0 * i for i in range(12)]
