"""KeyboardInterrupt in ``step.run``: a whole number of steps is done, with all that belongs to them.

One program is interrupted at one event after the other; after each, a twin does one by one as many steps as were done.
"""

import random
import signal
import sys
import threading
from pathlib import Path

import pytest

import tracegrad as tg
from tracegrad.compiled.execution import loop
from tracegrad.tensors.generator import default_generator

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

import interrupting as it  # noqa: E402

STEPS = 6


class Twins:
    """Two programs that are in the same state, and the batches of a run."""

    def __init__(self):
        self.ours, self.other = it.Step(), it.Step()
        for case in (self.ours, self.other):
            case.optimizer.param_groups[0]["lr"] = 1e-4  # numbers stay finite over thousands of steps
        rows = tg.arange(STEPS * 4.0).reshape(STEPS, 2, 2) / 100
        whole = tg.utils.data.TensorDataset(rows.reshape(-1, 2))
        own = tg.Generator()  # what a loader draws is no part of a step
        self.forms = {
            "stacked": lambda: rows,
            "list": lambda: list(rows),
            "loader": lambda: tg.utils.data.DataLoader(whole, batch_size=2, generator=own),
        }
        self.rows = list(rows)
        for form in self.forms:
            self.interrupt(form, it.Interrupter("line"))

    def interrupt(self, form, interrupter):
        """One run that is interrupted; returns how many of its steps were done, after the twin has done them."""
        kept = default_generator.get_state()
        batches = self.forms[form]()
        interrupter.run(lambda: self.ours.step.run(batches))
        it.assert_untouched_thread()
        after = self.state(self.ours)
        done = len(self.ours.losses) - len(self.other.losses)
        default_generator.set_state(kept)
        for row in self.rows[:done]:
            self.other.step(row)
        assert self.state(self.other) == after, interrupter.where
        return done

    @staticmethod
    def state(case):
        tensors = case.tensors()
        values = [None if v is None else v.tobytes() for v in case.state()]
        return values, [t.buffer.version for t in tensors], case.losses


@pytest.fixture(scope="module")
def twins():
    return Twins()


def interrupted(twins, form, kind, count):
    """Interrupt at each event of the kind, or at `count` of them; the numbers of steps that were done."""
    whole = it.Interrupter(kind)
    assert twins.interrupt(form, whole) == STEPS
    numbers = range(1, whole.count + 1)
    chosen = numbers if count is None else random.Random(form).sample(numbers, count)
    return [twins.interrupt(form, it.Interrupter(kind, at)) for at in chosen]


@pytest.mark.parametrize("form", ["stacked", "list", "loader"])
@pytest.mark.parametrize("longest", [-1.0, 1e6])
def test_a_sample(twins, form, longest, monkeypatch):
    monkeypatch.setattr(loop, "LONGEST", longest)
    done = interrupted(twins, form, "line", 30)
    assert set(done) >= {0, STEPS} and (longest > 0 or len(set(done)) > 3)


@pytest.mark.long(every=6)
@pytest.mark.parametrize("longest", [-1.0, 1e6])
@pytest.mark.parametrize("kind", ["line", "opcode"])
@pytest.mark.parametrize("form", ["stacked", "list", "loader"])
def test_many_events(twins, form, kind, longest, monkeypatch):
    monkeypatch.setattr(loop, "LONGEST", longest)
    done = interrupted(twins, form, kind, 250)
    assert set(done) >= {0, STEPS} and (longest > 0 or set(done) == set(range(STEPS + 1)))


def test_a_signal_comes_through_between_two_calls_of_c(monkeypatch):
    """A run of very many steps ends soon after Ctrl-C, at a whole step; the other steps are not done."""
    calls, run = [], loop.Loop.run

    def interrupting(self):
        calls.append(1)
        if len(calls) == 3:
            threading.Thread(target=signal.raise_signal, args=(signal.SIGINT,)).start()
        run(self)

    case = it.Step()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have switched off
    with pytest.raises(KeyboardInterrupt):
        monkeypatch.setattr(loop.Loop, "run", interrupting)
        case.step.run(tg.ones(1, 2, 2).expand(3_000_000, 2, 2).contiguous())
    signal.signal(signal.SIGINT, before)
    assert 0 < len(case.losses) < 3_000_000
    assert case.model[0].weight.buffer.version == len(case.losses) + it.Step().model[0].weight.buffer.version


def test_another_thread_runs_meanwhile():
    """C runs without the GIL."""
    seen, stop = [], threading.Event()
    case = it.Step()
    rows = tg.ones(200_000, 2, 2)

    def look():
        while not stop.is_set():
            seen.append(len(seen))

    thread = threading.Thread(target=look)
    case.step.run(rows[:10])
    thread.start()
    case.step.run(rows)
    stop.set()
    thread.join()
    assert len(case.losses) == 200_010 and len(seen) > 10
