"""What a program may ask a tensor from outside, or its gradient, without computing with it; each question with each
change between calls that gives it another answer. The question is asked of a captured tensor that the function computes
nothing with, of one that it computes with, and of an argument."""

import itertools

import pytest

CALLS, FIRST = 8, 3

QUESTIONS = {
    "stride": lambda t, u: t.stride(),
    "is_contiguous": lambda t, u: t.is_contiguous(),
    "storage_offset": lambda t, u: t.storage_offset(),
    "is_shared": lambda t, u: t.is_shared(),
    "requires_grad": lambda t, u: t.requires_grad,
    "is_leaf": lambda t, u: t.is_leaf,
    "dtype": lambda t, u: str(t.dtype),
    "grad is None": lambda t, u: t.grad is None,
    "grad.requires_grad": lambda t, u: t.grad is not None and t.grad.requires_grad,
    "grad.is_leaf": lambda t, u: t.grad is not None and t.grad.is_leaf,
    "grad.grad_fn": lambda t, u: t.grad is not None and t.grad.grad_fn is None,
    "grad.stride": lambda t, u: t.grad is not None and t.grad.stride(),
    "grad.is_contiguous": lambda t, u: t.grad is not None and t.grad.is_contiguous(),
    "grad is grad": lambda t, u: t.grad is u.grad,
    "grad is tensor": lambda t, u: t.grad is u,
    "gradients in a list": lambda t, u: any(t.grad is each for each in (u, u.grad)),
}
CHANGES = {
    "other memory": lambda tg, t, u, i: setattr(t, "data", t.data.clone()),
    "transposed memory": lambda tg, t, u, i: setattr(t, "data", t.data.clone().t().contiguous().t()),
    "within a table": lambda tg, t, u, i: setattr(t, "data", tg.zeros(4, 2, 3)[i % 4]),
    "another type": lambda tg, t, u, i: setattr(t, "data", t.data.double()),
    "shared": lambda tg, t, u, i: t.detach().share_memory_(),
    "flag": lambda tg, t, u, i: t.requires_grad_(i % 2 == 0),
    "no gradient": lambda tg, t, u, i: setattr(t, "grad", None if i % 2 else tg.ones(2, 3)),
    "a gradient with a flag": lambda tg, t, u, i: setattr(t, "grad", tg.ones(2, 3).requires_grad_(i % 2 == 0)),
    "flag of the gradient": lambda tg, t, u, i: t.grad.requires_grad_(i % 2 == 0),
    "a gradient with a history": lambda tg, t, u, i: setattr(t, "grad", tg.ones(2, 3).requires_grad_() * 2),
    "a transposed gradient": lambda tg, t, u, i: setattr(t, "grad", tg.ones(3, 2).t() if i % 2 else tg.ones(2, 3)),
    "a shared gradient": lambda tg, t, u, i: setattr(t, "grad", u.grad if i % 2 else tg.ones(2, 3)),
    "a gradient over the same memory": lambda tg, t, u, i: setattr(t, "grad", [u.grad, u.grad.detach()][i % 2]),
    "a tensor as gradient": lambda tg, t, u, i: setattr(t, "grad", u if i % 2 else tg.ones(2, 3)),
}
WAYS = ("captured", "computed with", "argument")


def world(tg):
    t = tg.nn.Parameter(tg.arange(6.0).reshape(2, 3))
    u = tg.nn.Parameter(tg.arange(6.0).reshape(2, 3) + 1)
    t.grad, u.grad = tg.ones(2, 3), tg.ones(2, 3)
    return t, u


def stepping(question, way, t, u):
    def captured(x):
        answer = question(t, u)
        return (x * 2 + 1 if answer else x * 2), answer

    def computed_with(x):
        answer = question(t, u)
        y = x * 2 + t.detach().sum()
        return (y + 1 if answer else y), answer

    def argument(v):
        answer = question(v, u)
        y = v.detach() * 2
        return (y + 1 if answer else y), answer

    return {"captured": captured, "computed with": computed_with, "argument": argument}[way]


def answers(tg, question, change, way, compiled):
    t, u = world(tg)
    step, found = stepping(question, way, t, u), []
    step = tg.compile(step) if compiled else step
    for i in range(CALLS):
        if i >= FIRST:
            change(tg, t, u, i)
        y, answer = step(t if way == "argument" else tg.arange(3.0))
        found.append((y.tolist(), answer))
    return found


def matters(tg, question, change):
    """Whether the change gives the question another answer; both can be made in eager mode."""
    t, u = world(tg)
    seen = [question(t, u)]
    for i in range(FIRST, CALLS):
        change(tg, t, u, i)
        seen.append(question(t, u))
    return any(answer != seen[0] for answer in seen)


@pytest.mark.long
def test_each_question_is_answered_as_in_eager_mode(tg):
    """All pairs in which the change matters, which are most of what there is to ask."""
    count = 0
    for (asked, question), (changed, change) in itertools.product(QUESTIONS.items(), CHANGES.items()):
        if not matters(tg, question, change):
            continue
        for way in WAYS:
            count += 1
            expected = answers(tg, question, change, way, compiled=False)
            assert answers(tg, question, change, way, compiled=True) == expected, (asked, changed, way)
    assert count > 60


@pytest.mark.parametrize("asked", ["grad is None", "grad.requires_grad", "is_leaf", "stride"])
def test_what_does_not_change_is_replayed(tg, asked):
    t, u = world(tg)
    step = tg.compile(stepping(QUESTIONS[asked], "computed with", t, u))
    for _ in range(4):
        step(tg.arange(3.0))
    assert step.way == "replay"
