"""Step times from the stretches in which other processes left the CPU alone."""

import itertools
import os
import statistics
import time
from dataclasses import dataclass

CHUNK_NS = int(0.5e9)
QUIET = 0.06  # the share of a CPU that others may take in a chunk that counts


@dataclass
class Limits:
    seconds: float  # of quiet time that are wanted
    patience: float = 12.0  # seconds after which the quietest chunks seen must do
    max_steps: int = 200_000


@dataclass
class Times:
    """Sorted step times in microseconds, and the share of a CPU that others took meanwhile."""

    steps: list
    foreign: float

    def quantile(self, q):
        return round(self.steps[min(len(self.steps) - 1, int(q * len(self.steps)))], 2)

    @property
    def median(self):
        return round(statistics.median(self.steps), 2)


def busy_seconds():
    """CPU seconds spent by anyone (steal included) on the CPUs of this process, and by this process."""
    cpus = {f"cpu{c}" for c in os.sched_getaffinity(0)}
    busy = 0
    with open("/proc/stat") as lines:
        for fields in map(str.split, lines):
            if fields[0] in cpus:
                ticks = [int(x) for x in fields[1:9]]
                busy += sum(ticks) - ticks[3] - ticks[4]  # without idle and iowait
    own = os.times()
    return busy / os.sysconf("SC_CLK_TCK"), own.user + own.system


def chunk(step, batches):
    """Step times (ns) of about half a second, at least three steps."""
    now = time.perf_counter_ns
    times, end = [], now() + CHUNK_NS
    for batch in batches:
        start = now()
        step(*batch)
        stop = now()
        times.append(stop - start)
        if stop > end and len(times) >= 3:
            return times


def foreign_share(before, after, seconds):
    return max(0.0, ((after[0] - before[0]) - (after[1] - before[1])) / seconds)


def measure(step, batches, limits):
    """Runs chunks until there is enough quiet time, or patience or the number of steps is used up."""
    endless = itertools.cycle(batches)
    chunks, quiet, total, begin = [], 0.0, 0, time.perf_counter()
    while quiet < limits.seconds and time.perf_counter() - begin < limits.patience and total < limits.max_steps:
        before = busy_seconds()
        start = time.perf_counter()
        times = chunk(step, endless)
        seconds = time.perf_counter() - start
        foreign = foreign_share(before, busy_seconds(), seconds)
        chunks.append((foreign, times))
        total += len(times)
        quiet += seconds if foreign <= QUIET else 0.0
    return quietest(chunks)


def quietest(chunks):
    """The quiet chunks, or, where there is none, the best fifth."""
    chunks = sorted(chunks, key=lambda c: c[0])
    good = [c for c in chunks if c[0] <= QUIET] or chunks[: max(1, len(chunks) // 5)]
    steps = sorted(t / 1e3 for _, times in good for t in times)
    return Times(steps, sum(foreign for foreign, _ in good) / len(good))
