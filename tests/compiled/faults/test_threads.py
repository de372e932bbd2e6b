"""One compiled function called from many threads, and calls that KeyboardInterrupt stops: whole effects, or none."""

import random
import signal
import sys
import threading
import time

import numpy as np
import pytest

import tracegrad as tg

THREADS, CALLS = 8, 150


@pytest.fixture(autouse=True)
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work):
    """``work(number)`` in each of many threads at once; the first exception is raised here."""
    errors, start = [], threading.Barrier(THREADS)

    def run(number):
        start.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("warm", [True, False], ids=["recorded before", "recorded in the threads"])
@pytest.mark.parametrize("keyword", [False, True], ids=["usual", "general"])
def test_results_belong_to_their_arguments(warm, keyword):
    model = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 1))
    model.requires_grad_(False)

    def run(x):
        return model(x).sum()

    step = tg.compile(run)
    if warm:
        for _ in range(3):
            step(tg.zeros(2, 4))
    batches = [[tg.randn(2, 4) for _ in range(CALLS)] for _ in range(THREADS)]
    expected = [[run(x).item() for x in own] for own in batches]
    results = [[] for _ in range(THREADS)]

    def work(number):
        for x in batches[number]:
            results[number].append(step(x=x) if keyword else step(x))

    in_threads(work)
    for own, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose([r.item() for r in own], wanted, rtol=1e-5, atol=1e-5)  # sums in another order
    assert len(step.specialisations) <= 1 + THREADS  # threads may record the same call at the same time


def test_a_shared_state_gets_every_step():
    """Whole numbers, so that the order of the steps does not matter."""
    w, total = tg.zeros(3, requires_grad=True), tg.zeros(3)
    optimizer = tg.optim.SGD([w], lr=1.0)

    def run(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        total.add_(x)
        return x.sum()

    step = tg.compile(run)
    for _ in range(3):
        step(tg.zeros(3))
    version = w._version, total._version
    batches = [[tg.tensor([float(i), 1.0, float(n)]) for i in range(CALLS)] for n in range(THREADS)]
    results = [[] for _ in range(THREADS)]

    def work(number):
        for x in batches[number]:
            results[number].append(step(x).item())

    in_threads(work)
    steps = THREADS * CALLS
    everything = np.sum([x.ndarray for own in batches for x in own], axis=0)
    np.testing.assert_array_equal(total.ndarray, everything)
    np.testing.assert_array_equal(w.detach().ndarray, -everything)
    assert results == [[float(x.ndarray.sum()) for x in own] for own in batches]
    assert (w._version - version[0], total._version - version[1]) == (steps, steps)
    assert step.way == "replay" and len(step.specialisations) == 1


@pytest.fixture
def interrupt():
    """``interrupt(call)``: `call` in a loop until KeyboardInterrupt comes at a random time; how often it was called."""

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)

    def run(call, longest):
        count = 0
        try:
            # Once more later on: Python loses an exception that comes within a finaliser.
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, longest), 0.05)
            while True:
                call()
                count += 1
        except KeyboardInterrupt:
            return count
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    yield run
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


# An exception that comes within a finaliser is lost, which pytest warns of; the next one comes soon.
LOST = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@LOST
@pytest.mark.parametrize("way", ["usual", "general", "kept gradients"])
def test_an_interrupt_leaves_whole_calls(interrupt, way):
    """Two parameters, a sum and the gradients move together in each call, and so do their versions."""
    one, two, total = tg.zeros(2, requires_grad=True), tg.zeros(300, requires_grad=True), tg.zeros(2)
    optimizer = tg.optim.SGD([one, two], lr=1.0)

    def run(x):
        optimizer.zero_grad()
        loss = (one * x).sum() + (two * 2 * x[0]).sum() + total.sum()
        loss.backward()
        optimizer.step()
        total.add_(x)
        return loss

    step, x, kept = tg.compile(run), tg.ones(2), []
    for _ in range(4):
        step(x)

    def call():
        if way == "kept gradients":
            kept[:] = [one.grad, two.grad]
        step(x=x) if way == "general" else step(x)

    call()
    call()
    versions = [t._version for t in (one, two, total)]
    done = total.ndarray[0]
    for _ in range(400):
        interrupt(call, 3e-4)
        calls = total.ndarray[0]
        assert (one.detach().ndarray == -calls).all() and (two.detach().ndarray == -2 * calls).all()
        assert (total.ndarray == calls).all()
        assert (one.grad.ndarray == 1).all() and (two.grad.ndarray == 2).all()
        steps = int(calls - done)
        assert [t._version - v for t, v in zip((one, two, total), versions, strict=True)] == [steps] * 3
        step(x)  # the next call works
        assert total.ndarray[0] == calls + 1
    assert len(step.specialisations) <= 2 and step.way == "replay"


@LOST
def test_an_interrupt_in_a_first_call_leaves_a_function_that_can_be_recorded(interrupt):
    for _ in range(20):
        step = tg.compile(lambda x: (x * 2).exp().sum())
        interrupt(lambda step=step: step(tg.ones(4)), 2e-2)
        for _ in range(3):
            assert abs(step(tg.ones(4)).item() - 4 * np.exp(2.0)) < 1e-4
        assert tg.zeros(1).requires_grad is False and sys.getprofile() is None


@LOST
def test_an_interrupt_while_another_thread_calls(interrupt):
    total = tg.zeros(2)

    def run(x):
        total.add_(x)
        return x * 2

    step, stopping = tg.compile(run), threading.Event()
    for _ in range(3):
        step(tg.ones(2))
    before = int(total.ndarray[0])
    counted = [0]

    def others():
        while not stopping.is_set():
            step(tg.ones(2))
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=others)
    thread.start()
    own = sum(interrupt(lambda: step(tg.ones(2)), 2e-3) for _ in range(50))
    stopping.set()
    thread.join(timeout=60)
    assert not thread.is_alive()  # no lock was left behind
    calls = int(total.ndarray[0]) - before
    assert own + counted[0] <= calls <= own + counted[0] + 50  # an interrupted call has been done, or not
    assert (total.ndarray == total.ndarray[0]).all()
