"""While the compiler works no garbage is collected, and afterwards, however it ends, it is again."""

import gc
import os

import pytest
from sample_steps import classifier_step

from tracegrad.compiler.garbage import without_collections
from tracegrad.compiler.pipeline import compile_graph


@pytest.fixture
def collections():
    """What is collected, as often as that may be."""
    seen, before = [], gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(lambda phase, info: seen.append(phase))
    yield seen
    gc.callbacks.pop()
    gc.set_threshold(*before)


def test_no_garbage_is_collected_while_a_graph_is_compiled(collections):
    graph = classifier_step("few", 2, 3, 4, 5)
    before = len(collections)
    program = compile_graph(graph)
    at_its_end = len(collections)
    assert before > 0
    assert at_its_end - before <= 4  # around it
    assert program.source and gc.isenabled()


def test_errors_leave_the_collector_on():
    with pytest.raises(ZeroDivisionError):
        without_collections(lambda: 1 // 0)
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        assert without_collections(gc.isenabled) is False
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_is_off_inside():
    assert without_collections(without_collections, gc.isenabled) is False
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_collects():
    def forked():
        pid = os.fork()
        if pid == 0:
            os._exit(0 if gc.isenabled() else 1)
        return os.waitpid(pid, 0)[1], gc.isenabled()

    assert without_collections(forked) == (0, False)
