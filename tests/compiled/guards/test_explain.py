"""step.explain(): one line for each program with what differed, and why Python runs."""

import re
import sys
import warnings

import pytest

import tracegrad
from tracegrad.compiled.common import profilers

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
    assert len(step.specialisations) == 4
    assert "argument 1 has had 3 values, which are a program each" in step.explain()


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


def reasons_after(step, *calls):
    for call in calls:
        step(*call)
    return lines(step)[1:]


def test_tensors_that_share_memory_are_named(tg):
    """Which two, how they lay to each other when the program was made, and how they do now."""
    w, base = tg.ones(6, requires_grad=True), tg.ones(6)

    def step(x, y):
        loss = (x * y * w[:3]).sum()
        loss.backward()
        return loss

    step = tg.compile(step)
    found = reasons_after(
        step,
        (base[:3].clone(), base[:3].clone()),
        (base[:3].clone(), base[:3].clone()),  # w has a gradient from here on
        (base[:3], base[3:]),
        (base[:3], base[:3]),
        (base[1:4], base[1:4].clone()),
        (w[3:].detach(), base[1:4]),
    )
    said = [line.partition("; ")[2] for line in found]
    for what in ("y: <apart> -> <shared>  ", "y: <shared> -> <shared, at another place>  ", "w: <apart> -> <shared>"):
        assert any(line.startswith(f"the memory of x and {what}") for line in said), what


def test_a_write_to_shared_memory_names_both(tg):
    base = tg.ones(6)

    def step(x, y):
        x.mul_(2)  # here
        return y + 1

    compiled = tg.compile(step)
    text = "\n".join(reasons_after(compiled, (base[:3], base[3:])))
    assert "memory that x and y share" in text
    assert f"test_explain.py:{step.__code__.co_firstlineno + 1}" in text


def test_what_running_python_costs_is_said(tg):
    model = tg.nn.Sequential(tg.nn.Linear(4, 4), tg.nn.Tanh(), tg.nn.Linear(4, 2))

    @tg.compile
    def step(x):
        y = model(x).sum()
        if y > 100:
            return y * 2
        return y

    step(tg.ones(3, 4))
    assert lines(step)[-1] == (
        "  What that costs: Python runs each of these calls, and no program does any of their work yet"
    )
    for _ in range(6):
        step(tg.ones(3, 4))
    said = lines(step)[-1]
    assert said.startswith("  What that costs: Python runs each of these calls; their operations are served from ")
    assert re.search(r" \d+ programs?, and Sequential as a program of its own$", said)


# ------------------------------------------------------------------------------------------------ under a profiler


def profiled(step, times):
    sys.setprofile(lambda *event: None)
    try:
        return [(step(tracegrad.ones(2)).tolist(), step.way) for _ in range(times)]
    finally:
        sys.setprofile(None)


def test_a_profiler_is_told_of(tg, monkeypatch):
    monkeypatch.setattr(profilers.warning, "is_given", False)
    step, other = tg.compile(lambda x: x * 2), tg.compile(lambda x: x * 3)
    with pytest.warns(RuntimeWarning, match="a profiler is at work.*a few times before") as said:
        assert profiled(step, 12) == [([2.0, 2.0], "eager")] * 12
    assert [warning.filename for warning in said] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert profiled(other, 2) == [([3.0, 3.0], "eager")] * 2  # said once
    for each in (step, other):
        assert len(each.reasons) == 1
        text = each.explain()
        assert "a profiler is at work" in text and "before the profiler begins" in text


@pytest.mark.filterwarnings("ignore:a profiler is at work:RuntimeWarning")
def test_calls_are_replayed_once_the_profiler_is_gone_and_where_there_was_a_program(tg):
    step = tg.compile(lambda x: x * 2)
    profiled(step, 12)
    step(tg.ones(2))
    assert step(tg.ones(2)).tolist() == [2.0, 2.0] and step.way == "replay"
    assert profiled(step, 3) == [([2.0, 2.0], "replay")] * 3
