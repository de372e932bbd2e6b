"""``with tg.deferred():`` and threads: what another thread sees is never pending."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import tracegrad as tg
from tracegrad.ops.core import current
from tracegrad.tensors.tensor import EAGER


def in_threads(works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_a_pool(works):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda work: work(), works))


def by_timers(works):
    timers = [threading.Timer(0, work) for work in works]
    for timer in timers:
        timer.start()
    for timer in timers:
        timer.join()


def train(start):
    tg.manual_seed(0)
    models = [tg.nn.Linear(4, 1) for _ in range(3)]
    optimizers = [tg.optim.SGD(model.parameters(), 0.1) for model in models]
    x = tg.arange(8.0).reshape(2, 4) / 8

    def work(model, optimizer):
        for _ in range(5):
            optimizer.zero_grad()
            (model(x) ** 2).mean().backward()
            optimizer.step()

    start([lambda i=i: work(models[i], optimizers[i]) for i in range(3)])
    return [p.tolist() for model in models for p in (model.weight, model.weight.grad)]


@pytest.mark.parametrize("start", [in_threads, in_a_pool, by_timers])
def test_threads_that_are_started_in_a_block(start):
    expected, method = train(start), threading.Thread.start
    for _ in range(2):
        with tg.deferred():
            assert train(start) == expected
            assert current() is EAGER  # from the first thread on
        assert threading.Thread.start is method and current() is EAGER


def test_a_block_beside_a_thread_of_the_program_is_eager():
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    thread.start()
    try:
        with pytest.warns(RuntimeWarning, match="another thread of the program alive"), tg.deferred():
            assert current() is EAGER
    finally:
        event.set()
        thread.join()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tg.deferred():
            assert current() is not EAGER


def test_an_error_after_a_start_leaves_everything_as_before():
    method = threading.Thread.start
    with pytest.raises(ZeroDivisionError), tg.deferred(), tg.deferred():
        in_threads([lambda: None])
        raise ZeroDivisionError
    assert threading.Thread.start is method and current() is EAGER
