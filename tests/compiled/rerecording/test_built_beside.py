"""What happens between the begin of a building and its end: steps are eager, since numpy takes several times as long
for noted ones. And what eager mode has called is known when the program begins to be noted."""

import pytest

import tracegrad as tg
from tracegrad.compiled.common import budget
from tracegrad.compiled.function import Subprogram
from tracegrad.compiled.lazy import segments, tiers
from tracegrad.runtime.forked import can_be_forked
from tracegrad.runtime.threads import usable_cpus

F = tg.nn.functional
STEPS = 60
BUILDING = 20_000.0  # microseconds of eager mode's work


@pytest.fixture(autouse=True)
def soon(monkeypatch, tmp_path):
    monkeypatch.delenv("TRACEGRAD_WARM_UP", raising=False)
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(budget, "TO_COMPILE", 5_000.0)
    monkeypatch.setattr(budget, "TO_COMPILE_A_NODE", 0.0)
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: BUILDING)


def with_modules(model, optimizer):
    loss = F.mse_loss(model(tg.randn(8, 4)), tg.randn(8, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def with_two_models(model, optimizer):
    with_modules(model, optimizer)
    loss = F.smooth_l1_loss(model[2](tg.randn(8, 4)), tg.randn(8, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def by_hand(model, optimizer):
    w = model[0].weight
    loss = ((tg.randn(8, 4) @ w.t()).tanh() - tg.randn(8, 4)).pow(2).mean()
    loss.backward()
    with tg.no_grad():
        w -= 0.1 * w.grad
        w.grad = None


def train(step, monkeypatch):
    """For each step: whether its passes were eager, and how many events of it numpy and programs did."""
    done = []
    for kind in ("NumpyRun", "Run"):
        made = getattr(segments, kind)
        monkeypatch.setattr(segments, kind, lambda *args, made=made, kind=kind: (done.append(kind), made(*args))[1])
    tg.manual_seed(0)
    model = tg.nn.Sequential(*(tg.nn.Linear(4, 4) for _ in range(4)))
    optimizer = tg.optim.Adam(model.parameters(), 0.01)
    block, ways = tg.deferred(tiered=True), []
    monkeypatch.setattr(segments.Execution, "_do", lambda self, run: run.finish())
    with block:
        for _ in range(STEPS):
            before = block.segments.budget.steps
            step(model, optimizer)
            ways.append((block.segments.budget.steps > before, done.count("NumpyRun"), done.count("Run")))
            done.clear()
    return block, ways


@pytest.mark.skipif(not can_be_forked() or usable_cpus() < 2, reason="nothing is built beside the program")
@pytest.mark.parametrize("step", [with_modules, with_two_models, by_hand])
def test_steps_are_eager_while_a_program_is_built(step, monkeypatch):
    block, ways = train(step, monkeypatch)
    text = "".join("e" if is_eager else "C" if by_c and not by_numpy else "n" for is_eager, by_numpy, by_c in ways)
    noted = text.lstrip("e")
    assert len(noted) < STEPS
    begun = noted.index("e")  # the building
    assert begun <= 12, text
    assert noted[begun:].lstrip("e").count("n") <= 3, text
    assert text.endswith("CCCCCCCC"), text
    work, passes = block.segments.budget.work, block.segments.budget.passes
    eager = noted.count("e")
    assert eager <= 3 + BUILDING * len(block.segments.programs) / (work / passes), text


def test_what_eager_mode_has_called_is_a_part_from_the_first_noted_step_on(monkeypatch):
    recorded = []
    record = Subprogram._record

    def note(self, *args):
        recorded.append(self.__name__)
        return record(self, *args)

    monkeypatch.setattr(Subprogram, "_record", note)
    train(with_modules, monkeypatch)
    assert recorded[0] == "Sequential"
    assert not {"_affine", "linear", "Linear"} & {*recorded}
