"""fork() while another thread is in a compiled step: the child calls it too, with the right numbers; and pickling."""

import ast
import contextlib
import gc
import os
import signal
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest
from package_files import ROOT, package_files, trees_with

import tracegrad as tg
from tracegrad.compiler.codegen.environment import ENVIRONMENT
from tracegrad.ops import locks

sys.path.insert(0, str(Path(__file__).parent))
from interrupting import Interrupter  # noqa: E402

PATIENCE = 60.0  # seconds until a child counts as hanging
FORKS = 6

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
]


def in_child(work):
    """Run `work` in a forked process; its exit status, or a failure if it hangs."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException as error:
            os.write(2, f"in the child: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")


@contextlib.contextmanager
def another_thread(call):
    """`call` again and again in another thread, meanwhile; its errors are raised here."""
    stop, began, errors = threading.Event(), threading.Event(), []

    def run():
        try:
            while not stop.is_set():
                began.set()
                call()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert began.wait(30)
    try:
        yield thread
    finally:
        stop.set()
        thread.join(120)
        assert not thread.is_alive()
        if errors:
            raise errors[0]


def large_step(looks):
    """Every element of a large state counts the calls: a child that sees a part of a step sees different numbers."""
    state = tg.zeros(1_000_000)

    def count(x):
        state.add_(x)
        if looks and x.sum().item() < 0:
            state.mul_(2)
        return state * 1.0

    return tg.compile(count), state


OTHER = tg.compile(lambda x: (x * 2).sum())


@pytest.mark.parametrize("looks", [False, True], ids=["replay", "re-record"])
def test_a_thread_is_in_c(looks):
    step, state = large_step(looks)
    one = tg.ones(1_000_000)
    for _ in range(6):
        step(one)
        OTHER(tg.ones(3))
    assert step.way == ("re-record" if looks else "replay")

    def child():
        before = state.ndarray[0]
        if not looks:  # where Python runs, the thread may be between two operations, as in eager mode
            assert (state.ndarray == before).all()
            assert (step(one).ndarray == before + 1).all()
        else:
            step(one)
        assert OTHER(tg.ones(3)).item() == 6 and step.way == ("re-record" if looks else "replay")

    with another_thread(lambda: step(one)):
        for _ in range(FORKS):
            time.sleep(0.003)
            assert in_child(child) == 0


def test_a_thread_is_in_a_recording():
    inside, go_on, parent = threading.Event(), threading.Event(), os.getpid()

    def slow(x):
        out = x * 3
        if os.getpid() == parent and threading.current_thread() is not threading.main_thread():
            inside.set()
            go_on.wait(60)
        return out.sum()

    step = tg.compile(slow)
    thread = threading.Thread(target=lambda: step(tg.ones(2)))
    thread.start()
    try:
        assert inside.wait(30)

        def child():
            for _ in range(4):
                assert step(tg.ones(2)).item() == 6

        assert [in_child(child) for _ in range(FORKS)] == [0] * FORKS
    finally:
        go_on.set()
        thread.join(60)


@pytest.mark.parametrize("looks", [False, True], ids=["replay", "re-record"])
def test_a_thread_is_in_the_c_compiler(tmp_path, monkeypatch, looks):
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path))
    os.chmod(tmp_path, 0o700)

    def function(x):
        total = (x * 5).exp().log().sum()
        return total if looks and total.item() < 0 else total * 1

    step = tg.compile(function)
    done = threading.Event()

    def work():
        for _ in range(5):
            step(tg.ones(4))
        done.set()

    def child():
        for _ in range(5):
            np.testing.assert_allclose(step(tg.ones(4)).item(), 20, rtol=1e-5)  # exp and log round

    thread = threading.Thread(target=work)
    thread.start()
    forks = 0
    while not done.is_set():
        if any(tmp_path.glob("tmp-*")):
            assert in_child(child) == 0
            forks += 1
        time.sleep(0.001)
    thread.join(60)
    assert forks


def test_a_thread_is_in_a_backward_pass():
    # No larger: numpy's library for products has threads beyond that, and where it is at work while the process forks,
    # it waits for them for ever. A call of the thread may be eager, where another test has just changed something.
    model = tg.compile(tg.nn.Linear(60, 60))
    x = tg.ones(60, 60)

    def work():
        model(x).sum().backward()

    for _ in range(4):
        work()

    def child():
        for p in model.parameters():
            p.grad = None
        work()
        assert model.way == "replay"
        np.testing.assert_array_equal(model.bias.grad.ndarray, np.full(60, 60.0))

    with another_thread(work):
        assert [in_child(child) for _ in range(FORKS)] == [0] * FORKS


def test_a_fork_within_a_step_of_this_thread():
    """The thread that forks goes on in the child, and releases what it holds."""

    def function(x):
        y = x + 1
        assert in_child(lambda: None) == 0
        return y if y.sum().item() > 0 else x

    step = tg.compile(function)
    for _ in range(4):
        assert step(tg.ones(2)).tolist() == [2, 2]


# ------------------------------------------------------------------------------------------------------- all locks

MAKERS = {
    "Lock",
    "RLock",
    "Condition",
    "Semaphore",
    "BoundedSemaphore",
    "Event",
    "Barrier",
    "allocate_lock",
    "cached_property",
    "Queue",
    "SimpleQueue",
    "LifoQueue",
}  # fmt: skip  (a cached_property has one in 3.11)
LIBRARIES = {"threading", "_thread", "queue", "functools", "multiprocessing"}


@pytest.mark.long(fast=1)
def test_locks_are_made_in_one_place():
    wrong, files = [], list(package_files())
    # the latter two make none
    guards = ("value_kinds.py", "reachability.py", "sources.py")
    names_types = ("ops/locks.py", *(f"compiled/guards/{name}" for name in guards))
    names_types += ("utils/data/_utils/worker.py",)  # makes its queue in a process of its own, after the fork
    for path, tree in trees_with(*MAKERS, files=files):
        where = path.relative_to(ROOT).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in LIBRARIES:
                wrong += [f"{where}:{node.lineno}: {alias.name}" for alias in node.names if alias.name in MAKERS]
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in LIBRARIES and node.attr in MAKERS:
                wrong.append(f"{where}:{node.lineno}: {node.attr}")
    wrong = [line for line in wrong if not line.startswith(names_types)]
    assert not wrong and len(files) > 100, "\n".join(wrong)


@pytest.mark.long(fast=1)
def test_every_lock_that_the_package_reaches_is_known():
    """A walk over all that the package's modules and a few compiled functions lead to."""
    model = tg.compile(tg.nn.Linear(2, 2))
    looking = tg.compile(lambda x: x if x.sum().item() > 0 else -x)
    for _ in range(5):
        model(tg.ones(1, 2)).sum().backward()
        looking(tg.ones(2))
    kinds = type(threading.RLock()), type(threading.Lock())
    found = [value for value in reached([model, looking, ENVIRONMENT]) if isinstance(value, kinds)]
    known = set(map(id, [*locks.all_locks(), *locks.foreign_locks()]))
    assert len(found) >= 8
    assert [lock for lock in found if id(lock) not in known] == []


def reached(roots):
    modules = [m for name, m in list(sys.modules.items()) if name.split(".")[0] == "tracegrad" and ".tests" not in name]
    own = ("tracegrad", "jinja2")
    seen, stack, values = set(), [*roots, *modules], []
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        values.append(value)
        if isinstance(value, types.ModuleType):
            if value.__name__.split(".")[0] in own[:1]:
                stack.append(vars(value))
        elif isinstance(value, (type, types.FunctionType)):
            if str(value.__module__).split(".")[0] in own:
                stack += [v for v in gc.get_referents(value) if v is not getattr(value, "__globals__", None)]
        elif not isinstance(value, (types.FrameType, threading.local)):  # no other thread holds what is thread-local
            stack += gc.get_referents(value)
    return values


def child_of_this_process():
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_within_fork_leaves_no_lock_held():
    """Python drops what is raised in a function that fork() calls, with what the function had left to do."""
    at, step = 0, tg.compile(lambda x: x * 2)
    step(tg.ones(2))
    while True:
        at += 1
        interrupter = Interrupter("line", at)
        interrupter.run(child_of_this_process)
        if interrupter.where is None:
            break
        held = [lock for lock in locks.all_locks() if lock._is_owned()] + [
            lock for lock in locks.foreign_locks() if lock.locked()
        ]
        locks.release_all()
        assert held == [], interrupter.where
    assert at > 5
