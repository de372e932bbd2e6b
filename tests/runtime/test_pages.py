"""Working memory in large pages, and freed memory given back to the system. Bytes are counted, nothing is timed."""

import gc
import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from tracegrad.runtime import pages
from tracegrad.runtime.pages import LARGE_PAGE, working_memory
from tracegrad.runtime.program import address_of

MAPPINGS = Path("/proc/self/smaps")
linux = pytest.mark.skipif(
    not hasattr(mmap, "MADV_HUGEPAGE") or not MAPPINGS.exists(), reason="large pages are Linux's"
)


def mapping_of(address):
    """What /proc/self/smaps says of the mapping that holds `address`; None if there is none."""
    found = None
    for line in MAPPINGS.read_text().splitlines():
        first, _, rest = line.partition(" ")
        if "-" in first and not first.endswith(":"):
            begin, end = (int(part, 16) for part in first.split("-"))
            found = {} if begin <= address < end else None
        elif found is not None:
            found[first[:-1]] = rest.split()
            if first == "VmFlags:":
                return found
    return None


@pytest.mark.parametrize("nbytes", [0, 1, 1000, LARGE_PAGE - 1, LARGE_PAGE, 3 * LARGE_PAGE + 5])
def test_working_memory_is_aligned_and_writable(nbytes):
    memory = working_memory(nbytes)
    assert memory.shape == (nbytes,)
    if nbytes:
        assert address_of(memory) % (64 if nbytes < LARGE_PAGE else LARGE_PAGE) == 0
    memory[:] = 7
    assert memory.sum() == 7 * nbytes


@linux
def test_large_memory_asks_for_large_pages_and_small_memory_does_not(monkeypatch):
    memory = working_memory(4 * LARGE_PAGE + 1)
    address = address_of(memory)
    assert "hg" in mapping_of(address)["VmFlags"]
    assert "hg" in mapping_of(address + 4 * LARGE_PAGE - 1)["VmFlags"]
    monkeypatch.setattr(pages.mmap, "mmap", None)  # small memory may lie where large memory was
    assert working_memory(1000).nbytes == 1000


@linux
def test_working_memory_goes_back_to_the_system_with_its_last_view():
    memory = working_memory(8 * LARGE_PAGE)
    address, part = address_of(memory), memory[5:9]
    del memory
    gc.collect()
    assert mapping_of(address) is not None
    del part
    gc.collect()
    assert mapping_of(address) is None


def test_without_large_pages_memory_is_ordinary(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no memory")

    monkeypatch.setattr(pages.mmap, "mmap", refuse)
    memory = working_memory(LARGE_PAGE)
    memory[:] = 1
    monkeypatch.setattr(pages, "_ADVICE", None)
    monkeypatch.setattr(pages, "_trim", None)
    assert working_memory(LARGE_PAGE).shape == memory.shape
    pages.give_back()


@linux
@pytest.mark.skipif(pages._trim is None, reason="glibc's allocator")
def test_freed_memory_below_memory_in_use_is_given_back():
    code = """if True:
        from tracegrad.runtime.pages import give_back

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * 4096

        kept = [bytearray(b"1") * 50_000 for _ in range(800)]
        del kept[:-1]
        before = resident()
        give_back()
        print(before - resident())
        """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(found.stdout) > 20_000_000


@pytest.mark.long(fast="first")
@linux
@pytest.mark.skipif(pages._set_option is None, reason="glibc's allocator")
@pytest.mark.parametrize("keeps", [False, True])
def test_arrays_that_were_freed_leave_their_memory_to_the_next_ones(keeps):
    code = f"""if True:
        from tracegrad.runtime.pages import keep_freed

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * 4096

        if {keeps}:
            keep_freed()
        before, large = resident(), bytearray(b"1") * 100_000_000
        del large
        print(resident() - before)
        """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (int(found.stdout) > 90_000_000) is keeps


def test_an_allocator_without_options_is_left_alone(monkeypatch):
    monkeypatch.setattr(pages, "_set_option", None)
    pages.keep_freed()


@linux
def test_an_arena_lies_in_large_pages_and_goes_with_the_program(tg):
    model = tg.nn.Sequential(
        *(layer for _ in range(3) for layer in (tg.nn.Linear(256, 1024), tg.nn.Tanh(), tg.nn.Linear(1024, 256)))
    )
    step = tg.compile(lambda x: model(x).sum().backward())
    step(tg.ones(512, 256))
    (only,) = step.specialisations
    size = only.program.schedule.arena_bytes
    address = only.binding.slots.words[0]
    assert size >= LARGE_PAGE and address % LARGE_PAGE == 0
    assert "hg" in mapping_of(address)["VmFlags"]
    del only, step
    gc.collect()
    assert mapping_of(address) is None
