"""Programs of one function that take turns: the one that is expected is asked first, and any order is right."""

import itertools

import pytest

from tracegrad.compiled.replay.specialisation import Specialisation
from tracegrad.compiled.replay.turns import MOST, Turns


def counted(monkeypatch):
    looks = []
    matches = Specialisation.matches
    monkeypatch.setattr(Specialisation, "matches", lambda self, *given: looks.append(self) or matches(self, *given))
    return looks


def training(tg, every):
    tg.manual_seed(0)
    model = tg.nn.Linear(3, 2)
    optimizer = tg.optim.Adam(model.parameters(), lr=0.1)

    def step(x, i):
        loss = model(x).square().mean()
        loss.backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
        return loss.detach()

    return model, step


@pytest.mark.parametrize("every", [2, 3, 4, 5])
def test_accumulation_asks_one_program_for_each_call(tg, every, monkeypatch):
    (model, step), (expected, eager) = training(tg, every), training(tg, every)
    compiled, x = tg.compile(step), tg.arange(6.0).reshape(2, 3)
    for i in range(8 * every):
        assert compiled(x, i).item() == pytest.approx(eager(x, i).item(), rel=1e-5)
    looks = counted(monkeypatch)
    for i in range(8 * every, 12 * every):
        assert compiled(x, i).item() == pytest.approx(eager(x, i).item(), rel=1e-5)
        assert compiled.way == "replay"
    assert len(looks) <= 4 * every
    for p, q in zip(model.parameters(), expected.parameters(), strict=True):
        assert p.allclose(q, 1e-4, 1e-5)


@pytest.mark.parametrize("turns", ["abb", "abac", "aabbcc", "abcacb", "abcbacbca"])
def test_any_order_of_kinds_is_right(tg, turns):
    """Shapes and flags in a round: the expected program is not the right one at each call."""
    kinds = {"a": (tg.ones(3), True), "b": (tg.ones(4), True), "c": (tg.ones(3), False)}
    step = tg.compile(lambda x, flag: (x * 2).sum() if flag else x.sum() - 1)
    for kind in itertools.islice(itertools.cycle(turns), 60):
        x, flag = kinds[kind]
        assert step(x, flag).item() == ((x * 2).sum() if flag else x.sum() - 1).item()
        assert step.graph is step.specialisations[0].program.graph
    assert step.way == "replay"


def test_gradients_between_turns_may_be_replaced(tg):
    """A gradient that a program adds to is found again wherever the caller has put another one."""
    (model, step), (expected, eager) = training(tg, 3), training(tg, 3)
    compiled, x = tg.compile(step), tg.ones(2, 3)
    for i in range(40):
        for each, call in ((model, compiled), (expected, eager)):
            call(x, i)
            if i % 5 == 1 and each.weight.grad is not None:
                each.weight.grad = each.weight.grad * 0.5
            elif i % 7 == 2 and each.weight.grad is not None:
                each.weight.grad = each.weight.grad.t().contiguous().t()
            elif i % 7 == 4:
                each.bias.grad = each.weight.grad[:, 0] if each.weight.grad is not None else None
        for p, q in zip(model.parameters(), expected.parameters(), strict=True):
            assert p.allclose(q, 1e-4, 1e-5), i
            assert (p.grad is None) is (q.grad is None)
            assert p.grad is None or p.grad.allclose(q.grad, 1e-4, 1e-6), i


def test_no_more_pairs_are_remembered_than_a_few():
    turns, kinds = Turns(), [object() for _ in range(MOST)]
    for kind in [*kinds, *kinds[::-1], *kinds]:
        turns.note(kind)
    assert len(turns._after) <= MOST


def test_parameters_without_gradients_are_no_obstacle_to_one_segment(tg):
    """Heads in turns: the optimizer's step passes by those that had no part in the loss, and is noted with the rest."""
    tg.manual_seed(0)
    trunk, heads = tg.nn.Linear(3, 3), [tg.nn.Linear(3, 2) for _ in range(3)]
    optimizer = tg.optim.Adam([p for m in (trunk, *heads) for p in m.parameters()], lr=0.1)
    seen = []

    @tg.compile
    def step(x, i):
        seen.append(i)
        optimizer.zero_grad()
        loss = heads[i % 3](tg.relu(trunk(x))).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    for i in range(30):
        step(tg.ones(2, 3), i)
    assert len(step.segments.programs) <= 4
    parts = [part for part in step._rerun.parts._parts.values() if part.__name__ == "_update_all"]
    assert parts and all(s.plan is not None for part in parts for s in part.specialisations)
