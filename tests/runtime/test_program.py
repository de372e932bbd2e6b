"""Loading a library, the table of addresses, and calling the step."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tracegrad.runtime import _make_abi, program
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.errors import LoadFailed, ToolchainMissing
from tracegrad.runtime.program import SlotTable, address_of, allocate, load

WAIT_FOR_FLAG = """
#define _POSIX_C_SOURCE 199309L
#include <time.h>
int tracegrad_step(void *const *slots)
{
    volatile long *flags = slots[0];
    const struct timespec millisecond = {0, 1000000};
    flags[0] = 1;
    for (int waited = 0; waited < 10000; ++waited) {
        if (flags[1]) return 0;
        nanosleep(&millisecond, 0);
    }
    return 1;
}
"""


def read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    return array


ARRAYS = {
    "contiguous": np.zeros((3, 4), np.float32),
    "0-d": np.array(1.5),
    "empty": np.zeros((0, 3)),
    "empty strided": np.zeros((0, 4))[:, ::2],
    "strided": np.zeros((4, 6))[1::2, ::3],
    "negative strides": np.zeros((4, 6))[::-1, ::-1],
    "transposed": np.zeros((4, 6)).T,
    "broadcast": np.broadcast_to(np.float32(1), (3, 4)),
    "read-only": read_only(),
    "bool": np.zeros(3, bool),
    "float16": np.zeros(3, np.float16),
    "big-endian": np.zeros(3, ">f4"),
    "dates": np.zeros(3, "M8[s]"),
    "objects": np.array([None, 1], object),
    "unaligned": np.zeros(33, np.uint8)[1:].view(np.float32),
    "subclass": np.zeros(3).view(np.recarray),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_address_of(array):
    assert address_of(array) == array.__array_interface__["data"][0] == array.ctypes.data


def test_address_of_a_view_is_that_of_its_first_element():
    base = np.arange(24, dtype=np.float64).reshape(4, 6)
    assert address_of(base[1:, 2:]) == address_of(base) + 8 * 8
    assert address_of(base[::-1]) == address_of(base) + 18 * 8


@pytest.mark.parametrize("value", [1.0, [1.0], None, np.float32(1), memoryview(b"abc")])
def test_address_of_takes_arrays_only(value):
    with pytest.raises(TypeError, match="expected a numpy array, got"):
        address_of(value)
    with pytest.raises(TypeError, match="expected a numpy array, got"):
        SlotTable(1).set_array(0, value)


def test_a_step_adds_two_arrays(add_source):
    step = load(build([Unit("step", add_source, ("-O2", "-march=native"))]).path)
    a, b, total = np.arange(4, dtype=np.float32), np.ones(4, np.float32), np.zeros(4, np.float32)
    slots = SlotTable(3)
    slots.set_array(0, a)
    slots.set_address(1, address_of(b))
    slots.set_array(2, total)
    assert step.call(slots.pointer) == 0
    assert total.tolist() == [1, 2, 3, 4]
    slots.set_array(0, total)
    assert step.call(slots.pointer) == 0
    assert total.tolist() == [2, 3, 4, 5]


def test_call_may_outlive_its_program():
    source = "int tracegrad_step(void *const *slots) { return slots[0] ? 5 : 6; }"
    call = load(build([Unit("step", source)]).path).call
    assert call(SlotTable(1).pointer) == 6


def test_the_gil_is_released_during_a_call():
    step = load(build([Unit("step", WAIT_FOR_FLAG)]).path)
    flags, slots, results = np.zeros(2, np.int_), SlotTable(1), []
    slots.set_array(0, flags)
    waiting = threading.Thread(target=lambda: results.append(step.call(slots.pointer)))
    waiting.start()
    while not flags[0]:  # the step has begun; if it held the GIL, this would come out too late to raise the flag
        pass
    flags[1] = 1
    waiting.join()
    assert results == [0]


def test_a_slot_table_is_bounded():
    slots = SlotTable(2)
    assert len(slots) == 2
    for fill in (lambda: slots.set_address(2, 0), lambda: slots.set_array(2, np.zeros(1))):
        with pytest.raises(IndexError):
            fill()
    assert len(SlotTable(0)) == 0


def test_what_is_no_library_is_refused(tmp_path):
    (tmp_path / "text.so").write_text("not a library")
    for name in ("absent.so", "text.so"):
        with pytest.raises(LoadFailed, match="cannot be loaded") as error:
            load(tmp_path / name)
        assert str(tmp_path / name) in str(error.value)


def test_a_library_without_the_step_is_refused():
    with pytest.raises(LoadFailed, match="tracegrad_step"):
        load(build([Unit("step", "int another(void) { return 0; }")]).path)


@pytest.mark.parametrize("nbytes", [0, 1, 64, 1000])
@pytest.mark.parametrize("alignment", [1, 64, 4096, 2 << 20])
def test_allocate_is_aligned(nbytes, alignment):
    memory = allocate(nbytes, alignment)
    assert (memory.dtype, memory.shape) == (np.uint8, (nbytes,))
    assert nbytes == 0 or address_of(memory) % alignment == 0
    memory[:] = 1


@pytest.mark.parametrize(("nbytes", "alignment"), [(-1, 64), (8, 0), (8, 48), (8, -64)])
def test_allocate_refuses_what_makes_no_sense(nbytes, alignment):
    with pytest.raises(ValueError, match="cannot allocate"):
        allocate(nbytes, alignment)


def test_without_cffi_the_module_imports_and_says_what_is_missing():
    code = """if True:
        import sys
        sys.modules["_cffi_backend"] = None
        from tracegrad.runtime import program
        from tracegrad.runtime.errors import ToolchainMissing
        for use in (lambda: program.load("x.so"), lambda: program.SlotTable(1)):
            try:
                use()
            except ToolchainMissing as error:
                print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install cffi") == 2
    assert issubclass(ToolchainMissing, RuntimeError)


def test_the_emitted_declarations_are_up_to_date(tmp_path):
    _make_abi.emit(tmp_path / "_abi.py")
    assert (tmp_path / "_abi.py").read_text() == Path(program.__file__).with_name("_abi.py").read_text()
