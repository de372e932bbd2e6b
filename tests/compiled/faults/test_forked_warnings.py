"""What a copy of the process beside it (a build) does to the program's warnings: nothing."""

import os
import warnings

import pytest

from tracegrad.runtime import forked as module
from tracegrad.runtime.forked import forked

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def fork_and_wait():
    copy = forked(lambda: None)
    assert copy is not None
    copy.wait()
    assert not copy.has_failed


@pytest.mark.parametrize("action, count", [("default", 1), ("once", 1), ("module", 1), ("always", 4), ("ignore", 0)])
def test_lines_warn_as_often_as_without_a_copy(action, count):
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        shown = []
        warnings.showwarning = lambda *arguments, **options: shown.append(arguments)
        for _ in range(4):
            warnings.warn(f"said {action}", UserWarning, stacklevel=1)
            fork_and_wait()
    assert len(shown) == count


def test_a_warning_of_threads_is_not_said_and_filters_stay(monkeypatch):
    fork = os.fork

    def warning_fork():
        warnings.warn("multi-threaded, use of fork() may lead to deadlocks", DeprecationWarning, stacklevel=2)
        return fork()

    monkeypatch.setattr(module.os, "fork", warning_fork)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before, rules = warnings.filters, list(warnings.filters)
        fork_and_wait()
        assert warnings.filters is before and warnings.filters == rules
