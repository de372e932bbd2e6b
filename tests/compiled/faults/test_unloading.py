"""Libraries go with the last of what can call them."""

import gc
import linecache
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.runtime import provide
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.program import SlotTable, load

FUNCTIONS = 90

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="mappings are counted by Linux' /proc")

WAIT = """
int tracegrad_step(void *const *slots)
{
    volatile long *flags = slots[0];
    flags[0] = 1;
    while (!flags[1]) {}
    return 7;
}
"""


def mapped(word):
    """The names of the libraries that are mapped now."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {line.rsplit("/", 1)[-1] for line in lines if word in line.rsplit("/", 1)[-1]}


@pytest.fixture
def own_libraries(tmp_path, monkeypatch):
    """Each program gets a library of its own, by copying: to run the C compiler hundreds of times takes minutes."""
    made = []

    def loaded(path, stands_at=None):
        copy = tmp_path / f"own-{len(made)}.so"
        shutil.copy(path, copy)
        made.append(copy.name)
        return load(copy)

    monkeypatch.setattr(provide, "load", loaded)
    return made


def test_dropped_functions_leave_no_mappings(own_libraries):
    kinds = (
        lambda: tg.compile(lambda x: (x * 2).sum()),
        lambda: tg.compile(lambda x: x * 2 if x.sum().item() > 0 else x),
        lambda: tg.compile(tg.nn.Linear(3, 3)),
    )
    x = tg.ones(3)
    for i in range(FUNCTIONS):
        step = kinds[i % 3]()
        for _ in range(4):
            result = step(x)
        assert step.way in ("replay", "re-record")
    assert mapped("own-")  # the last one's, at least
    kept = tg.compile(lambda x: x * 2)
    for _ in range(3):
        kept(x)
    del step, result
    gc.collect()
    assert len(own_libraries) > FUNCTIONS
    assert mapped("own-") == {own_libraries[-1]}
    assert kept(x).tolist() == [2, 2, 2]


def test_a_result_can_go_back_after_its_function_has_gone(own_libraries):
    model = tg.nn.Linear(2, 2)
    step = tg.compile(model)
    for _ in range(3):
        result = step(tg.ones(1, 2))
    assert result.grad_fn is not None
    del step
    gc.collect()
    result.sum().backward()
    assert model.bias.grad.tolist() == [1, 1]
    model.bias.grad = None
    del result
    gc.collect()
    assert not mapped("own-")


def test_a_call_in_another_thread_holds_its_library(tmp_path):
    copy = tmp_path / "own-wait.so"
    shutil.copy(build([Unit("step", WAIT)]).path, copy)
    flags, slots, results = np.zeros(2, np.int_), SlotTable(1), []
    slots.set_array(0, flags)
    calls = [load(copy).call]
    thread = threading.Thread(target=lambda: results.extend(map(calls.pop(), [slots.pointer])))
    thread.start()
    while not flags[0]:
        pass
    gc.collect()
    assert not calls and mapped("own-wait")
    flags[1] = 1
    thread.join()
    gc.collect()
    assert results == [7] and not mapped("own-wait")


def test_functions_share_a_library(tmp_path):
    copy = tmp_path / "own-two.so"
    shutil.copy(build([Unit("step", "int tracegrad_step(void *const *slots) { return slots == 0; }")]).path, copy)
    one, two = load(copy), load(copy)
    del one
    gc.collect()
    assert mapped("own-two") and two.call(SlotTable(1).pointer) == 0
    del two
    gc.collect()
    assert not mapped("own-two")


def test_source_lines_of_dropped_functions_go():
    def count():
        return sum(title.startswith("<tracegrad: usual call") for title in linecache.cache)

    gc.collect()
    before = count()
    step = tg.compile(lambda x: x * 2)
    for _ in range(4):
        step(tg.ones(2))
    assert count() == before + 1
    del step
    gc.collect()
    assert count() == before
