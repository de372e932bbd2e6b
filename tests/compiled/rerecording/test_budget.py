"""What a deferred program spends on being compiled, against what it computes: counts decide, and an earlier run."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.common import budget
from tracegrad.compiled.experience import remembered
from tracegrad.compiled.lazy import tiers
from tracegrad.compiled.recording.recording import Recording
from tracegrad.ops.core import current
from tracegrad.tensors.tensor import EAGER
from tracegrad.utils.data import DataLoader, Dataset


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("TRACEGRAD_WARM_UP", raising=False)
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def recordings(monkeypatch):
    made, run = [], Recording.run

    def counted(self, function, args, kwargs):
        made.append(function)
        return run(self, function, args, kwargs)

    monkeypatch.setattr(Recording, "run", counted)
    return made


def train(block, steps, width=8):
    """A small program: its losses, and after how many steps the block had noted anything, and had a program."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(4, width), tg.nn.Tanh(), tg.nn.Linear(width, 2))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    losses, noted, built = [], None, None
    with block or tg.enable_grad():
        for i in range(steps):
            x = tg.rand(16, 4)
            optimizer.zero_grad()
            loss = ((model(x) - x[:, :2]) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if block is not None:
                noted = i if noted is None and block.segments.start.next else noted
                built = i if built is None and block.segments.programs else built
    return losses, noted, built


def steps_cost(monkeypatch, steps):
    """Let compiling take as long as so many steps of `train`, of which each makes as many nodes."""
    counted = budget.Budget()
    model = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 2))
    x = tg.rand(16, 4)
    counted.step(((model(x) - x[:, :2]) ** 2).mean())
    monkeypatch.setattr(budget, "A_PIECE", 0.0)
    monkeypatch.setattr(budget, "TO_COMPILE", counted.work * (steps - 0.5))
    monkeypatch.setattr(budget, "TO_COMPILE_A_NODE", 0.0)


def test_a_program_begins_in_eager_mode(monkeypatch, recordings):
    steps_cost(monkeypatch, 10)
    block = tg.deferred(tiered=True)
    losses, noted, _ = train(block, 9)
    assert noted is None and not recordings and block.segments.budget.steps == 9
    assert losses == train(None, 9)[0]  # bit by bit: it is eager mode

    losses, noted, _ = train(tg.deferred(tiered=True), 20)
    assert 9 < noted < 15 and recordings  # the first step makes more nodes than later ones
    np.testing.assert_allclose(losses, train(None, 20)[0], rtol=1e-4)


def test_without_a_warm_up_the_first_step_is_noted(monkeypatch):
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    assert train(tg.deferred(tiered=True), 2)[1] == 0


def test_more_nodes_and_larger_arrays_are_more_work():
    def work(layers, width):
        layers = [tg.nn.Linear(width, width) for _ in range(layers)]
        counted = budget.Budget()
        counted.step(tg.nn.Sequential(*layers)(tg.ones(8, width)).sum())
        return counted.work

    assert work(2, 64) > work(1, 64) and work(2, 128) > work(2, 64)


STEPS = {
    "product": lambda: tg.randn(256, 256, requires_grad=True) @ tg.randn(256, 256),
    "product of the other operand": lambda: tg.randn(256, 256) @ tg.randn(256, 256, requires_grad=True),
    "linear": lambda: tg.nn.Linear(256, 256)(tg.randn(256, 256)),
    "linear without a bias": lambda: tg.nn.Linear(256, 256, bias=False)(tg.randn(4, 64, 256)),
    "convolution": lambda: tg.nn.Conv2d(16, 16, 3)(tg.randn(4, 16, 28, 28, requires_grad=True)),
    "convolution of data": lambda: tg.nn.Conv2d(64, 64, 3)(tg.randn(4, 64, 28, 28)),
    "transposed convolution": lambda: tg.nn.ConvTranspose2d(64, 64, 3)(tg.randn(4, 64, 28, 28)),
    "recurrent": lambda: tg.nn.LSTM(16, 16)(tg.randn(64, 8, 16))[0],
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_costs_what_it_multiplies_and_not_only_what_it_holds(name):
    """Each of these takes eager mode several times as long as work on as many elements."""
    made = STEPS[name]()
    elements = budget.cost_of_step((tg.zeros_like(made).requires_grad_() * 2).sum())[1]
    assert budget.cost_of_step(made.sum())[1] > 2 * elements


def test_programs_without_backward_passes_are_noted_after_enough_calls(monkeypatch):
    monkeypatch.setattr(budget, "TO_COMPILE", 10 * budget.A_PIECE)
    model, block = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh()), tg.deferred(tiered=True)
    with block, tg.no_grad():
        for _ in range(3):
            model(tg.ones(32, 4))
        assert not block.segments.start.next
        for _ in range(20):
            y = model(tg.ones(32, 4))
    assert block.segments.start.next
    np.testing.assert_allclose(y.numpy(), model(tg.ones(32, 4)).detach().numpy(), rtol=1e-6)


PASSES = {
    "plain": lambda loss, x: loss.backward(),
    "kept": lambda loss, x: loss.backward(retain_graph=True),
    "weighted": lambda loss, x: loss.backward(tg.tensor(2.0)),
    "of vectors": lambda loss, x: (x * loss).backward(tg.ones(64)),
    "of several": lambda loss, x: tg.autograd.backward([loss, (x * 2).sum()]),
    "to some inputs": lambda loss, x: loss.backward(inputs=[x]),
    "differentiable": lambda loss, x: loss.backward(create_graph=True),
    "without leaves": lambda loss, x: tg.autograd.grad(loss, x),
}


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("name", PASSES)
def test_every_kind_of_backward_pass_is_a_step(name):
    """A step that is not counted is work without nodes, which seems to be worth compiling at once."""
    block, x = tg.deferred(tiered=True), tg.ones(64, requires_grad=True)
    with block:
        for _ in range(3):
            PASSES[name]((x.tanh() * x).sum(), x)
    counted = block.segments.budget
    assert counted.steps == 3 and counted._kind.nodes > 2 and counted._kind.cost.arrays > 0


@pytest.mark.parametrize("stay", [False, True], ids=["come anew", "stay"])
def test_what_steps_take_is_found_out_seldom_for_models_that_come_anew(monkeypatch, stay):
    """The graph behind a loss is looked through later and later: of models that come anew as if they were one, of
    those that stay for each of them."""
    looked, models = [], []
    monkeypatch.setattr(budget, "cost_of_step", lambda loss: (looked.append(loss.shape), (5, 100.0))[1])
    block = tg.deferred(tiered=True)
    with block:
        for _ in range(40):
            model = tg.nn.Linear(4, 2)
            for _ in range(2):
                model(tg.ones(3, 4)).sum().backward()
            if stay:
                models.append(model)
    assert block.segments.budget.steps == 80
    assert len(looked) == (80 if stay else 7)  # 1, 2, 4, ..., 64
    assert block.segments.budget.work >= 80 * 100.0


def test_a_gradient_that_is_differentiated_later_is_no_step():
    block, x = tg.deferred(tiered=True), tg.ones(64, requires_grad=True)
    with block:
        (slope,) = tg.autograd.grad((x**3).sum(), x, create_graph=True)
        (x * slope).sum().backward()
    assert block.segments.budget.steps == 1


def acting(block, acts, learns, episodes=1):
    """An agent that acts, its histories dropped, and learns; how many steps were noted."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 2))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    with block:
        for _ in range(episodes):
            seen = [model(tg.rand(1, 4)).argmax().item() for _ in range(acts)]
            for _ in range(learns):
                optimizer.zero_grad()
                model(tg.rand(16, 4)).sum().backward()
                optimizer.step()
    assert len(seen) == acts
    return episodes * learns - block.segments.budget.steps


@pytest.mark.parametrize("acts", [0, 20, 200])
def test_what_an_agent_does_before_it_learns_is_no_reason_to_compile(monkeypatch, acts):
    """However often it acts, it has to learn for as long as compiling takes: twelve steps."""
    monkeypatch.setattr(budget, "A_PIECE", 0.0)
    monkeypatch.setattr(budget, "TO_COMPILE", 1.0)
    monkeypatch.setattr(budget, "TO_COMPILE_A_NODE", 12 * budget.A_NODE)
    assert acting(tg.deferred(tiered=True), acts, 10) == 0
    assert acting(tg.deferred(tiered=True), acts, 20) > 0
    assert acting(tg.deferred(tiered=True), acts, 2, episodes=5) == 0


def test_each_model_earns_its_programs_by_steps_of_its_own(monkeypatch, recordings):
    """Models that are trained one after the other, all but one of them shortly."""
    steps_cost(monkeypatch, 10)
    block, modes = tg.deferred(tiered=True), []
    for steps in (8, 8, 20, 8):
        before = block.segments.budget.steps
        losses = train(block, steps)[0]
        modes.append(block.segments.budget.steps - before)
        np.testing.assert_allclose(losses, train(None, steps)[0], rtol=1e-4)
    assert modes[:2] == [8, 8] and 9 < modes[2] < 15
    assert modes[3] >= 7  # what is noted there is its beginning


@pytest.mark.parametrize("turns", [[0, 1], [0, 0, 0, 1], [1, 0, 0]])
def test_models_that_take_turns_are_compiled_together(monkeypatch, turns):
    """They earn it together, and none of them is left to eager mode between steps of the other."""
    monkeypatch.setattr(budget, "A_PIECE", 0.0)
    monkeypatch.setattr(budget, "TO_COMPILE", 1.0)
    monkeypatch.setattr(budget, "TO_COMPILE_A_NODE", 10 * budget.A_NODE)
    models = [tg.nn.Sequential(*[tg.nn.Linear(4, 4) for _ in range(length)]) for length in (2, 6)]
    optimizers = [tg.optim.SGD(model.parameters(), lr=0.1) for model in models]
    block, x = tg.deferred(tiered=True), tg.rand(16, 4)
    with block:
        for i in range(60):
            turn = turns[i % len(turns)]
            optimizers[turn].zero_grad()
            models[turn](x).square().mean().backward()
            optimizers[turn].step()
    assert 10 <= block.segments.budget.steps <= 30  # ten of the larger model's, or as much of the other
    assert block.segments.departures.rests == 0


class Items(Dataset):
    """A dataset whose items are computed by many calls of functions; in which modes."""

    def __init__(self):
        self.were_eager = set()

    def __len__(self):
        return 64

    def __getitem__(self, i):
        x = tg.ones(4) * i
        for _ in range(20):
            x = tg.nn.functional.softmax(x, -1)
        self.were_eager.add(current() is EAGER)
        return x


def test_compiling_does_not_begin_within_items_of_a_dataset(monkeypatch):
    monkeypatch.setattr(budget, "A_PIECE", 0.0)
    monkeypatch.setattr(budget, "TO_COMPILE", 1.0)
    monkeypatch.setattr(budget, "TO_COMPILE_A_NODE", 0.0)
    items, model, block = Items(), tg.nn.Linear(4, 2), tg.deferred(tiered=True)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    with block:
        for x in DataLoader(items, batch_size=8):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    assert items.were_eager == {True} and block.segments.budget.steps == 1


@pytest.mark.slow
def test_two_runs_with_an_empty_cache_give_the_same_bits(monkeypatch, tmp_path, recordings):
    steps_cost(monkeypatch, 10)
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: 1000.0)
    found = []
    for run in range(2):
        monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / f"cache {run}"))
        found.append(train(tg.deferred(tiered=True), 40))
    assert found[0] == found[1] and found[0][2] is not None and recordings
    np.testing.assert_allclose(found[0][0], train(None, 40)[0], rtol=1e-4)


def found(is_worth_it):
    return {"is_worth_it": is_worth_it, "eager": 0.002, "work": 1e4, "spent": 1e7}


@pytest.mark.parametrize("begins", [True, False])
def test_a_later_run_goes_by_what_an_earlier_one_has_found_out(monkeypatch, tmp_path, begins):
    program = tmp_path / "prog.py"
    program.write_text("pass")
    earlier = tg.deferred(tiered=True)
    monkeypatch.setattr(earlier.segments.budget, "experience", lambda: found(begins))
    with remembered(earlier, [str(program), "--steps=3"]):
        pass
    later, other = tg.deferred(tiered=True), tg.deferred(tiered=True)
    with remembered(later, [str(program), "--steps=3"]), remembered(other, [str(program), "--steps=4"]):
        assert later.segments.budget.is_worth_compiling is begins
        assert not other.segments.budget.is_worth_compiling
        later.segments.budget.work = 1e5  # much more than the earlier run has done
        assert later.segments.budget.is_worth_compiling


def test_a_program_is_known_by_any_arguments_and_a_module_by_where_it_is_run(monkeypatch, tmp_path):
    programs = [["prog.py", "\udcff"], ["prog.py", "\udcfe"], ["train"], ["train", ""]]  # as Python gives bytes
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        monkeypatch.chdir(folder)
        for program in programs:
            for is_known in (False, True):
                block = tg.deferred(tiered=True)
                with remembered(block, program):
                    assert block.segments.budget.is_worth_compiling is is_known
                    monkeypatch.setattr(block.segments.budget, "experience", lambda: found(True))


def test_what_is_found_out(monkeypatch):
    steps_cost(monkeypatch, 10)
    block = tg.deferred(tiered=True)
    train(block, 11)
    assert block.segments.budget.experience() is None  # no steps to compare with
    block = tg.deferred(tiered=True)
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: 1000.0)
    train(block, 40)
    known = block.segments.budget.experience()
    assert known["eager"] > 0 and known["work"] > 0 and known["spent"] > 0


#: Seconds of an eager step and of one that programs do (None: too few were done to tell), of the first noted steps, and
#: how many steps there were in all: whether a later run of the same length is quicker with programs from the beginning.
VERDICTS = {
    "quicker": (0.010, 0.004, [0.1, 0.05, *[0.004] * 40], 100, True),
    "quicker, but recordings take longer than what is saved": (0.010, 0.004, [0.5, 0.3, *[0.004] * 40], 100, False),
    "the same in a longer run": (0.010, 0.004, [0.5, 0.3, *[0.004] * 40], 1000, True),
    "as quick": (0.010, 0.0095, [0.01] * 40, 1000, False),
    "slower": (0.010, 0.020, [0.02] * 40, 1000, False),
    "too few to tell, and cheap to try": (0.010, None, [0.1, 0.03], 100, True),
    "too few to tell, and dear": (0.010, None, [0.5, 0.03], 100, False),
    "many, of which programs have done none": (0.010, None, [0.01] * 20, 100, False),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_what_is_worth_it_for_a_run_as_long(name):
    eager, built, first, steps, is_worth_it = VERDICTS[name]
    known = budget.Budget()
    known.times.median = lambda is_eager: eager if is_eager else built
    known.times.first_noted, known.passes, known.steps = first, steps, steps - len(first)
    assert known.experience()["is_worth_it"] is is_worth_it


def test_a_run_without_noted_steps_finds_out_nothing():
    known = budget.Budget()
    known.times.median, known.passes = lambda is_eager: 0.01 if is_eager else None, 100
    assert known.experience() is None


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False, None])
def test_what_was_worth_it_may_be_found_not_to_be(monkeypatch, tmp_path, first, second):
    program = [str(tmp_path / "prog.py")]
    for verdict in (first, second):
        block = tg.deferred(tiered=True)
        monkeypatch.setattr(
            block.segments.budget, "experience", lambda is_worth_it=verdict: is_worth_it and found(True)
        )
        if verdict is False:
            monkeypatch.setattr(block.segments.budget, "experience", lambda: found(False))
        with remembered(block, program):
            pass
    later = tg.deferred(tiered=True)
    with remembered(later, program):
        assert later.segments.budget.is_worth_compiling is (first and second is not False)


def test_steps_that_numpy_does_say_nothing_of_what_programs_take(monkeypatch):
    steps_cost(monkeypatch, 10)
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: 1e12)  # nothing is worth being built
    block = tg.deferred(tiered=True)
    train(block, 20)
    times = block.segments.budget.times
    assert times.median(True) > 0 and times.median(False) is None
    train(block, 20)  # another model
    assert block.segments.budget.experience()["is_worth_it"] is False


def test_a_later_run_may_spend_what_the_earlier_one_has_spent(monkeypatch):
    later = tg.deferred(tiered=True).segments.budget
    later.learn(found(True))
    later.expenses.spend(0.9e7)
    assert later.is_worth_compiling
    for _ in range(100):  # of a program that goes on making something anew
        later.noted_step()
        later.expenses.spend(1e6)
    assert not later.is_worth_compiling


def test_what_a_step_makes_that_comes_back_is_within_what_may_be_spent(monkeypatch):
    """Noted steps of a model of some size record all of it, observe its passes, and put all points on the tree."""
    tg.manual_seed(0)
    monkeypatch.setattr(budget, "A_NODE", 8000.0)  # the warm-up takes a few steps
    layers = [tg.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(4)]
    model = tg.nn.Sequential(*layers, tg.nn.Flatten(), tg.nn.Linear(96, 2))
    optimizer = tg.optim.AdamW(model.parameters(), lr=1e-3)
    block = tg.deferred(tiered=True)
    spent = block.segments.budget.expenses
    with block:
        for _ in range(12):
            optimizer.zero_grad()
            loss = model(tg.rand(4, 6, 16)).square().mean()
            loss.backward()
            optimizer.step()
    assert spent.in_all > 600_000.0 and spent.rests == 0 and block.segments.budget.steps < 8


def test_segments_that_come_again_have_programs_whatever_is_new_elsewhere(monkeypatch):
    """Functions of the library that are called for the first time, one at each step, after the segment of the step."""
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    functions = [tg.nn.Sequential(*[tg.nn.Linear(64, 64) for _ in range(9)]) for _ in range(6)]
    w, x = tg.rand(256, 256, requires_grad=True), tg.rand(256, 256)
    block = tg.deferred()
    with block:
        for new in functions:
            (loss,) = tg.autograd.grad((x @ w).tanh().sum(), w)
            loss.sum().item()
            known = len(block.segments.programs)
            new(x[:64, :64]).sum().item()
    assert known >= 1


class Scaled(Dataset):
    """Items that are computed; `shift` may be pending."""

    def __init__(self, shift):
        self.shift, self.noted = shift, []

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return (tg.arange(64.0) * i).sub_(self.shift).div_(2)


@pytest.mark.parametrize("compiled", [False, True])
def test_items_of_a_dataset_are_computed_at_once(compiled):
    def batches():
        shift = tg.ones(64) * 3
        data = Scaled(shift)
        found = []
        for batch in DataLoader(data, batch_size=4):
            data.shift += batch.mean(0)  # pending when the next batch is made
            found.append(batch)
        return tg.cat(found)

    expected = batches()
    if compiled:
        step = tg.compile(batches)
        for _ in range(4):
            np.testing.assert_allclose(step().numpy(), expected.numpy(), rtol=1e-6)
        return
    block = tg.deferred()
    for _ in range(4):
        with block:
            actual = batches()
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-6)
    block = tg.deferred()
    with block:
        list(DataLoader(Scaled(1.0), batch_size=4))
    assert not block.segments.start.next
