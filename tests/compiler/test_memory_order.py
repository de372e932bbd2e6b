"""How much memory a program works in: where buffers lie in the arena, and the order of jobs. Bytes are counted."""

import itertools
import random

import numpy as np
import pytest
from sample_graphs import CASES
from sample_steps import classifier_step, moons_step

from tracegrad.compiler.schedule import order, plan
from tracegrad.compiler.schedule.arena import lifetimes
from tracegrad.compiler.schedule.memory import Lifetime, aligned, offsets
from tracegrad.compiler.schedule.memory_order import Usage, in_less_memory, thrifty

STEPS = {
    "moons": moons_step,
    "classifier": lambda: classifier_step("classifier", 32, 24, 40, 20, 10),
    "deep": lambda: classifier_step("deep", 64, 48, *[48] * 10, 10),
    "large": lambda: classifier_step("large", 256, 256, *[256] * 6, 10),
}


def most_live(lives):
    """The bytes that no placement can do without."""
    last = max((life.last for life in lives), default=-1)
    return max((sum(aligned(x.nbytes) for x in lives if x.first <= n <= x.last) for n in range(last + 1)), default=0)


def scheduled(graph, monkeypatch, **options):
    """The schedule of a graph, and the lifetimes that were placed for it."""
    seen = []
    placed = plan.placed

    def noting(plan, kernels):
        seen.append(lifetimes(plan, kernels))
        return placed(plan, kernels)

    monkeypatch.setattr(plan, "placed", noting)
    made = plan.make_schedule(graph, **options)
    return made, seen[-1]


@pytest.mark.parametrize("graph", [*CASES, *STEPS])
def test_the_arena_is_hardly_larger_than_what_is_live_at_once(graph, monkeypatch):
    made, lives = scheduled(CASES[graph] if graph in CASES else STEPS[graph](), monkeypatch)
    assert most_live(lives) <= made.arena_bytes <= 1.1 * most_live(lives)


@pytest.mark.parametrize("seed", range(20))
def test_random_lifetimes_do_not_overlap_and_lie_close(seed):
    draw = random.Random(seed)
    lives = []
    for _ in range(60):
        first = draw.randrange(100)
        lives.append(Lifetime(draw.choice([64, 640, 4096, 100_000]), first, first + draw.randrange(40)))
    places, size = offsets(lives)
    for (a, x), (b, y) in itertools.combinations(zip(places, lives, strict=True), 2):
        together = x.first <= y.last and y.first <= x.last
        assert not together or a + x.nbytes <= b or b + y.nbytes <= a
    assert size <= 1.25 * most_live(lives)


def test_large_programs_free_memory_before_they_take_more(monkeypatch):
    graph = STEPS["large"]()
    made, _ = scheduled(graph, monkeypatch)
    monkeypatch.setattr(order, "LARGE", 0)
    monkeypatch.setattr(plan, "in_order", lambda plan: order.in_order(plan, large=2**62))
    plain, _ = scheduled(graph, monkeypatch)
    assert made.arena_bytes < 0.8 * plain.arena_bytes
    assert {kernel.name for kernel in made.kernels} == {kernel.name for kernel in plain.kernels}
    assert [kernel.name for kernel in made.kernels] != [kernel.name for kernel in plain.kernels]


def random_jobs(seed):
    """Jobs by number, each after those whose buffers it reads."""
    draw = random.Random(seed)
    count = draw.randrange(2, 30)
    reads = {n: {f"b{draw.randrange(n)}" for _ in range(draw.randrange(4))} if n else set() for n in range(count)}
    writes = {n: {f"b{n}"} for n in range(count)}
    sizes = {f"b{n}": draw.choice([64, 1000, 50_000]) for n in range(count)}
    waits = {n: {int(name[1:]) for name in reads[n]} for n in range(count)}
    return waits, Usage(reads, writes, sizes)


@pytest.mark.parametrize("seed", range(60))
def test_orders_of_random_jobs(seed):
    waits, usage = random_jobs(seed)
    plain = list(waits)
    for found in (thrifty(plain, waits, usage), in_less_memory(plain, waits, usage)):
        assert sorted(found) == plain
        place = {job: n for n, job in enumerate(found)}
        assert all(place[before] < place[job] for job in waits for before in waits[job])
    chosen = in_less_memory(plain, waits, usage)
    assert peak(chosen, usage) <= peak(plain, usage)


def peak(jobs, usage):
    """The most bytes that are live, from first to last use of each buffer."""
    used = {}
    for n, job in enumerate(jobs):
        for name in {*usage.reads[job], *usage.writes[job]}:
            used.setdefault(name, [n, n])[1] = n
    change = np.zeros(len(jobs) + 1, np.int64)
    for name, (first, last) in used.items():
        change[first] += usage.sizes[name]
        change[last + 1] -= usage.sizes[name]
    return int(np.cumsum(change).max())
