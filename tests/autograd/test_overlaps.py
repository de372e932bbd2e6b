"""Writes that read a part of the memory that they write: refused where PyTorch refuses them, and nothing is written."""

import json
import warnings

import numpy as np
import pytest
from expected import overlaps
from expected.compare import STORE, assert_close

EXPECTED = json.loads((STORE / "overlaps.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("first", range(0, len(overlaps.CALLS), 12))
def test_refused_where_pytorch_refuses(tg, first):
    for text in overlaps.CALLS[first : first + 12]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of results that are resized, and of writes to axes that repeat
            found = [overlaps.letter(tg, text, number) for number in range(overlaps.PAIRS)]
        assert "".join(found) == EXPECTED[text], text


@pytest.mark.parametrize("text", ["t.add_(o)", "t.copy_(o)", "iadd(t, o)", "tg.sin(o, out=t)"])
def test_refused_in_compiled_calls_and_deferred_blocks(tg, text):
    """One compiled function is called with all pairs, so that programs meet operands that lie otherwise."""
    compiled = tg.compile(lambda t, o: overlaps.called(tg, text, t, o) * 1)
    refused = [n for n in range(overlaps.PAIRS) if EXPECTED[text][n] == "s"][:4]
    taken = [n for n in range(overlaps.PAIRS) if EXPECTED[text][n] == "."][:4]
    for number in sorted(refused + taken) * 2:
        for run in (compiled, tg.deferred()(compiled)):
            memory, target, other = overlaps.pair(tg, number)
            before = memory.clone()
            try:
                run(target, other)
            except RuntimeError as error:
                assert (number in refused) == ("some elements of the input tensor" in str(error))
                assert tg.equal(memory, before)
            else:
                assert number not in refused


WRITES = {
    "copy_": lambda x, i: x[i : i + 3].copy_(x[:3]),
    "setitem": lambda x, i: x.__setitem__(slice(i, i + 3), x[:3]),
    "setitem of a number": lambda x, i: x.__setitem__(i, x[0]),
    "added from": lambda x, i: x[:3].add_(x[i : i + 3]),
}


@pytest.mark.parametrize("name", WRITES)
def test_places_that_vary(tg, name):
    """Whether a write is refused depends on a number: each call asks anew."""

    def step(x, i):
        WRITES[name](x, i)
        return x * 1

    def outcome(function, i):
        x = tg.arange(8.0)
        try:
            return function(x, i).tolist()
        except RuntimeError as error:
            return str(error)[:40], x.tolist()

    compiled = tg.compile(step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of slices that hold a stand-in while the error is raised
        assert [outcome(compiled, i) for i in (3, 4, 5, 3, 1, 2, 4)] == [
            outcome(step, i) for i in (3, 4, 5, 3, 1, 2, 4)
        ]


def test_results_in_other_columns(tg):
    """``out=`` takes memory of an operand that shares no element with it."""
    x = tg.randn(4, 3, dtype=tg.float64)
    before = x.clone()
    assert tg.sin(x[:, 0], out=x[:, 1]).data_ptr() == x[:, 1].data_ptr()
    assert_close(x[:, 1], np.sin(before[:, 0].numpy()))
    tg.add(x[:, 0], x[:, 2], out=x[:, 1])
    assert_close(x[:, 1], (before[:, 0] + before[:, 2]).numpy())
    assert tg.equal(x[:, ::2], before[:, ::2])
