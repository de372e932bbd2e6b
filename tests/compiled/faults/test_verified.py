"""The whole table once more with TRACEGRAD_VERIFY=1: no right program is broken by being verified, nor called wrong."""

import importlib
from pathlib import Path

import pytest
from side_by_side import assert_agree, run

from compiled import table
from tracegrad.compiled import function

CHAPTERS = Path(__file__).parents[1]
SAMPLE = 40  # of so many questions one is asked in each run of the tests


def rows():
    """The questions of all files, in order."""
    found = []
    for path in sorted(CHAPTERS.glob("*/test_*.py")):
        if "from compiled.table import Section" in path.read_text(encoding="utf-8") and path != Path(__file__):
            found += importlib.import_module(f"compiled.{path.parent.name}.{path.stem}").ask.rows()
    assert len(found) > 500
    return found


@pytest.fixture
def verified(tg, monkeypatch):
    """``verified(question)``: the program does the same eager and compiled, while it is verified as well."""
    if tg.__name__ == "torch":
        pytest.skip("PyTorch is the reference of meaning only")
    monkeypatch.setenv("TRACEGRAD_VERIFY", "1")
    check, checked = function.check, []
    monkeypatch.setattr(function, "check", lambda *call: (checked.append(call[0]), check(*call)))

    def ask(question):
        expected, _, _ = run(tg, question.make, False, question.calls)
        actual, step, program = run(tg, question.make, True, question.calls)
        assert_agree(actual, expected)
        if question.way == table.REPLAY:
            assert table.REPLAY in program.ways and table.RERECORD not in program.ways, step.explain()
            assert any(one is step for one in checked) and not any(s.unverified for s in step.specialisations[:1])
        table.assert_right_when_rerecorded(tg, question, expected)

    return ask


@pytest.mark.parametrize("question", rows()[::SAMPLE])
def test_a_sample(question, verified):
    verified(question)


@pytest.mark.long(every=37)
@pytest.mark.parametrize("question", rows())
def test_the_whole_table(question, verified):
    verified(question)
