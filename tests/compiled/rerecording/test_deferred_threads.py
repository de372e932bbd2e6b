"""``with tg.deferred():`` and threads: what another thread sees is never pending."""

import io
import tempfile
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
        with pytest.warns(RuntimeWarning, match="another thread of the program alive") as caught, tg.deferred():
            assert current() is EAGER
        with pytest.warns(RuntimeWarning, match="another thread of the program alive") as of_decorated:
            assert tg.deferred()(current)() is EAGER
        assert [each.filename for each in [*caught, *of_decorated]] == [__file__] * 2
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


class Progress(threading.Thread):
    """A thread of the program's own, whatever its class inherits from."""

    def run(self):
        pass


def monitor_of_a_bar():
    tqdm = pytest.importorskip("tqdm")
    tqdm.tqdm.monitor = None  # one for all bars, which may be there already
    for _ in tqdm.tqdm(range(2), file=io.StringIO()):
        pass
    assert tqdm.tqdm.monitor.is_alive()
    tqdm.tqdm.monitor.exit()


def writer_of_logs():
    writers = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    with tempfile.TemporaryDirectory() as folder:
        writer = writers.EventFileWriter(folder)
        writer.add_event(pytest.importorskip("tensorboard.compat.proto.event_pb2").Event(step=1))
        writer.close()


def with_a_run_of_its_own():
    monitor = pytest.importorskip("tqdm").TMonitor
    thread = monitor.__new__(monitor)
    threading.Thread.__init__(thread)
    thread.run = lambda: None
    thread.start()
    thread.join()


#: What starts a thread, and whether that runs code of the program.
STARTS = {
    monitor_of_a_bar: False,
    writer_of_logs: False,
    with_a_run_of_its_own: True,
    lambda: Progress().start(): True,
    lambda: threading.Thread(target=print, args=("",)).start(): True,
}


@pytest.mark.parametrize("start", STARTS)
def test_threads_that_see_nothing_of_the_program_change_nothing(start):
    with tg.deferred():
        x = tg.ones(3) * 2
        start()
        assert (current() is EAGER) == STARTS[start]
        assert (x + 1).tolist() == [3, 3, 3]
