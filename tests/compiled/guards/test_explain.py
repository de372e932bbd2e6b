"""step.explain(): one line for each program with what differed, and why Python runs."""

import re

import pytest

SCALE = 2.0
MODE = "plain"


def lines(step):
    return step.explain().splitlines()


def test_each_program_says_what_differed(tg):
    model = tg.nn.Sequential(tg.nn.Linear(3, 2), tg.nn.Dropout(0.5))

    def step(x, how="a"):
        return (model(x) if MODE == "plain" else -model(x)).sum()

    global MODE
    compiled = tg.compile(step)
    line = step.__code__.co_firstlineno + 1
    compiled(tg.ones(2, 3))
    assert re.search(r"program 1: x f32\[2,3\]; first recorded call", compiled.explain())
    compiled(tg.ones(2, 3), "b")
    assert "structure of the arguments" in lines(compiled)[-1]
    compiled(tg.ones(2, 3, dtype=tg.float32).t().contiguous().t(), "b")
    assert re.search(r"x: <f32\[2,3\]> -> <f32\[2,3\] strided>", lines(compiled)[-1])
    compiled(tg.ones(2, 3), "b")  # what differs is said of the program used last
    compiled(tg.ones(2, 3), "c")
    assert re.search(r"argument 1: 'b' -> 'c'", lines(compiled)[-1])
    model.eval()
    compiled(tg.ones(2, 3), "c")
    assert re.search(r"training of .*: True -> False", lines(compiled)[-1])
    model[0].weight.requires_grad_(False)
    compiled(tg.ones(2, 3), "c")
    assert re.search(r"0.weight: <f32\[2,3\] requires grad> -> <f32\[2,3\]>", lines(compiled)[-1])
    with tg.no_grad():
        compiled(tg.ones(2, 3), "c")
    assert "grad mode: True -> False" in lines(compiled)[-1]
    compiled(tg.ones(2, 3), "c")  # the program of before
    MODE = "negative"
    try:
        compiled(tg.ones(2, 3), "c")
    finally:
        MODE = "plain"
    assert re.search(rf"MODE: 'plain' -> 'negative'  at .*test_explain.py:{line}", lines(compiled)[-1])
    assert len(lines(compiled)) == 1 + len(compiled.specialisations) == 9


def test_a_number_that_changes_is_named(tg):
    global SCALE
    step = tg.compile(lambda x: x * SCALE)
    step(tg.ones(2))
    SCALE = 3.0
    try:
        step(tg.ones(2))
    finally:
        SCALE = 2.0
    assert "SCALE: 2.0 -> 3.0" in step.explain()


def test_the_line_that_needs_python_is_named(tg):
    def step(x):
        if x.sum() > 0:  # here
            return x
        return -x

    compiled = tg.compile(step)
    for i in range(4):
        compiled(tg.ones(2) * i)
    line = step.__code__.co_firstlineno + 1
    text = compiled.explain()
    assert compiled.way == "re-record"
    assert f"test_explain.py:{line}" in text and "tg.where" in text
    assert len(compiled.reasons) == 1


def test_endless_series_end_with_a_reason_and_right_results(tg):
    step = tg.compile(lambda x, mode: x * len(mode))
    for i in range(34):
        assert step(tg.ones(2), "m" * i).tolist() == [float(i)] * 2
    assert len(step.specialisations) == 5
    assert "argument 1 has had 4 values, which are a program each" in step.explain()


def test_too_many_parts_end_with_a_warning(tg):
    from_outside = []

    def step(x, n):
        for _ in range(n):
            x = x + 1
        from_outside.append(float(x.sum()))
        return x

    step = tg.compile(step)
    with pytest.warns(RuntimeWarning, match="different things"):
        for _ in range(3):
            for n in range(1, 80):
                assert step(tg.ones(2), n).shape == (2,)
    assert from_outside == [2.0 * n + 2 for n in range(1, 80)] * 3


def test_parts_of_any_size_share_a_program(tg):
    from_outside = []

    def step(x, n):
        y = x[:n] * 2
        from_outside.append(float(y.sum()))
        return y

    step = tg.compile(step)
    for _ in range(3):
        for n in range(1, 80):
            assert step(tg.ones(100), n).shape == (n,)
    assert from_outside == [2.0 * n for n in range(1, 80)] * 3
    assert step.segments.sizes.built <= 2 * 2  # of the multiplication and of the sum: the first size, all others
