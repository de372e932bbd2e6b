"""Tensors without dimensions as indices select: what they leave is a view, wherever in the index they stand."""

import itertools

import pytest
from side_by_side import ramp

KEYS = ("i", ":, i", "..., i", "1:, i", "None, i", ":, i, None", "i, j", "i, 1", "1, i", "i, ..., j", "j, 1:")
WRITES = ("zero_()", "add_(1.0)", "mul_(3.0)")
WRITTEN = {"the base": "y", "the view": "v", "a part of the view": "v[..., :1]"}


def assert_same_views(tg, body):
    space = {"tg": tg}
    exec(f"def step(x, i, j):\n    y = x * 1\n    v = y[{body[0]}]\n    {body[1]}\n    return {body[2]}", space)
    compiled = tg.compile(space["step"])
    for call in range(5):
        inputs = ramp(tg, 3, 4), tg.tensor(call % 3), tg.tensor((call + 1) % 3)
        expected, got = (list(step(*inputs)) for step in (space["step"], compiled))
        for results in (expected, got):
            results[-1].mul_(5)  # a returned view sees it
        for of in range(len(expected)):
            assert got[of].tolist() == expected[of].tolist(), call


@pytest.mark.parametrize(("key", "write", "target"), list(itertools.product(KEYS, WRITES, WRITTEN)))
def test_a_write_is_seen_through_both(tg, key, write, target):
    if target == "a part of the view" and key in ("i, j", "i, 1", "1, i", "i, ..., j"):
        pytest.skip("the view has no dimensions")
    assert_same_views(tg, (key, f"{WRITTEN[target]}.{write}", "v + 1, y * 2"))


@pytest.mark.parametrize("key", KEYS)
def test_what_is_returned_is_a_view(tg, key):
    assert_same_views(tg, (key, "pass", "v, y"))
