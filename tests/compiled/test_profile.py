"""``step.profile()``: what a call's kernels do and how long they take; the call itself is an ordinary one."""

import gc
import json
import subprocess
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS

import tracegrad as tg
from tracegrad.compiled.execution.binding import Binding, observers
from tracegrad.compiled.profiling import measure
from tracegrad.compiler.errors import CompilerError
from tracegrad.compiler.pipeline import FLAGS, stages
from tracegrad.runtime.build import INCLUDE

nn, F = tg.nn, tg.nn.functional
measured_rows = measure._rows


class Training:
    """A step with its own network and optimizer; `calls` counts."""

    def __init__(self, looks=False):
        tg.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
        self.optimizer = tg.optim.SGD(self.model.parameters(), lr=0.1)
        self.looks, self.calls = looks, []

    def step(self, x, y):
        self.calls.append(len(x))
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        if self.looks and loss.item() > 100:
            self.calls.append("large")
        self.optimizer.step()
        return loss


def batch(size):
    generator = tg.Generator().manual_seed(size)
    return tg.randn(size, 8, generator=generator), tg.randint(0, 3, (size,), generator=generator)


@pytest.mark.parametrize("looks", [False, True], ids=["replayed", "re-recorded"])
def test_the_calls_are_ordinary_ones(looks):
    training, twin = Training(looks), Training(looks)
    profile = tg.compile(training.step).profile(*batch(5))
    for _ in training.calls:
        twin.step(*batch(5))
    assert training.calls == twin.calls
    for p, q in zip(training.model.parameters(), twin.model.parameters(), strict=True):  # sums in another order:
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-5, atol=1e-7)
    assert all(row.seconds > 0 for row in profile.rows if row.flops)
    assert any("test_profile.py" in place for row in profile.rows for place in row.places)


@pytest.mark.parametrize("looks", [False, True], ids=["replayed", "re-recorded"])
def test_each_kernel_counts_once(looks, monkeypatch):
    """One row for each kernel of each program that one call runs, in their order, and shares of them all."""
    ran, measured = [], []
    step = tg.compile(Training(looks).step)
    for _ in range(6):
        step(*batch(5))
    monkeypatch.setattr(measure, "_rows", lambda *args: measured.append(measured_rows(*args)) or measured[-1])
    run = Binding.run
    monkeypatch.setattr(Binding, "run", lambda binding, *codes: ran.append(binding.program) or run(binding, *codes))
    profile = step.profile(*batch(5))
    assert len(ran) == len(measured) == 1 + max(row.program for row in profile.rows) == 1 + looks
    for number, program in enumerate(ran):
        names = [row.kernel for row in profile.rows if row.program == number]
        assert names == [kernel.name for kernel in program.schedule.kernels]
    assert [row for each in measured for row in each] == list(profile.rows)
    heads, *lines = (line.split() for line in str(profile).splitlines()[1:])
    shares = [float(cells[heads.index("share")].rstrip("%")) for cells in lines]
    assert sum(shares) == pytest.approx(100, abs=0.05 * len(shares))  # each is rounded


TICKS = """#include <stdio.h>
#include "tg_ticks.h"
int main(void)
{
    tg_moment before = tg_begin();
    const int64_t beginning = tg_nanoseconds(CLOCK_MONOTONIC);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    printf("%lld ", (long long)tg_lap(&before));
    printf("%lld ", (long long)(tg_nanoseconds(CLOCK_MONOTONIC) - beginning));
    printf("%lld", (long long)tg_lap(&before));
    return 0;
}
"""


def test_time_without_the_processor_does_not_count(tmp_path):
    """A thread that sleeps stands for one whose processor another program has."""
    (tmp_path / "ticks.c").write_text(TICKS)
    subprocess.run([COMPILERS[0], *FLAGS, f"-I{INCLUDE}", "ticks.c", "-o", "ticks"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "ticks"], capture_output=True, text=True, check=True).stdout
    asleep, passed, after = map(int, said.split())
    assert passed >= 200_000_000 > 100_000_000 > asleep >= 0
    assert after >= 0


def products(rows):
    return [row for row in rows if row.kernel.startswith("dot")]


def test_operations_of_products_and_their_bytes():
    matrix, vector = tg.ones(30, 20), tg.ones(20, 10)
    (row,) = tg.compile(lambda a, b: a @ b + 1).profile(matrix, vector).rows
    assert row.flops == 2 * 30 * 20 * 10 + 30 * 10
    assert row.nbytes == 4 * (30 * 20 + 20 * 10 + 30 * 10)


def test_operations_of_loops_count_each_element():
    (row,) = tg.compile(lambda x: (x * x + 1).exp().sum()).profile(tg.ones(7, 6)).rows
    assert row.flops == 4 * 42
    assert row.nbytes == 4 * (42 + 1)


def test_rows_that_are_looked_up_are_read_alone():
    table, places = tg.ones(1000, 4), tg.arange(3)
    rows = tg.compile(lambda t, i: t[i] * 2).profile(table, places).rows
    assert sum(row.nbytes for row in rows) < 1000


@pytest.mark.parametrize("stride, padding", [(1, 1), (2, 0)])
def test_operations_of_a_convolution_and_its_derivatives(stride, padding):
    layer = nn.Conv2d(3, 4, 3, stride=stride, padding=padding)
    x = tg.ones(2, 3, 9, 9, requires_grad=True)

    def step(x):
        out = layer(x)
        return tg.autograd.grad(out.sum(), [x, layer.weight]), out

    rows = tg.compile(step).profile(x).rows
    places = layer(x).shape[-1]
    whole = 2 * 2 * 4 * 3 * 9 * places**2
    forward = [row.flops for row in rows if row.kernel.startswith("conv_") and "weight" not in row.kernel]
    assert any(whole <= flops <= whole * 1.05 for flops in forward)


def test_attention_counts_its_products_and_its_rows():
    q, k, v = (tg.randn(2, 3, 64, 16) for _ in range(3))
    rows = tg.compile(F.scaled_dot_product_attention).profile(q, k, v).rows
    products = 2 * 2 * 2 * 3 * 64 * 64 * 16
    assert products < sum(row.flops for row in rows) < 1.5 * products
    assert 4 * q.numel() * 4 <= sum(row.nbytes for row in rows) < 6 * q.numel() * 4  # no scores, no scratch memory


def test_a_recurrence_counts_each_turn():
    layer = nn.RNN(4, 5)
    rows = [tg.compile(lambda x: layer(x)[0]).profile(tg.ones(turns, 2, 4)).rows for turns in (3, 6, 9)]
    first, second, third = (sum(row.flops for row in each) for each in rows)
    assert second - first == third - second > 3 * 2 * (2 * 4 * 5 + 2 * 5 * 5)  # two products in each turn


def test_a_program_for_all_sizes_tells_this_size():
    training = Training()
    step = tg.compile(training.step)
    flops = [sum(row.flops for row in products(step.profile(*batch(size)).rows)) for size in (10, 20, 30, 40)]
    differences = np.diff(flops)
    assert set(differences) == {differences[0]} and differences[0] > 0


def test_double_precision_has_a_roofline_of_its_own():
    for dtype, itemsize in ((tg.float64, 8), (tg.float32, 4)):
        a = tg.ones(16, 16, dtype=dtype)
        for function in (lambda a: a @ a, lambda a: a.exp() + a, lambda a: a.sum(1)):
            profile = tg.compile(function).profile(a)
            assert [row.itemsize for row in profile.rows] == [itemsize]
    assert profile.machine.flops[8] < profile.machine.flops[4]


def test_a_profile_keeps_no_program_alive():
    double = tg.compile(lambda x: x * 2)
    double.profile(tg.ones(3))
    program = weakref.ref(double.specialisations[0].program)
    del double
    gc.collect()
    assert program() is None


def test_threads_profile_side_by_side():
    """Each sees the programs of its own call, whichever ends first."""
    sums = [tg.compile(lambda x, n=n: (x * n).sum()) for n in (2.0, 3.0)]
    for each in sums:
        each.profile(tg.ones(4), repeats=1)
    together = threading.Barrier(2)

    def profiles(each):
        together.wait()
        return [len(each.profile(tg.ones(4), repeats=1).rows) for _ in range(50)]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(profiles, sums)) == [[1] * 50] * 2


def test_table_trace_and_picture(tmp_path):
    profile = tg.compile(Training().step).profile(*batch(6), repeats=3)
    lines = str(profile).splitlines()
    assert len(lines) == 2 + len(profile.rows)
    assert "3 runs" in lines[0] and lines[1].split()[:3] == ["kernel", "us", "share"]
    profile.chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == [row.kernel for row in profile.rows]
    pytest.importorskip("matplotlib").use("Agg")
    profile.plot(tmp_path / "roofline.png")
    assert (tmp_path / "roofline.png").stat().st_size > 1000


def test_without_a_program_there_is_an_error():
    with pytest.raises(CompilerError, match="runs no program in 8 calls"):
        tg.compile(lambda x: x).profile(3)
    with pytest.raises(ValueError, match="repeats=1 or more"):
        tg.compile(lambda x: x * 2).profile(tg.ones(3), repeats=0)


def test_a_failing_call_raises_its_own_error():
    table = tg.ones(4, 2)
    look = tg.compile(lambda i: table[i] * 2)
    look.profile(tg.tensor([0, 1]))
    with pytest.raises(IndexError, match="out of"):
        look.profile(tg.tensor([0, 9]))
    assert look.profile(tg.tensor([0, 3])).rows


def test_nothing_is_measured_afterwards():
    double = tg.compile(lambda x: x * 2)
    double.profile(tg.ones(3))
    assert not observers
    with pytest.raises(CompilerError):
        tg.compile(lambda x: x).profile(3)
    assert not observers


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_timed_form_is_clean_c(tmp_path, compiler):
    model = Training().model
    step = tg.compile(lambda x, y: F.cross_entropy(model(x), y))
    step.profile(*batch(6))
    schedule = step.schedule
    source = stages.render(schedule, 2 + sum(buffer.place == "slot" for buffer in schedule.buffers))
    assert source.count("tg_lap(&before)") == len(schedule.kernels)
    (tmp_path / "timed.c").write_text(source)
    command = [compiler, *FLAGS, *WARNINGS, f"-I{INCLUDE}", "-c", "timed.c", "-o", "timed.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
