"""The worker pool: how many threads there are, what they are given, and what happens around them."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from tracegrad.runtime import num_threads, threads
from tracegrad.runtime import provide as providing
from tracegrad.runtime.build import Unit
from tracegrad.runtime.program import SlotTable, ffi
from tracegrad.runtime.provide import provide

HEAD = """
#include <fenv.h>
#include <sched.h>
#include "tg_pool.h"
__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);
"""
# Counts how often each element was visited. Slots: the elements, then numbers: extent, grain.
COUNT = (
    HEAD
    + """
static void share(void *const *arguments, char *scratch, long begin, long end)
{
    (void)scratch;
    long *const seen = arguments[0];
    const long grain = *(const long *)arguments[1];
    for (long i = begin; i < end; ++i) __atomic_fetch_add(seen + i, begin % grain ? 2 : 1, __ATOMIC_RELAXED);
}
int tracegrad_step(void *const *slots)
{
    const long *const numbers = slots[1];
    void *const arguments[] = {slots[0], (void *)(numbers + 1)};
    tg_parallel((tg_work){
        .share = share, .arguments = arguments, .extent = numbers[0], .grain = numbers[1], .worth = 1000});
    return 0;
}
"""
)
# Each of two pieces waits until the other one has begun: they are on two threads. The scratch memory of each is its
# own, and rounds as the caller does.
TOGETHER = (
    HEAD
    + """
static void share(void *const *arguments, char *scratch, long begin, long end)
{
    long *const begun = arguments[0];
    float *const thirds = arguments[1];
    volatile float one = 1, three = 3;
    __atomic_fetch_add(begun, 1, __ATOMIC_SEQ_CST);
    for (long turns = 0; __atomic_load_n(begun, __ATOMIC_SEQ_CST) < 2 && turns < 100000000; ++turns) sched_yield();
    for (long i = 0; i < 1000; ++i) ((long *)scratch)[i] = begin;
    for (long i = 0; i < 1000; ++i) begun[1 + begin] += ((long *)scratch)[i] == begin;
    for (long i = begin; i < end; ++i) thirds[i] = one / three;
}
int tracegrad_step(void *const *slots)
{
    void *const arguments[] = {slots[0], slots[1]};
    const int before = fegetround();
    fesetround(FE_DOWNWARD);
    tg_parallel((tg_work){
        .share = share, .arguments = arguments, .scratch = slots[2], .scratch_bytes = 8000,
        .extent = 2, .grain = 1, .worth = 1000});
    fesetround(before);
    return 0;
}
"""
)
FLAGS = ("-O2", "-fvisibility=hidden", "-lm")


@pytest.fixture(autouse=True)
def many_cpus(monkeypatch):
    """So many threads as tests ask for, and one again when they are done."""
    monkeypatch.setattr(threads, "usable_cpus", lambda: 64)
    yield
    num_threads.set_num_threads(1)


def table(*arrays):
    slots = SlotTable(len(arrays))
    for place, array in enumerate(arrays):
        slots.set_array(place, array)
    return slots


def counting():
    """A function that calls C, and says how often it has visited each element."""
    call = provide("count", [Unit("count", COUNT, FLAGS)]).program.call

    def run(extent, grain):
        seen, numbers = np.zeros(max(extent, 1), np.int64), np.array([extent, grain])
        assert call(table(seen, numbers).pointer) == 0
        return seen[:extent]

    return run


@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_each_element_is_computed_once_and_pieces_begin_at_grains(number):
    run = counting()
    num_threads.set_num_threads(number)
    for extent in (0, 1, 2, 5, 64, 1000, 4097):
        for grain in (1, 3, 64, 5000):
            for _ in range(5):
                assert (run(extent, grain) == 1).all(), (extent, grain)


def test_two_threads_compute_at_a_time_with_scratch_memory_and_rounding_of_their_own():
    call = provide("together", [Unit("together", TOGETHER, FLAGS)]).program.call
    num_threads.set_num_threads(2)
    for _ in range(20):
        begun, thirds, scratch = np.zeros(3, np.int64), np.zeros(2, np.float32), np.zeros(1000, np.int64)
        call(table(begun, thirds, scratch).pointer)
        assert list(begun) == [2, 1000, 1000]
        assert list(thirds) == [np.nextafter(np.float32(1 / 3), np.float32(0))] * 2
    assert threads.counts(ffi)[0] >= 1


def test_two_python_threads_at_the_same_time():
    run = counting()
    num_threads.set_num_threads(3)
    wrong = []

    def often(extent):
        for _ in range(300):
            wrong.extend([extent] if (run(extent, 7) != 1).any() else [])

    callers = [threading.Thread(target=often, args=(extent,)) for extent in (5000, 3001, 911)]
    for caller in callers:
        caller.start()
    for number in (1, 2, 4, 3) * 25:  # meanwhile
        num_threads.set_num_threads(number)
    for caller in callers:
        caller.join()
    assert not wrong


def test_a_program_goes_while_workers_look_out_for_its_kernels():
    num_threads.set_num_threads(4)
    for turn in range(20):
        unit = Unit("count", COUNT + f"/* {turn % 2} */", FLAGS)
        built = provide("count", [unit])
        seen, numbers = np.zeros(1000, np.int64), np.array([1000, 10])
        built.program.call(table(seen, numbers).pointer)
        assert (seen == 1).all()
        del built  # with the last reference to its function the library goes


def test_without_a_pool_there_is_one_thread_and_a_warning(monkeypatch, tmp_path):
    broken = tmp_path / "pool.c"
    broken.write_text("no C")
    monkeypatch.setattr(providing, "POOL", broken)
    monkeypatch.setattr(threads, "_state", threads._State())
    run = counting()
    with pytest.warns(RuntimeWarning, match="compiled programs run on one thread: the C compiler .* refused pool.c"):
        num_threads.set_num_threads(2)
    assert num_threads.get_num_threads() == 1
    assert (run(1000, 10) == 1).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(1000, 10)


# ------------------------------------------------------------------------------------------------ PyTorch's functions

WRONG = [
    ("set_num_threads", 0, RuntimeError, "set_num_threads expects a positive integer"),
    ("set_num_threads", -1, RuntimeError, "set_num_threads expects a positive integer"),
    ("set_num_threads", 1.5, RuntimeError, "set_num_threads expects an int, but got float"),
    ("set_num_threads", "2", RuntimeError, "set_num_threads expects an int, but got str"),
    ("set_num_threads", True, RuntimeError, "set_num_threads expects an int, but got bool"),
    ("set_num_threads", None, RuntimeError, "set_num_threads expects an int, but got NoneType"),
    ("set_num_threads", 2**31, ValueError, "Overflow when unpacking long"),
    ("set_num_interop_threads", 0, RuntimeError, "set_num_interop_threads expects a positive integer"),
    ("set_num_interop_threads", 1.5, RuntimeError, "set_num_interop_threads expects an int, but got float"),
]


@pytest.mark.parametrize("name, value, error, words", WRONG)
def test_wrong_numbers_are_refused_in_pytorchs_words(tg, name, value, error, words):
    before = tg.get_num_threads(), tg.get_num_interop_threads()
    with pytest.raises(error, match=words):
        getattr(tg, name)(value)
    assert before == (tg.get_num_threads(), tg.get_num_interop_threads())


@pytest.mark.parametrize("value", [3, np.int64(3)])
def test_the_number_is_what_was_set(tg, value):
    before = tg.get_num_threads()
    tg.set_num_threads(value)
    assert tg.get_num_threads() == 3 and type(tg.get_num_threads()) is int
    tg.set_num_threads(before)


# ------------------------------------------------------------------------------------------------ whole processes


def python(code, **environment):
    """What a process prints that has `counting` and the pool's counts; it ends by itself, without an error."""
    names = ("TRACEGRAD_NUM_THREADS", "OMP_NUM_THREADS")
    env = {name: value for name, value in os.environ.items() if name not in names} | environment
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    head = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
    head += "from test_threads import *\nthreads.usable_cpus = lambda: 64\n"
    done = subprocess.run([sys.executable, "-c", head + code], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    "environment, number",
    [
        ({}, 1),
        ({"TRACEGRAD_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "4,2"}, 4),
        ({"OMP_NUM_THREADS": "4", "TRACEGRAD_NUM_THREADS": "2"}, 2),
        ({"TRACEGRAD_NUM_THREADS": "many", "OMP_NUM_THREADS": "0"}, 1),
    ],
)
def test_the_environment_sets_the_number(environment, number, monkeypatch):
    for name in ("TRACEGRAD_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert threads._State().number == number


def test_one_thread_needs_no_pool_and_workers_start_with_the_first_shared_kernel():
    found = python(
        """
run = counting(); run(1000, 10)
print(threads.counts(ffi)[0], threads._state.pool is None)
num_threads.set_num_threads(3)
print(threads.counts(ffi)[0], len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 1)
run(1000, 10)
print(threads.counts(ffi)[0], len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 3)
""",
        OPENBLAS_NUM_THREADS="1",
    )
    assert found == ["0", "True", "0", "1", "2", "3"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_process_starts_workers_of_its_own():
    """Also when another thread is in a shared kernel while the process forks."""
    found = python("""
run = counting(); num_threads.set_num_threads(3); run(1000, 10)
stop = []
def busy():
    while not stop: run(3000, 10)
other = threading.Thread(target=busy); other.start()
for _ in range(10):
    child = os.fork()
    if not child:
        before = threads.counts(ffi)[0]
        right = all((run(1000, 10) == 1).all() for _ in range(20))
        os._exit(0 if right and before == 0 and threads.counts(ffi)[0] == 2 else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.append(1); other.join()
print((run(1000, 10) == 1).all())
""")
    assert found == ["0"] * 10 + ["True"]


@pytest.mark.long
def test_a_process_ends_while_workers_look_out_for_kernels_or_sleep():
    code = (
        "import time; run = counting(); num_threads.set_num_threads(4); run(999, 9); time.sleep({}); print(run(1, 1))"
    )
    assert python(code.format(0)) == python(code.format(0.3)) == ["[1]"]


def test_interop_threads_are_set_once():
    found = python("""
print(num_threads.get_num_interop_threads())
num_threads.set_num_interop_threads(2)
try: num_threads.set_num_interop_threads(3)
except RuntimeError as error: print(str(error).startswith("Error: cannot set number of interop threads after"))
print(num_threads.get_num_interop_threads())
""")
    assert found == ["1", "True", "2"]
