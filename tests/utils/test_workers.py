"""Worker processes of loaders: how they start and end, what they send, and what is told of those that fail."""

import contextlib
import gc
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Items:
    """A dataset whose items a function makes."""

    def __init__(self, make, count=8):
        self.make, self.count = make, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.make(index)


def loader_of(tg, make, count=8, **options):
    return tg.utils.data.DataLoader(Items(make, count), **{"num_workers": 2, **options})


def at_five(raise_):
    return lambda index: raise_() if index == 5 else index


def raising(error):
    def raise_():
        raise error

    return at_five(raise_)


class TwoArguments(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


def local_error():
    class Local(Exception):
        pass

    return Local("mine")


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "error, kind, text",
    [
        (ValueError("bad item"), ValueError, "ValueError: bad item"),
        (KeyError("bad key"), KeyError, "KeyError: 'bad key'"),
        (TwoArguments(1, 2), RuntimeError, r"TwoArguments: \(1, 2\)"),
        (local_error(), RuntimeError, "Local: mine"),
    ],
)
def test_errors_are_raised_here_with_their_traceback(tg, error, kind, text):
    seen = []
    with pytest.raises(kind, match=rf"(?s)in DataLoader worker process 1\.\nOriginal Traceback.*raise_.*{text}"):
        for batch in loader_of(tg, raising(error)):
            seen.append(batch.item())
    assert seen == [0, 1, 2, 3, 4]


def test_iteration_goes_on_after_an_error(tg):
    batches, seen = iter(loader_of(tg, raising(ValueError("bad item")))), []
    for _ in range(9):
        try:
            seen.append(next(batches).item())
        except (ValueError, StopIteration) as error:
            seen.append(type(error).__name__)
    assert seen == [0, 1, 2, 3, 4, "ValueError", 6, 7, "StopIteration"]


def test_errors_of_the_start(tg):
    def start(worker):
        raise OSError(f"worker {worker} has no file")

    with pytest.raises(OSError, match=r"(?s)Caught OSError in DataLoader worker process 0\..*worker 0 has no file"):
        next(iter(loader_of(tg, int, worker_init_fn=start)))


def test_what_cannot_be_sent_is_an_error(tg):
    with pytest.raises(Exception, match=r"(?s)in DataLoader worker process 0\..*(pickle|local object)"):
        next(iter(loader_of(tg, int, collate_fn=lambda items: lambda: items)))
    w = tg.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        next(iter(loader_of(tg, lambda index: w * index)))


@pytest.mark.parametrize(
    "end, cause",
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "is killed by signal: Killed"),
        (lambda: os._exit(3), "exit code 3"),
        (lambda: sys.exit(4), "exit code 4"),
    ],
)
def test_a_worker_that_is_gone_is_reported(tg, end, cause):
    told = []
    try:
        list(loader_of(tg, at_five(end)))
    except RuntimeError as error:
        told = [str(error), str(error.__cause__)]
    assert re.fullmatch(r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly", told[0]) and cause in told[1]
    assert_nothing_is_left()


def test_time_runs_out(tg):
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.2 seconds"):
        list(loader_of(tg, at_five(lambda: time.sleep(1)), timeout=0.2))


# ------------------------------------------------------------------------------------------------------ start and end


@pytest.fixture(autouse=True)
def no_others_have_ended():
    """Child processes that earlier tests of this process have left are asked how they ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def assert_nothing_is_left():
    """No worker is alive, or waits for somebody to ask how it ended."""
    gc.collect()
    assert multiprocessing.active_children() == []
    with contextlib.suppress(ChildProcessError):  # there may be others, which track what processes share
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_neither_processes_nor_files_are_left(tg):
    large = tg.ones(200, 100)
    next(iter(loader_of(tg, lambda index: large)))  # what the first start of a process opens for good
    gc.collect()
    before = descriptors()
    loader = loader_of(tg, lambda index: large * index, 30)
    for _ in range(3):
        kept = [batch for batch, _ in zip(loader, range(20), strict=False)]
    assert_nothing_is_left()
    assert descriptors() == before and [batch[0, 0, 0].item() for batch in kept] == list(range(20))


def test_persistent_workers_stay_and_others_do_not(tg):
    for persistent in (True, False):
        loader = loader_of(tg, lambda index: os.getpid(), persistent_workers=persistent)
        first, second = ({batch.item() for batch in loader} for _ in range(2))
        assert len(first) == len(second) == 2 and (first == second) is persistent and os.getpid() not in first


def test_batches_come_as_they_are_ready(tg):
    def item(index):
        time.sleep(0.5 if index == 0 else 0.0)
        return index

    orders = [[batch.item() for batch in loader_of(tg, item, in_order=in_order)] for in_order in (True, False)]
    assert orders[0] == sorted(orders[1]) == list(range(8)) and orders[1][0] != 0


def test_nobody_waits_for_ever_where_much_is_sent_both_ways(tg):
    batches = [list(range(100_000))] * 12
    loader = tg.utils.data.DataLoader(
        Items(int, 100_000), batch_sampler=batches, num_workers=2, prefetch_factor=6,
        collate_fn=lambda items: "x" * 2_000_000,
    )  # fmt: skip
    assert [len(text) for text in loader] == [2_000_000] * 12


PROGRAM = """
import os, signal, sys, time
import tracegrad as tg

class Slow(tg.utils.data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        time.sleep(0.01)
        return index

def loader(**options):
    return tg.utils.data.DataLoader(Slow(), num_workers=2, **options)

if __name__ == "__main__":
    {body}
"""


def started(body, **options):
    text = PROGRAM.format(body=textwrap.indent(textwrap.dedent(body), "    ").strip())
    arguments = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen([sys.executable, "-c", text], **arguments, **options)


ENDS = {
    "in the midst": "batches = iter(loader()); next(batches)",
    "persistent": "kept = loader(persistent_workers=True); next(iter(kept)); next(iter(kept))",
    "by an error": "for batch in loader(): sys.exit(0)",
    "two loaders": "a, b = iter(loader()), iter(loader(persistent_workers=True)); next(a); next(b)",
}


LONG = pytest.mark.long


@pytest.mark.parametrize("name", ["two loaders", *(pytest.param(n, marks=LONG) for n in ENDS if n != "two loaders")])
def test_a_program_ends_at_once(name):
    process = started(ENDS[name])
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
@pytest.mark.parametrize("how", ["SIGINT", *(pytest.param(n, marks=LONG) for n in ("SIGKILL", "SIGTERM"))])
def test_workers_end_with_a_program_that_is_killed(how):
    process = started(
        """
        batches = iter(loader())
        other = iter(loader())
        next(batches)
        print(*(w.process.pid for it in (batches, other) for w in it._workers), flush=True)
        for batch in batches: pass
        """
    )
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 4 and all(os.path.exists(f"/proc/{pid}") for pid in pids)
    signal_number = getattr(signal, how)
    (os.killpg if how == "SIGINT" else os.kill)(process.pid, signal_number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal_number and ("KeyboardInterrupt" in err) is (how == "SIGINT")
    until = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


@pytest.mark.parametrize("method", [pytest.param(n, marks=LONG) for n in ("spawn", "forkserver")])
def test_workers_that_start_anew(tg, method):
    dataset = tg.utils.data.TensorDataset(tg.arange(6.0), tg.ones(6, 2))
    context = multiprocessing.get_context(method)
    seen = [
        [batch[0].tolist() for batch in tg.utils.data.DataLoader(dataset, 4, num_workers=2, multiprocessing_context=c)]
        for c in (method, context)
    ]
    assert seen == [[[0, 1, 2, 3], [4, 5]]] * 2


def test_what_cannot_be_pickled_cannot_be_started_anew(tg):
    loader = loader_of(tg, lambda index: index, multiprocessing_context="spawn")
    with pytest.warns(UserWarning, match="Got pickle error"), pytest.raises((AttributeError, pickle.PicklingError)):
        iter(loader)
    assert multiprocessing.active_children() == []


def test_workers_of_a_process_with_threads(tg):
    """The pool of compiled steps, and that of numpy's products, are begun anew in workers."""
    x = tg.randn(300, 300)
    step = tg.compile(lambda a: (a @ a).sum())
    tg.set_num_threads(2)
    try:
        for _ in range(3):
            here = step(x).item()
        there = [batch.item() for batch in loader_of(tg, lambda index: step(x).item() if index % 2 else (x @ x).sum())]
    finally:
        tg.set_num_threads(1)
    assert there == pytest.approx([here] * 8, rel=1e-3)


# ----------------------------------------------------------------------------------------------------- what is sent

SENT = {
    "plain": lambda tg: tg.arange(6.0).reshape(2, 3),
    "large": lambda tg: tg.arange(60000.0).reshape(200, 300),
    "turned": lambda tg: tg.arange(60000.0).reshape(200, 300).t(),
    "channels last": lambda tg: tg.arange(30000.0).reshape(4, 3, 50, 50).contiguous(memory_format=tg.channels_last),
    "a part": lambda tg: tg.arange(60000.0).reshape(200, 300)[::2, 5:],
    "expanded": lambda tg: tg.arange(3.0).expand(4, 3),
    "no dimensions": lambda tg: tg.tensor(2.5),
    "empty": lambda tg: tg.zeros(0, 3),
    "a leaf": lambda tg: tg.ones(3, requires_grad=True),
    "parameter": lambda tg: tg.nn.Parameter(tg.ones(3)),
    **{
        dtype: lambda tg, dtype=dtype: tg.arange(70000).to(getattr(tg, dtype))
        for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64", "complex64")
    },
}


@pytest.mark.parametrize("name", SENT)
def test_tensors_arrive_as_they_are(tg, name):
    expected = SENT[name](tg)
    here, again = loader_of(tg, lambda index: SENT[name](tg) if "large" != name else expected, 2, batch_size=None)
    for found in (here, again):
        assert type(found) is type(expected) and found.dtype == expected.dtype and found.shape == expected.shape
        assert found.requires_grad == expected.requires_grad and tg.equal(found, expected)
        if name in ("turned", "channels last"):
            assert found.stride() == expected.stride()
    if not expected.requires_grad and expected.numel():
        here.fill_(0)  # memory of its own
        assert tg.equal(again, expected)


def test_containers_and_arrays_arrive_as_they_are(tg):
    item = {"a": np.arange(70000), "b": [(1, "x"), tg.ones(3)], "c": np.array(["x", None], object), "d": {1, 2}}
    (found,) = loader_of(tg, lambda index: item, 1, batch_size=None, collate_fn=lambda item: item)
    assert found["a"].tolist() == item["a"].tolist() and found["a"].flags.writeable and found["d"] == {1, 2}
    assert found["b"][0] == (1, "x") and found["b"][1].tolist() == [1, 1, 1] and found["c"].tolist() == ["x", None]


def test_batches_of_workers_train_compiled(tg):
    """Steps, and a whole program that is put off, see the batches that eager ones see."""
    inputs = tg.linspace(0, 1, 48).reshape(24, 2)

    def trained(wrap, **options):
        tg.manual_seed(3)
        model = tg.nn.Linear(2, 1)
        optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        step, losses = wrap(step), []
        made = tg.utils.data.TensorDataset(inputs * 1.0, inputs.sum(1, keepdim=True) * 0.5)
        for _ in range(3):
            for x, y in tg.utils.data.DataLoader(made, 4, shuffle=True, **options):
                losses.append(step(x, y).item())
        return losses

    eager = trained(lambda step: step)
    assert len(eager) == 18
    assert trained(lambda step: step, num_workers=2) == eager
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trained(tg.compile, num_workers=2) == pytest.approx(eager, rel=1e-5)
        with tg.deferred():
            assert trained(lambda step: step, num_workers=2) == pytest.approx(eager, rel=1e-5)
