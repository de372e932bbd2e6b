"""Which writes before ``backward()`` are refused: those to what PyTorch 2.13's operation has kept, and no others."""

import json

import pytest
from expected import saved_tensors as cases
from expected.compare import STORE

STORED = json.loads((STORE / "saved_tensors.json").read_text(encoding="utf-8"))
#: A product with its axis kept is a view of the product here, which accepts a write.
OTHERWISE = {"x.prod(0, keepdim=True) | x | out"}


def test_writes(tg):
    found = {label: outcome for label, outcome in cases.outcomes(tg).items() if label not in OTHERWISE}
    wrong = {label: outcome for label, outcome in found.items() if outcome != STORED.get(label, "accepted")}
    assert wrong == {} and len(found) > 1000


def step_of(question, tg):
    run = tg.compile(cases.program(tg, *question))
    return cases.outcome(run)


QUESTIONS = [question for question in cases.questions() if cases.label(*question) not in OTHERWISE]


@pytest.mark.parametrize("question", QUESTIONS[::90], ids=lambda question: cases.label(*question))
def test_writes_in_compiled_functions(tg, question):
    assert step_of(question, tg) == STORED.get(cases.label(*question), "accepted")


@pytest.mark.long(every=85)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: cases.label(*question))
def test_every_write_in_compiled_functions(tg, question):
    assert step_of(question, tg) == STORED.get(cases.label(*question), "accepted")
