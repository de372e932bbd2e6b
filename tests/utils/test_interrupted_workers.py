"""Loaders with workers, interrupted at any line of the package: no worker stays, and the next epoch is whole."""

import gc
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "compiled" / "faults"))
from interrupting import Interrupter, assert_untouched_thread  # noqa: E402

from tracegrad.ops.locks import foreign_locks, release_all  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    # Python drops what comes in a function that fork() calls.
    pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers are forked"),
]
BATCHES = [[0.0, 1.0], [2.0, 3.0], [4.0]]
PATIENCE = 20.0  # seconds, of which a busy machine takes some; a worker whose loader has gone ends by itself


class Epochs:
    """Two epochs over five items, the second of which, or a part of it, is interrupted."""

    def __init__(self, tg, is_persistent):
        data = tg.utils.data.TensorDataset(tg.arange(5.0))
        self.loader = tg.utils.data.DataLoader(data, 2, num_workers=2, persistent_workers=is_persistent)
        self.batches = None
        self.seen = []
        assert self.epoch() == BATCHES

    def epoch(self):
        return [batch.tolist() for (batch,) in self.loader]

    def call(self):
        self.batches = iter(self.loader)
        for (batch,) in self.batches:
            self.seen.append(batch.tolist())


def rest_of(batches):
    """What comes if the same iteration goes on, None if it is refused."""
    try:
        return [batch.tolist() for (batch,) in batches]
    except RuntimeError as error:
        assert "this iteration was interrupted" in str(error)
        return None


def assert_nothing_is_left(before):
    """No process but those that were there before, which are of other tests."""
    gc.collect()
    until = time.monotonic() + PATIENCE
    while not before.issuperset(multiprocessing.active_children()) and time.monotonic() < until:
        time.sleep(0.01)
    assert before.issuperset(multiprocessing.active_children())


def interrupted(tg, is_persistent, at, goes_on):
    before = set(multiprocessing.active_children())
    case, interrupter = Epochs(tg, is_persistent), Interrupter("line", at)
    # In a generator, whose exceptions are its own: one that a trace function raises in a line with `except` leaves the
    # exception there that was caught, with its frames. No signal comes there.
    next(interrupter.run(call) for call in (case.call,))
    if interrupter.where is None:
        return
    release_all()  # a trace function raises also where Python looks for no signal, at the end of a `with` block
    try:
        assert_untouched_thread()
        assert not any(lock.locked() for lock in foreign_locks())
        if goes_on and case.batches is not None:
            rest = rest_of(case.batches)
            # A batch that was on its way to the program may be lost with the `next` that was interrupted.
            lost = BATCHES[len(case.seen) :]
            assert rest is None or rest in (lost, lost[1:])
        case.batches = None
        for _ in range(2):
            assert case.epoch() == BATCHES
        del case
        assert_nothing_is_left(before)
    except AssertionError as error:
        error.add_note(f"interrupted in {interrupter.where}, event {at}")
        raise


def places(tg, is_persistent):
    """The first and the last event of each place of an epoch."""
    case, interrupter = Epochs(tg, is_persistent), Interrupter("line")
    interrupter.run(case.call)
    return sorted({at for both in interrupter.seen.values() for at in both})


@pytest.mark.long(every=23)
@pytest.mark.parametrize("part", range(12))
@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("is_persistent", [False, True])
def test_an_epoch_that_is_interrupted(tg, is_persistent, goes_on, part):
    for at in places(tg, is_persistent)[part::12]:
        interrupted(tg, is_persistent, at, goes_on)


@pytest.mark.parametrize("is_persistent", [False, True])
def test_half_a_message(tg, is_persistent):
    """An interrupt between the two parts of a large batch: what is left of it in the connection is read by nobody."""
    data = tg.utils.data.TensorDataset(tg.ones(4, 200, 100))
    loader = tg.utils.data.DataLoader(data, 2, num_workers=1, persistent_workers=is_persistent)
    interrupter = Interrupter("line", look=lambda: None)
    batches = iter(loader)

    def look():
        frame = sys._getframe(2)
        if frame.f_code.co_name == "receive" and "payload" in frame.f_locals:
            interrupter.at = interrupter.count

    interrupter.look = look
    assert interrupter.run(lambda: next(batches)) and "receive" in interrupter.where
    assert rest_of(batches) is None
    assert [batch.shape for (batch,) in loader] == [(2, 200, 100)] * 2


def test_workers_that_were_interrupted_as_well(tg):
    """Ctrl-C in a terminal goes to the workers, too: those of a persistent loader are replaced."""
    case = Epochs(tg, True)
    for _ in range(3):
        for worker in case.loader._iterator._workers:
            os.kill(worker.process.pid, signal.SIGINT)
        assert case.epoch() == BATCHES
    first = case.loader._iterator._workers[0].process
    os.kill(first.pid, signal.SIGKILL)
    first.join()
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        case.epoch()
