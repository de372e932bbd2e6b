"""Arguments without a leaf: empty containers, by themselves and within others, made anew at each call."""

import pytest

MADE = {
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "list in list": lambda: [[]],
    "list in dict": lambda: {"a": []},
    "tuple beside a number": lambda: [(), 1.0],
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("order", ["first", "last", "by name"])
def test_calls_with_empty_containers_are_replayed(tg, kind, order):
    step = tg.compile(
        {
            "first": lambda extra, x: x * 2 + len(extra),
            "last": lambda x, extra: x * 2 + len(extra),
            "by name": lambda x, *, extra: x * 2 + len(extra),
        }[order]
    )
    for i in range(4):
        x, extra = tg.full((2,), float(i)), MADE[kind]()
        arguments = {"first": (extra, x), "last": (x, extra), "by name": (x,)}[order]
        result = step(*arguments, **({"extra": extra} if order == "by name" else {}))
        assert result.tolist() == [2.0 * i + len(extra)] * 2
    assert step.way == "replay" and len(step.specialisations) <= 2, step.explain()
    # A container that is not empty any more is another call.
    filled = {"first": ([1, 2, 3], x), "last": (x, [1, 2, 3]), "by name": (x,)}[order]
    assert step(*filled, **({"extra": [1, 2, 3]} if order == "by name" else {})).tolist() == [9.0] * 2
