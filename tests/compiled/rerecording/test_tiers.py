"""When the segments of a whole program are built, and by whom: counts decide, never a clock."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.common.budget import Budget
from tracegrad.compiled.execution.shape_cache import Programs
from tracegrad.compiled.lazy import backward_program, tiers
from tracegrad.compiled.recording.recording import Recording
from tracegrad.runtime import forked

can_fork = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="copies of a process are Linux's")

FIRST = 2  # steps of `losses` before the one in which its segment first comes
TAKEN = 12  # the occurrence at which the program is there, by `begins_at_4`


@pytest.fixture(autouse=True)
def processors(monkeypatch):
    """Two, whatever this machine has: one for the program, one for a copy of it."""
    monkeypatch.setattr(tiers, "usable_cpus", lambda: 2)
    monkeypatch.setattr(forked, "usable_cpus", lambda: 2)


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def begins_at_once(monkeypatch):
    """No steps in eager mode before the first that is noted; `test_budget.py` is about those."""
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")


@pytest.fixture(autouse=True)
def begins_at_4(monkeypatch):
    """Building begins when numpy has taken a quarter of it; numpy goes on for half of it: 16 runs would pay for it."""
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: 16.0)
    monkeypatch.setattr(tiers, "cost_by_numpy", lambda graph: 1.0)


def losses(block, steps, size=7):
    """A small program: what it has logged, and after how many steps it had how many programs. In its first two steps
    parts of the library come up, so that its segment comes for the first time in the third."""
    tg.manual_seed(0)
    weight = tg.randn(size, 3, requires_grad=True)
    log, counts = [], []
    for _ in range(steps):
        with block:
            x = tg.randn(5, size)
            loss = ((x @ weight).tanh() * x[:, :3]).sum()
            loss.backward()
        with tg.no_grad():
            weight -= 0.1 * weight.grad
            weight.grad = None
        log.append(loss.item())
        counts.append(len(block.segments.programs))
    return log, counts


def test_a_program_is_taken_at_an_occurrence_that_counts_decide():
    block = tg.deferred(tiered=True)
    _, counts = losses(block, FIRST + TAKEN + 3)
    assert counts == [0] * (FIRST + TAKEN - 1) + [1] * 4
    assert "0 from the cache, 1 built" in block.explain()


@pytest.mark.parametrize("eager", [0, 5, 1000])
@pytest.mark.parametrize("worth", [5, 16, 64, 300])
def test_numpy_goes_on_for_half_as_long_as_the_copy_takes(monkeypatch, worth, eager):
    """Steps of the warm-up let a building begin sooner. They do not make it shorter: what is waited for instead of
    computing is lost."""
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: float(worth))
    monkeypatch.setattr(tiers, "stored_key", lambda graph: (None, False))
    run = tg.compile(lambda x: x.sin() * 2)
    run(tg.ones(3))
    made = tiers.Tiers(Programs(), Budget())
    made.budget.steps = eager
    candidate = made.candidate(run.specialisations[0].graph, "here")
    begins = max(tiers.FIRST, math.ceil(worth / tiers.PART) - eager)
    assert candidate.begins == begins
    taken = next(i for i in range(2, 10 * worth) if made.is_due(candidate))
    assert taken == begins + math.ceil(worth / 2)


def test_what_the_cache_holds_is_taken_at_the_second_occurrence():
    losses(tg.deferred(tiered=True), FIRST + TAKEN)
    block = tg.deferred(tiered=True)
    assert losses(block, FIRST + 3)[1] == [0] * (FIRST + 1) + [1, 1]
    assert "1 from the cache, 0 built" in block.explain()


def of_two_lengths(block, rounds):
    """Steps whose last batch is shorter: how many programs there are after each."""
    tg.manual_seed(0)
    layer = tg.nn.Linear(6, 3)
    optimizer = tg.optim.SGD(layer.parameters(), 0.1)
    data, counts = tg.randn(20, 6), []
    with block:
        for begin in [0, 8, 16] * rounds:
            layer(data[begin : begin + 8]).tanh().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            counts.append(len(block.segments.programs))
    return counts


def test_programs_for_all_sizes_are_found_in_the_cache(monkeypatch):
    """Of another size than those before: the cache knows no program of its graph alone."""
    monkeypatch.setattr(tiers, "usable_cpus", lambda: 1)  # built by this process, which keeps what it knows, at once
    assert of_two_lengths(tg.deferred(tiered=True), 2 * TAKEN)[-1] == 2
    block = tg.deferred(tiered=True)
    assert of_two_lengths(block, 8)[-1] == 2
    assert "2 from the cache, 0 built" in block.explain()


def test_a_segment_that_does_not_come_often_is_not_built():
    block = tg.deferred(tiered=True)
    assert losses(block, FIRST + 3)[1][-1] == 0 and not block.segments.tiers.runs


@can_fork
def test_two_runs_with_an_empty_cache_give_the_same_bits(monkeypatch, tmp_path):
    found = []
    for run in range(3):
        monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / f"cache {run}"))
        if run == 2:  # in the foreground
            monkeypatch.setattr(forked, "usable_cpus", lambda: 1)
        block = tg.deferred(tiered=True)
        found.append(losses(block, 20)[0])
        assert block.segments.tiers.beside == (run < 2) and len(block.segments.programs) == 1
    assert found[0] == found[1] == found[2]


class Eager:
    """What stands in the place of a block."""

    class segments:
        programs = ()

    def __enter__(self):
        pass

    def __exit__(self, *exc_info):
        pass


def assert_right(log):
    assert log == pytest.approx(losses(Eager(), len(log))[0], rel=1e-4, abs=1e-5)


@can_fork
@pytest.mark.parametrize("fault", ["raises", "exits", "is killed"])
def test_where_a_copy_fails_the_program_is_built_all_the_same(monkeypatch, fault):
    def build():
        if fault == "exits":
            os._exit(7)
        if fault == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise RuntimeError

    monkeypatch.setattr(tiers, "_building", lambda programs, graph: build)
    others = [*forked._running]  # of blocks in earlier tests
    block = tg.deferred(tiered=True)
    log, counts = losses(block, FIRST + TAKEN)
    assert_right(log)
    assert counts[-2:] == [0, 1]
    assert block.segments.tiers.beside == 0
    assert all(copy in others for copy in forked._running)


@can_fork
def test_an_interrupt_while_a_copy_is_awaited(monkeypatch):
    waits = []

    def interrupted(self):
        waits.append(self.pid)
        if len(waits) == 1:
            raise KeyboardInterrupt
        self._look(0)

    monkeypatch.setattr(forked.Forked, "wait", interrupted)
    x, block = tg.arange(64.0) / 64, tg.deferred(tiered=True)
    interrupts = 0
    for i in range(TAKEN + 2):
        try:
            with block:
                y = (x * 2 + 1).exp().sum()
        except KeyboardInterrupt:
            interrupts += 1
        assert y.item() == pytest.approx((x * 2 + 1).exp().sum().item(), rel=1e-6), i
    assert (interrupts, len(waits), len(block.segments.programs)) == (1, 2, 1)


def test_beside_a_thread_that_may_hold_locks_nothing_is_forked(monkeypatch):
    monkeypatch.setattr(tiers, "threads_are_absent", lambda: False)
    monkeypatch.setattr(tiers, "forked", None)
    block = tg.deferred(tiered=True)
    log, counts = losses(block, FIRST + TAKEN)
    assert_right(log)
    assert counts[-2:] == [0, 1] and block.segments.tiers.beside == 0


def test_a_program_that_waits_for_its_children_forks_nothing():
    before = signal.signal(signal.SIGCHLD, lambda *args: None)
    try:
        assert not forked.can_be_forked()
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_place_with_ever_new_forms_gets_no_more_programs():
    block = tg.deferred(tiered=True)
    for size in range(4, 24):
        losses(block, FIRST + TAKEN + 1, size)
    made = block.segments.tiers
    # One program, and the one for all sizes, which serves all others.
    assert len(block.segments.programs) <= 20 and block.segments.sizes.built <= tiers.UNPAID
    counts = [tg.ones(3).mul(float(i)) for i in range(3)]
    for i in range(12):
        for _ in range(TAKEN + 1):
            with block:
                y = counts[0]
                for _ in range(i + 2):
                    y = y.sin() + counts[1]
            assert y.shape == (3,)
    assert sum(map(len, made.runs.values())) <= 2 * tiers.UNPAID
    assert sum(made.refused.values()) >= 5
    assert f"no further ones at {Path(__file__).name}" in block.explain()


def test_small_programs_do_not_stand_in_the_way_of_a_large_one(monkeypatch):
    """What came up on the way to a step's lasting form is little beside it."""
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: 16.0 if len(graph.nodes()) < 20 else 96.0)
    monkeypatch.setattr(tiers, "cost_by_numpy", lambda graph: 1.0 if len(graph.nodes()) < 20 else 6.0)
    block, x, built = tg.deferred(tiered=True), tg.ones(64), []
    for length in (2, 3, 4, 40):
        for _ in range(TAKEN + 1):
            with block:
                y = x
                for _ in range(length):
                    y = y.sin() + x
        built.append(len(block.segments.programs))
    assert built == [1, 2, 3, 4] and not block.segments.tiers.refused


def test_one_form_that_numpy_has_done_for_as_long_as_building_takes_is_built_in_any_case():
    block, x = tg.deferred(tiered=True), tg.ones(64)
    for length in (*range(2, 2 + tiers.UNPAID), 9):
        for _ in range(TAKEN + 1 if length < 9 else 33):
            with block:
                y = x
                for _ in range(length):
                    y = y.sin() + x
        assert bool(block.segments.tiers.refused) is (length == 9)
    assert len(block.segments.programs) == tiers.UNPAID + 1


def test_what_numpy_takes_longer_for_than_building_is_built_at_its_second_occurrence(monkeypatch):
    monkeypatch.setattr(tiers, "cost_by_numpy", lambda graph: 20.0)
    _, counts = losses(tg.deferred(tiered=True), FIRST + 4)
    assert counts == [0] * (FIRST + 2) + [1] * 2


CONTRACTIONS = {
    "a product": (lambda x: x @ x.t(), (6, 5), 6 * 6 * 5),
    "a batch of products": (lambda x: x @ x.mT, (3, 4, 5), 3 * 4 * 4 * 5),
    "a convolution": (lambda x: tg.conv2d(x, tg.ones(4, 3, 2, 2)), (2, 3, 5, 5), 2 * 4 * 4 * 4 * 3 * 2 * 2),
    "one in groups": (lambda x: tg.conv1d(x, tg.ones(4, 1, 3), groups=2), (2, 2, 8), 2 * 4 * 6 * 3),
    "its transpose": (lambda x: tg.conv_transpose1d(x, tg.ones(3, 4, 2)), (2, 3, 5), 2 * 3 * 5 * 4 * 2),
    "no product": (lambda x: (x * x).sum(), (6, 5), 0),
}


@pytest.mark.parametrize("name", CONTRACTIONS)
@pytest.mark.parametrize("derives", [False, True])
def test_products_and_convolutions_count_by_their_multiplications(name, derives):
    """Each derivative of one takes as many as itself."""
    function, shape, expected = CONTRACTIONS[name]

    def step(x):
        if derives:
            x = x.clone().requires_grad_()
            return tg.autograd.grad(function(x).exp().sum(), x)[0]
        return function(x)

    run = tg.compile(step)
    run(tg.ones(shape) * 0.1)
    (only,) = run.specialisations
    found = sum(map(tiers._multiplications, only.graph.nodes()))
    assert found == expected if not derives else found in (2 * expected, 3 * expected)


def test_programs_that_are_run_often_make_room_for_others():
    block, x = tg.deferred(tiered=True), tg.ones(64)
    for i in range(2 * tiers.UNPAID):
        for _ in range(TAKEN + 16):
            with block:
                y = x
                for _ in range(i + 2):
                    y = y.sin() + x
    assert len(block.segments.programs) == 2 * tiers.UNPAID and not block.segments.tiers.refused


@can_fork
def test_a_program_that_ends_while_a_copy_builds_ends_at_once():
    code = """
import time
import tracegrad as tg
from tracegrad.compiled.lazy import tiers
from tracegrad.runtime import forked
forked.usable_cpus = tiers.usable_cpus = lambda: 2
tiers.cost_of_building, tiers.cost_by_numpy = lambda graph: 16.0, lambda graph: 1.0
tiers._building = lambda programs, graph: lambda: time.sleep(1000)
x, block = tg.ones(64), tg.deferred(tiered=True)  # fewer numbers are computed at once
for _ in range(6):
    with block:
        y = (x + 1) * 2
print([each.pid for each in forked._running], y[:3].tolist())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0 and ended.stderr == "" and ended.stdout.endswith(" [4.0, 4.0, 4.0]\n")
    pid = int(ended.stdout.partition("]")[0][1:])
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text():
        time.sleep(0.05)  # or the test is stopped


@can_fork
def test_a_copy_holds_no_files_of_the_program(tmp_path):
    read, write = os.pipe()
    copy = forked.forked(lambda: (tmp_path / "done").write_text("done"))
    os.close(write)
    assert os.read(read, 1) == b""  # nobody else holds the other end
    copy.wait()
    os.close(read)
    assert (tmp_path / "done").exists() and copy.has_ended() and not copy.has_failed
    with pytest.raises(ChildProcessError):
        os.waitpid(copy.pid, 0)


def test_tg_compile_builds_at_the_second_call():
    step = tg.compile(lambda x: x * 2 if x.sum() > 0 else -x)
    for _ in range(4):
        step(tg.ones(3))
    assert step.way == "re-record" and step.segments.tiers is None and step.segments.programs


def episodes(block, lengths):
    """Steps whose losses are made of lists of changing length; the losses."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 2))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)
    log = []
    with block:
        for length in lengths:
            collected = [tg.log_softmax(model(tg.rand(1, 4)), 1).sum() for _ in range(length)]
            loss = tg.stack([-each * (i + 1) for i, each in enumerate(collected)]).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log.append(loss.item())
    return log


def test_what_never_repeats_is_eager():
    """Ever longer episodes: after some steps what is new is not noted, but at every eighth."""
    lengths = range(2, 42)
    block = tg.deferred(tiered=True)
    log = episodes(block, lengths)
    np.testing.assert_allclose(log, episodes(Eager(), lengths), rtol=1e-4)
    assert block.segments.departures.rests >= 20
    assert log == episodes(tg.deferred(tiered=True), lengths)  # counts decide


def test_what_repeats_is_never_left_to_eager_mode():
    block = tg.deferred(tiered=True)
    log = episodes(block, [3] * 30)
    np.testing.assert_allclose(log, episodes(Eager(), [3] * 30), rtol=1e-4)
    assert block.segments.departures.rests == 0 and block.segments.programs


def written(block, length, grows=True):
    """A text written word by word, by a model that sees all of it, or the latest four words; after three steps."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Embedding(9, 8), tg.nn.Linear(8, 8), tg.nn.Tanh(), tg.nn.Linear(8, 9))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)
    with block:
        for _ in range(3):
            optimizer.zero_grad()
            model(tg.arange(5)).sum().backward()
            optimizer.step()
        words, text = tg.zeros(1, 4, dtype=tg.int64), []
        for _ in range(length):
            latest = model(words)[:, -1].softmax(-1).argmax(-1, keepdim=True)
            words = tg.cat([words if grows else words[:, 1:], latest], 1)
            text.append(latest.item())
    return text


def test_texts_that_grow_are_written_in_eager_mode():
    """No backward pass comes that would end a step: a call of the model is one."""
    block = tg.deferred(tiered=True)
    assert written(block, 40) == written(Eager(), 40)
    assert block.segments.departures.rests == 1
    events = len(block.segments.start.next)
    longer = tg.deferred(tiered=True)
    written(longer, 60)
    assert len(longer.segments.start.next) == events  # nothing more is noted, however long it goes on


def test_texts_of_one_form_are_not_left_to_eager_mode():
    block = tg.deferred(tiered=True)
    assert written(block, 40, grows=False) == written(Eager(), 40, grows=False)
    assert block.segments.departures.rests == 0


class MakesALayerEachTime(tg.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = tg.nn.Linear(4, 4)

    def forward(self, x):
        return tg.nn.ReLU()(self.inner(x))


def test_recordings_that_fail_become_rare(monkeypatch):
    recordings = []
    original = Recording.run

    def counted(self, function, args, kwargs):
        recordings.append(type(function))
        return original(self, function, args, kwargs)

    monkeypatch.setattr(Recording, "run", counted)
    model, x = MakesALayerEachTime(), tg.ones(2, 4)
    with tg.deferred(tiered=True), tg.no_grad():
        for _ in range(60):
            y = model(x)
    np.testing.assert_allclose(y.numpy(), model(x).detach().numpy(), rtol=1e-6)
    assert recordings.count(MakesALayerEachTime) <= 4  # at the first, fourth, 16th ... call


def test_backward_passes_that_are_made_alone_are_built_once_that_pays(monkeypatch):
    """What is not noted, since it comes after the block, is computed by numpy until then."""
    monkeypatch.setattr(backward_program, "runs_worth_building", lambda graph: 16)
    bound, binding = [], backward_program.Binding
    monkeypatch.setattr(backward_program, "Binding", lambda program: bound.append(i) or binding(program))
    model, x = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 2)), tg.ones(3, 4)
    (x_grad,) = tg.autograd.grad(model(x).sum(), [model[0].weight])
    block = tg.deferred(tiered=True)
    for i in range(24):  # noqa: B007 - what is bound says when
        with block:
            out = model(x).sum()
        out.backward()
        np.testing.assert_allclose(model[0].weight.grad.numpy(), x_grad.numpy(), rtol=1e-5)
        model.zero_grad()
    assert bound and min(bound) >= 15


class Grown(tg.nn.Module):
    """A model of several layers, for sequences of any length."""

    def __init__(self):
        super().__init__()
        self.layers = tg.nn.ModuleList(tg.nn.Sequential(tg.nn.Linear(4, 4), tg.nn.LayerNorm(4)) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = x + tg.nn.functional.softmax(layer(x), dim=-1)
        return x


def test_what_is_in_a_model_is_not_recorded_for_a_form_that_the_model_waits_for(monkeypatch):
    """Sequences that grow are recorded for the model at its 1st, 2nd, 4th, 8th, ... call, never for each layer."""
    recorded, original = [], Recording.run

    def counted(self, function, args, kwargs):
        recorded.append(type(getattr(function, "__self__", function)))
        return original(self, function, args, kwargs)

    monkeypatch.setattr(Recording, "run", counted)
    tg.manual_seed(0)
    model, block = Grown(), tg.deferred(tiered=True)
    inputs = [tg.randn(64, length, 4) for length in range(1, 24)]
    with tg.no_grad(), block:
        model(inputs[0]), model(inputs[0]), model(inputs[0])  # the parts come up and the model is recorded
        before = len(recorded)
        assert Grown in recorded
        found = [model(x).clone() for x in inputs]
    assert 0 < len(recorded) - before <= 5 and set(recorded[before:]) == {Grown}
    with tg.no_grad():
        for x, y in zip(inputs, found, strict=True):
            np.testing.assert_allclose(y.numpy(), model(x).numpy(), rtol=1e-5, atol=1e-6)


def test_what_is_in_a_model_that_cannot_be_recorded_is(monkeypatch):
    class Looked(Grown):
        def forward(self, x):
            return super().forward(x) if x.sum() < 1e9 else x

    recorded, original = [], Recording.run

    def counted(self, function, args, kwargs):
        recorded.append(type(getattr(function, "__self__", function)))
        return original(self, function, args, kwargs)

    monkeypatch.setattr(Recording, "run", counted)
    model, block = Looked(), tg.deferred(tiered=True)
    with tg.no_grad(), block:
        for _ in range(8):
            model(tg.ones(64, 5, 4))
    assert tg.nn.Sequential in recorded
