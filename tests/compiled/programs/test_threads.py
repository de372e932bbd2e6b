"""Training steps on several threads: the same numbers to the last bit, and workers that take part."""

import os
import threading

import numpy as np
import pytest

from tracegrad.runtime import threads
from tracegrad.runtime.program import ffi


@pytest.fixture(autouse=True)
def many_cpus(monkeypatch, tg):
    monkeypatch.setattr(threads, "usable_cpus", lambda: 8)
    yield
    tg.set_num_threads(1)


def training(tg, seed=0):
    """A step of an MLP with Adam, whose products are worth sharing, and its parameters."""
    tg.manual_seed(seed)
    layers = [tg.nn.Linear(200, 256), tg.nn.ReLU(), tg.nn.LayerNorm(256), tg.nn.Linear(256, 100)]
    model = tg.nn.Sequential(*layers)
    optimizer = tg.optim.Adam(model.parameters(), lr=1e-3)

    @tg.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = tg.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, list(model.parameters())


def data(tg, batch=128):
    tg.manual_seed(1)
    return tg.randn(batch, 200), tg.randint(0, 100, (batch,))


def trained(tg, numbers):
    """The bytes of losses and parameters after a step on each number of threads."""
    step, parameters = training(tg)
    batch = data(tg)
    losses = []
    for number in numbers:
        tg.set_num_threads(number)
        losses.append(step(*batch).item())
    return losses, [p.detach().numpy().tobytes() for p in parameters], step


def test_the_same_bits_with_any_number_of_threads_also_if_it_changes_between_steps(tg):
    losses, parameters, step = trained(tg, [1] * 8)
    assert losses[-1] < losses[0]
    for numbers in ([2] * 8, [3] * 8, [1, 2, 3, 1, 4, 1, 2, 8]):
        before = threads.counts(ffi)[1]
        assert (losses, parameters) == trained(tg, numbers)[:2]
        assert threads.counts(ffi)[1] > before
    shared = [kernel for kernel in step.schedule.kernels if getattr(kernel, "split", None)]
    assert len(shared) >= 5
    assert str(step.schedule).count("  parallel ") == len(shared)
    assert step.source.count("tg_parallel((tg_work)") >= len(shared)


def test_a_batch_of_another_size_is_shared_too(tg):
    """One program for all sizes: its extents are known when it runs."""

    def losses(number):
        tg.set_num_threads(number)
        step, _ = training(tg)
        return [step(*data(tg, batch)).item() for batch in (64, 128, 192, 96, 7, 192)]

    assert losses(1) == losses(3) == losses(2)


def test_two_threads_of_the_program_train_at_the_same_time(tg):
    expected = trained(tg, [1] * 20)[:2]
    tg.set_num_threads(2)
    tasks = [training(tg), training(tg)]
    batch = data(tg)
    found = [[], []]

    def work(place):
        found[place] = [tasks[place][0](*batch).item() for _ in range(20)]

    workers = [threading.Thread(target=work, args=(place,)) for place in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for place, (_, parameters) in enumerate(tasks):
        assert (found[place], [p.detach().numpy().tobytes() for p in parameters]) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_process_goes_on_training(tg):
    tg.set_num_threads(2)
    step, parameters = training(tg)
    batch = data(tg)
    for _ in range(3):
        step(*batch)
    reader, writer = os.pipe()
    child = os.fork()
    losses = np.array([step(*batch).item() for _ in range(5)])
    if not child:
        os.write(writer, losses.tobytes())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 1000) == losses.tobytes()
    os.close(reader), os.close(writer)


def test_a_function_that_sets_or_reads_the_number_runs_in_python(tg):
    def double(x):
        tg.set_num_threads(tg.get_num_threads() % 2 + 1)
        return x * 2

    step = tg.compile(double)
    for number in (2, 1, 2, 1):
        assert step(tg.ones(3)).tolist() == [2, 2, 2]
        assert tg.get_num_threads() == number
    assert "the number of threads inside a compiled function" in str(step.explain())
