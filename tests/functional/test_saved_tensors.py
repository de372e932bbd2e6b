"""Which writes before ``backward()`` are refused: those to what PyTorch 2.13's operation has kept, and no others."""

import json

import pytest
from expected import saved_tensors as cases
from expected import writes_to_operands
from expected.compare import STORE

import tracegrad as tg

STORED = json.loads((STORE / "saved_tensors.json").read_text(encoding="utf-8"))
#: A product with its axis kept is a view of the product here, which accepts a write.
OTHERWISE = {"x.prod(0, keepdim=True) | x | out"}


def test_writes(tg):
    found = {label: outcome for label, outcome in cases.outcomes(tg).items() if label not in OTHERWISE}
    wrong = {label: outcome for label, outcome in found.items() if outcome != STORED.get(label, "accepted")}
    assert wrong == {} and len(found) > 1000


#: Results that are views here, of the transposed equation's: these accept a write.
VIEWS = ("tg.linalg.lu_solve(s, p, x, left=False)", "tg.ormqr(s, v, x, left=False)")
OPERANDS = json.loads((STORE / "writes_to_operands.json").read_text(encoding="utf-8"))


def is_like(found, stored):
    if not isinstance(found, list) or not isinstance(stored, list):
        none_or_zeros = [not any(each) for each in (found, stored) if isinstance(each, list)]
        return found == stored or (None in (found, stored) and none_or_zeros == [True])
    if len(found) != len(stored):
        return False
    # Rounded to 6 places where they are stored; the rest is another order of the sums in solutions.
    return all(
        is_like(one, other) if one is None or isinstance(one, list) else one == pytest.approx(other, abs=1e-5)
        for one, other in zip(found, stored, strict=True)
    )


@pytest.mark.parametrize("call", writes_to_operands.CALLS)
@pytest.mark.long(fast=1)
def test_other_numbers_are_written_to_what_is_kept(tg, call):
    for question in writes_to_operands.questions():
        if question[0] == call and not (call in VIEWS and question[2] == "out"):
            label = writes_to_operands.label(*question)
            assert is_like(writes_to_operands.outcome(tg, *question), OPERANDS[label]), label


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


SHARED = {
    "product": lambda p: p * p,
    "power": lambda p: p**3,
    "sine": lambda p: p.sin(),
}


@pytest.mark.parametrize("name", ["product", "power", "sine"])
def test_hooks_are_handed_parameters_themselves(name):
    p, seen = tg.nn.Parameter(tg.tensor([1.0, 2.0])), []

    def pack(tensor):
        seen.append(tensor)
        return tensor

    with tg.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = SHARED[name](p)
    assert seen and all(tensor is p for tensor in seen)
    out.sum().backward()
    other = tg.nn.Parameter(tg.tensor([1.0, 2.0]))
    SHARED[name](other).sum().backward()
    assert p.grad.tolist() == other.grad.tolist()


@pytest.mark.parametrize("write", [lambda t: t.add_(1), lambda t: t.zero_(), lambda t: t[0].fill_(3)])
@pytest.mark.parametrize("compute", [lambda x: x.sin(), lambda x: x.exp()])
def test_hooks_that_write_to_what_they_are_handed_are_refused(compute, write):
    def pack(tensor):
        write(tensor)
        return tensor

    x = tg.tensor([1.0, 2.0], requires_grad=True) * 1
    with tg.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
            compute(x)
