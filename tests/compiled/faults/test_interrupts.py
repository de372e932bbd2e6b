"""KeyboardInterrupt at the lines and the instructions of the package: afterwards everything is as in eager mode.

One call is interrupted at one event: the thread's state is untouched, the user's objects hold no stand-ins, tensors are
in a state that eager mode goes through (before or after the whole step, where C does it), and later calls are right and
are replayed again.
"""

import ast
import ctypes
import gc
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from package_files import ROOT, package_files, trees_with

import tracegrad as tg
from tracegrad.ops.core import drop_stale_interpreters, interpreting, switch
from tracegrad.ops.locks import all_locks
from tracegrad.tape.grad_mode import switches

sys.path.insert(0, str(Path(__file__).parent))

import interrupting as it  # noqa: E402

SEED = 20_24
# In the fast tier, for each case: events among which some are drawn (the call has more), and how many are drawn.
FAST = {"record": (20_000, 3), "stand-ins": (20_000, 1), "replay": (80, 2), "replay by keyword": (80, 1),
        "re-record": (1_000, 1), "verify": (20_000, 1), "joined": (4_000, 1), "warm-up": (4_000, 1),
        "rest": (4_000, 1)}  # fmt: skip
# In eager mode a tracer can raise between a lock and its block, where Python itself does not look for signals: these
# two are sampled here. check_points.py knows where it looks; test_interrupted_blocks.py walks these places.
IN_EAGER_MODE = ("warm-up", "rest")
WHOLE = [name for name in it.CASES if name not in IN_EAGER_MODE]
# Python drops an exception that comes within a finaliser or a callback of the garbage collector, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
PARTS = 64  # of what is tried of a case, a test each
RANDOM = 150  # further events of each case, in the long one


def sample(kind, events, count):
    total, _ = it.places(kind, events)
    return sorted(random.Random(SEED).sample(range(1, total + 1), min(total, count)))


def tried(name, events, numbers):
    kind = it.CASES[name]
    states = it.eager_states(kind)
    return sum(it.interrupted(kind, events, at, states) for at in numbers)


@pytest.mark.parametrize("name", FAST)
def test_a_sample(name):
    among, count = FAST[name]
    draw = random.Random(SEED)
    assert tried(name, "line", draw.sample(range(1, among), count)) == count
    assert tried(name, "opcode", draw.sample(range(1, among), 1)) == 1


@pytest.mark.long(every=257)  # a quarter of an hour for each name
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", WHOLE)
def test_every_line(name, part, record_property):
    """Each line when it is first and when it is last run in the call, and a sample of all the times in between."""
    _, numbers = it.places(it.CASES[name], "line")
    numbers = sorted({*numbers, *sample(it.CASES[name], "line", RANDOM)})[part::PARTS]
    count = tried(name, "line", numbers)
    record_property("interrupts", count)
    assert count > 0.9 * len(numbers)  # what the cache holds may make a call shorter


@pytest.mark.long(every=257)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", WHOLE)
def test_many_instructions(name, part, record_property):
    """Every instruction of a replay, a sample of those of the longer calls."""
    _, numbers = it.places(it.CASES[name], "opcode")
    if len(numbers) > 3 * RANDOM:
        numbers = sample(it.CASES[name], "opcode", 3 * RANDOM)
    numbers = numbers[part::PARTS]
    count = tried(name, "opcode", numbers)
    record_property("interrupts", count)
    assert count > 0.9 * len(numbers)


# --------------------------------------------------------------------------------------- at any time, from outside


def by_signal(call, after):
    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return False
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def by_another_thread(call, after):
    me = threading.get_ident()

    def throw():
        time.sleep(after)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(me), ctypes.py_object(KeyboardInterrupt))

    thread = threading.Thread(target=throw)
    try:
        thread.start()
        call()
        thread.join()
        for _ in range(100):
            pass  # it may come only now
        return False
    except KeyboardInterrupt:
        thread.join()
        return True


def at_random_times(name, way, count, seed):
    kind, draw, come = it.CASES[name], random.Random(seed), 0
    states = it.eager_states(kind)
    case = it.warmed(kind)
    start = time.perf_counter()
    case.call()
    duration = time.perf_counter() - start
    for _ in range(count):
        case = it.warmed(kind)
        try:
            hit = way(case.call, max(1e-6, draw.uniform(0, 1.1) * duration))
        except KeyboardInterrupt:  # it has come late, in the handler
            hit = False
        if hit:
            come += 1
            it.check(case, kind, states)
    return come


WAYS = {"signal": by_signal, "another thread": by_another_thread}


@pytest.mark.parametrize("way", WAYS)
def test_a_few_random_times(way):
    at_random_times("record", WAYS[way], 4, SEED)
    it.assert_untouched_thread()


@pytest.mark.long(every=17)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WHOLE)
def test_many_random_times(name, way, record_property):
    come = at_random_times(name, WAYS[way], 150, SEED)
    record_property("interrupts", come)
    assert come > 10


# ---------------------------------------------------------------------------------------------------------- the rules


@pytest.mark.long(fast=1)
def test_no_generator_manages_state():
    """An interrupt leaves a generator suspended; when it is collected, it puts an old state back."""
    # These manage open files, temporary files, and the words of errors about them.
    allowed = {"runtime/cache.py", "runtime/files.py", "serialization/atomic.py"}
    found, files = set(), len(list(package_files()))
    for path, tree in trees_with("contextmanager"):
        for node in ast.walk(tree):
            decorators = getattr(node, "decorator_list", [])
            if any("contextmanager" in ast.unparse(d) for d in decorators):
                found.add(path.relative_to(ROOT).as_posix())
    assert found <= allowed and files > 100


def test_a_stale_interpreter_is_dropped_by_the_next_call():
    """However it came about: its frame does not run any more."""

    def left():
        interpreting(switch).__enter__()  # any object

    step, x = tg.compile(lambda x: x * 2), tg.ones(2)
    for _ in range(3):
        step(x)
    left()
    assert len(switch.stack) == 1
    assert step(x).tolist() == [2, 2] and switch.stack == ()
    step(x)
    assert step.way == "replay"


def test_a_running_interpreter_stays():
    marker = object()
    with interpreting(marker):
        drop_stale_interpreters()
        assert switch.stack[-1][0] is marker
    assert switch.stack == ()


def interrupt_of_exits(frame, event, arg):
    """For `sys.settrace`: an interrupt at the first instruction of a context manager's ``__exit__``."""
    if event == "call" and frame.f_code.co_name == "__exit__":
        raise KeyboardInterrupt


@pytest.mark.parametrize("mode", [tg.no_grad, tg.inference_mode, lambda: tg.set_grad_enabled(False)])
def test_a_grad_mode_whose_exit_never_ran(mode):
    tracing = sys.gettrace()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        sys.settrace(interrupt_of_exits)
        try:
            with mode():
                assert not switches.enabled
        finally:
            sys.settrace(tracing)
    gc.collect()
    assert switches.enabled and not switches.inference


def test_a_grad_mode_that_goes_late_changes_nothing():
    tracing, blocks = sys.gettrace(), [tg.no_grad()]
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        sys.settrace(interrupt_of_exits)
        try:
            with blocks[0]:
                assert not switches.enabled
        finally:
            sys.settrace(tracing)
    assert not switches.enabled  # while it is kept
    tg.set_grad_enabled(True)
    with tg.no_grad():
        blocks.clear()
        gc.collect()
        assert not switches.enabled
    assert switches.enabled


def test_interrupts_do_not_add_up():
    """2,000 steps after interrupts: no interpreter, no recording and no lock stays."""
    step = it.Step()
    for at in range(50, 5000, 450):
        it.Interrupter("line", at).run(step.call)
    for _ in range(20):
        step.call()
    gc.collect()
    before = len(gc.get_objects()), len(all_locks())
    for _ in range(2000):
        step.call()
    step.losses.clear()
    gc.collect()
    assert step.step.way == "replay"
    assert len(gc.get_objects()) <= before[0] + 50 and len(all_locks()) <= before[1]  # a few of Python's own
