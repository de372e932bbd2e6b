"""Other: threads, interruption, clocks, files and environment, copies, functions of all forms."""

import copy
import functools
import gc
import os
import pickle
import re
import signal
import threading
import time

import numpy as np
import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, noted, ramp, weight

ask = Section("Other")


def in_threads(work, count=4):
    """Run ``work(n)`` in `count` threads; what they raised."""
    errors = []

    def guarded(n):
        try:
            work(n)
        except BaseException as error:  # noqa: BLE001  reported to the test
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@ask.replay(calls=4, c_calls=3 + 4 * 20)
def called_from_many_threads(tg, compiled):
    """Is one compiled function, called from many threads, right in each?"""
    w = ramp(tg, 8)
    shared = compiled(lambda x: (w * x).exp().sum(0))
    wrong = []

    def work(n):
        for k in range(5):
            x = ramp(tg, 2, 8) * 0.1 * (n + k)
            if not np.allclose(shared(x).numpy(), np.exp(w.numpy() * x.numpy()).sum(0), rtol=1e-5):
                wrong.append((n, k))

    def after(i, out):
        wrong.extend(in_threads(work))

    shared(ramp(tg, 2, 8))
    return Program(lambda x: x * w, batches(tg, 8), lambda: wrong, after=after)


@ask.either(calls=4)
def first_call_in_threads(tg, compiled):
    """Is a function whose first calls come from many threads at once right in each?"""
    w, results = ramp(tg, 8), {}

    def after(i, out):
        fresh = compiled(lambda x: (w * x).tanh() + i)

        def work(n):
            results[i, n] = fresh(ramp(tg, 8) * n)

        results["errors", i] = [str(e) for e in in_threads(work)]

    return Program(lambda x: x * w, batches(tg, 8), lambda: dict(sorted(results.items(), key=str)), after=after)


@ask.either(calls=4)
def a_model_for_each_thread(tg, compiled):
    """Do threads that train a model each, by one compiled function, train their own?"""
    models = [tg.nn.Linear(3, 1) for _ in range(3)]

    @compiled
    def train(model, x):
        model.zero_grad()
        model(x).pow(2).mean().backward()
        with tg.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad

    def after(i, out):
        errors = in_threads(lambda n: [train(models[n], batch(tg, k, 4, 3)) for k in range(3)], 3)
        assert not errors, errors

    return Program(lambda x: x * 2, batches(tg, 3), lambda: [list(m.parameters()) for m in models], after=after)


@ask.either(calls=4)
def grad_mode_of_a_thread(tg, compiled):
    """Is the grad mode a thread's own, compiled too?"""
    w, seen = weight(tg, 3), []
    shared = compiled(lambda x: w * x)

    def work(n):
        with tg.no_grad():
            seen.append(shared(ramp(tg, 3)).requires_grad)

    def after(i, out):
        in_threads(work, 1)
        seen.append(shared(ramp(tg, 3)).requires_grad)

    return Program(lambda x: x * 2, batches(tg, 3), lambda: seen, after=after)


@ask.either()
def copied_between_calls(tg, compiled):
    """Is a deep copy of a compiled model a model of its own?"""
    model = compiled(tg.nn.Linear(3, 2))
    copies = []

    def after(i, out):
        copies.append(copy.deepcopy(model))
        with tg.no_grad():
            for p in copies[-1].parameters():
                p.add_(1.0)

    def step(x):
        return [m(x).detach() for m in (model, *copies)]

    return Program(step, batches(tg, 2, 3), tuple, after=after)


@ask.either()
def pickled_between_calls(tg):
    """Are a model and an optimizer that are saved and loaded between calls the same ones?"""
    world = {"model": tg.nn.Linear(3, 1)}
    world["optimizer"] = tg.optim.SGD(world["model"].parameters(), lr=0.1, momentum=0.9)

    def between(i):
        if i == 3:
            world.update(pickle.loads(pickle.dumps(world)))

    def step(x):
        world["optimizer"].zero_grad()
        world["model"](x).pow(2).mean().backward()
        world["optimizer"].step()

    return Program(step, batches(tg, 4, 3), lambda: list(world["model"].parameters()), between)


@ask.replay(specialisations=2)
def partial_with_other_values(tg):
    """Is a functools.partial whose keywords change noticed?"""

    def scaled(x, how):
        return getattr(x, how)()

    bound = functools.partial(scaled, how="sum")

    def between(i):
        bound.keywords["how"] = "mean" if i == 3 else "sum"

    return Program(bound, batches(tg, 3), tuple, between)


@ask.either()
def collected_in_between(tg):
    """Do garbage collections between and within calls change nothing?"""

    def step(x):
        y = x * 2
        gc.collect()
        return y + 1

    return Program(step, batches(tg, 3), tuple, lambda i: gc.collect())


@ask.either()
def environment_read(tg):
    """Is a variable of the environment, which a step asks at each call, either read anew or reported as frozen?"""
    os.environ["TG_SEMANTICS"] = "1"

    def between(i):
        os.environ["TG_SEMANTICS"] = "2" if i == 3 else "1"

    return Program(lambda x: x * int(os.environ["TG_SEMANTICS"]), batches(tg, 3), tuple, between)


@ask.either()
def environment_by_getenv(tg):
    """Is os.getenv, asked at each call, either read anew or reported as frozen?"""
    os.environ["TG_SEMANTICS"] = "1"

    def between(i):
        os.environ["TG_SEMANTICS"] = "2" if i == 3 else "1"

    return Program(lambda x: x * int(os.getenv("TG_SEMANTICS", "0")), batches(tg, 3), tuple, between)


@ask.rerecord()
def file_read(tg, tmp="semantics.txt"):
    """Is a file that the step reads read at each call?"""
    path = f"/proc/self/{'comm'}"

    def step(x):
        with open(path) as file:  # here
            return x * len(file.read())

    return Program(step, batches(tg, 3))


def test_a_clock_goes_on(tg):
    """Does a clock that the step reads go on, and is the line named?"""
    if tg.__name__ == "torch":
        pytest.skip("PyTorch's compiler is not asked")
    step = tg.compile(lambda x: (x * 2, time.perf_counter_ns()))
    times = [step(ramp(tg, 3))[1] for _ in range(4)]
    assert len(set(times)) == 4 and times == sorted(times)
    assert step.way == "re-record"
    assert re.search(r"a clock[^\n]*\n *at [^\n]*test_other_questions.py:\d+", step.explain())


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, which a shell switches off for what it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupting():
    """A thread that sends what Ctrl-C sends in a moment."""
    timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_interrupted_by_a_signal(tg, interruptible):
    """Does Ctrl-C between and within calls leave a state from which training goes on?"""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals arrive in the main thread")
    w = weight(tg, 16)
    optimizer = tg.optim.SGD([w], lr=1e-7)  # so small that many steps leave something to compare

    @tg.compile
    def step(x):
        optimizer.zero_grad()
        loss = (w * x).pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = ramp(tg, 16)
    for _ in range(3):
        step(x)
    interrupted = 0
    for _ in range(5):
        timer = interrupting()
        try:
            while True:
                step(x)
                if not timer.is_alive():
                    time.sleep(0.05)  # where a late interrupt comes; Python loses one that comes within a finaliser
                    timer = interrupting()
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
    assert interrupted == 5
    before = noted(w).numbers
    step(x)
    expected = before - 1e-7 * 2 * before * x.numpy() ** 2
    np.testing.assert_allclose(w.detach().numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("question", ask.rows())
def test_other(answer, question):
    answer(question)
