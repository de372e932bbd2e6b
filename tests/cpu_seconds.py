"""The closing line that says where processor time went: CPU seconds of tests and their child processes, by folder."""

import resource
import time
from collections import Counter

import pytest

STARTING = "starting and collecting"
SPENT = Counter()  # in the process that prints
UNREPORTED = Counter()  # in the process that runs tests, which is another one with pytest-xdist


class Clock:
    """CPU seconds of this process, and of the children that it has waited for."""

    def __init__(self):
        self.seen = 0.0

    def lap(self):
        """What was spent since the last call."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        before, self.seen = self.seen, time.process_time() + children.ru_utime + children.ru_stime
        return self.seen - before


CLOCK = Clock()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop():
    UNREPORTED[STARTING] += CLOCK.lap()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """A report carries what was spent since the one before it."""
    report = yield
    folder, inside, _ = item.nodeid.partition("::")[0].removeprefix("tests/").partition("/")
    UNREPORTED[folder if inside else "files beside the folders"] += CLOCK.lap()
    report.cpu_seconds = dict(UNREPORTED)
    UNREPORTED.clear()
    return report


def pytest_runtest_logreport(report):
    SPENT.update(getattr(report, "cpu_seconds", {}))


def pytest_terminal_summary(terminalreporter):
    parts = [f"{seconds:.0f} {of}" for of, seconds in SPENT.most_common() if seconds >= 0.5]
    if parts:
        terminalreporter.write_line(f"{sum(SPENT.values()):.0f} CPU seconds: {', '.join(parts)}")
