"""Layers and functions on wrong shapes and types: the class of the error and the beginning of its message."""

import json
import warnings

import pytest
from expected import bad_calls as cases
from expected.compare import STORE

STORED = json.loads((STORE / "bad_calls.json").read_text(encoding="utf-8"))
#: Calls that PyTorch fails in with an error of its own code on the way, or that are refused here only: another class.
OTHERWISE = {
    "nn.AvgPool2d(2)(tg.ones((3, 4)))",
    "nn.Unfold(2)(tg.ones((3,)))",
    "nn.Parameter(1)",
}
#: The same fact in other words: a name of the library's own, a list of overloads, sizes in another notation.
IN_OTHER_WORDS = {
    "nn.AvgPool1d(2)(tg.ones((3,)))",
    "nn.AvgPool1d(2)(tg.ones((2, 1)))",
    "nn.AvgPool1d(2)(tg.ones((1, 2, 1)))",
    "nn.AvgPool1d(2)(tg.ones((1, 1, 2, 4)))",
    "nn.AdaptiveAvgPool1d(2)(tg.ones((2, 0)))",
    "nn.ReflectionPad2d(2)(tg.ones((1, 2, 4)))",
    "nn.ReflectionPad2d(2)(tg.ones((1, 2, 2, 4)))",
    "nn.ZeroPad2d(-3)(tg.ones((1, 2, 4, 4)))",
    "nn.ConvTranspose1d(3, 2, 2)(tg.ones((1, 3, 4)).long())",
    "nn.ConvTranspose1d(3, 2, 2)(tg.ones((1, 3, 4)).double())",
    "x.index_select(0, v)",
    "x.scatter(0, i, 'a')",
    "x.scatter_add(0, j, x)",
    "tg.addmv(v, x, v)",
    "tg.outer(x, v)",
    "tg.zeros(-1)",
    "tg.clamp(x, 'a')",
    "tg.randn(2).to(tg.float33)",
    "F.threshold(x, 0.1)",
    "F.linear(x, x, v)",
    "F.conv2d(b, b)",
    "tg.cumsum(x)",
    "tg.add(x)",
    "tg.sum()",
    "x.add(1, 2, 3)",
    "x.sum(dim='a')",
    "tg.foo",
    "tg.tensor()",
    "x.view('a')",
    "x.reshape(1.5)",
    "x.index_add(0, v, x)",
    "nn.Conv2d(3, 2, 2, padding_mode='a')",
    "nn.Conv1d(3, 2, 2, padding='a')",
    "nn.init.normal_(1)",
    "nn.Linear(3, 2).register_parameter('a.b', None)",
    "nn.Linear(3, 2).register_parameter('a', v)",
    "nn.Linear(3, 2).register_buffer('a', 1)",
    "nn.utils.rnn.pad_sequence([x, b])",
}


@pytest.fixture(scope="module")
def found(tg):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cases.outcomes(tg)


@pytest.mark.parametrize("expression", [e for e in cases.expressions() if e not in OTHERWISE])
def test_outcome(found, expression):
    outcome, stored = found[expression], STORED.get(expression)
    if stored is None or outcome is None:
        assert outcome is stored
        return
    assert outcome[0] == stored[0]
    assert expression in IN_OTHER_WORDS or stored[1] in cases.plain(outcome[1])


def test_the_lists_of_exceptions_hold_nothing_else(found):
    """What agrees is not excused."""
    for expression in OTHERWISE:
        outcome, stored = found[expression], STORED.get(expression)
        assert (outcome is None) != (stored is None) or outcome[0] != stored[0], expression
    for expression in IN_OTHER_WORDS:
        assert STORED[expression][1] not in cases.plain(found[expression][1]), expression


def test_how_many_there_are():
    assert len(set(cases.expressions())) > 500
