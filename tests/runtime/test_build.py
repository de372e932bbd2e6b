"""Units of C in, one shared library out."""

import shlex
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from tracegrad.runtime import build as build_module
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.errors import CompileFailed, RuntimeFault, ToolchainMissing
from tracegrad.runtime.program import SlotTable, load
from tracegrad.runtime.toolchain import require_compiler

HEADER = "double halved(double x);\n"
CALLER = """
#include "own.h"
int tracegrad_step(void *const *slots)
{
    *(double *)slots[0] = halved(*(double *)slots[0]);
    return 0;
}
"""
CALLED = """
#include <math.h>
#include "own.h"
double halved(double x) { return ldexp(x, -1); }
"""


def result_of(built, value):
    array, slots = np.array(value), SlotTable(1)
    slots.set_array(0, array)
    assert load(built.path).call(slots.pointer) == 0
    return array[()]


def test_one_unit_is_one_compiler_process(compilations, add_source):
    built = build([Unit("step", add_source, ("-O2",))])
    assert not built.from_cache
    assert built.seconds > 0
    assert len(compilations()) == 1


BORROWING = """
#include <math.h>
#include <string.h>
int tracegrad_step(void *const *slots)
{
    double *number = slots[0];
    volatile __int128 wide = (__int128)number[0] << 70;
    wide /= (__int128)3 << 70;
    const double whole = (double)(long)wide;
    memmove(number, &whole, sizeof whole);
    number[0] = ldexp(number[0], (int)strlen("four") - 3);
    return 0;
}
"""


def test_a_program_borrows_the_c_library_of_the_process():
    """The linker does not read it, which takes longer than all else. The compiler's own helpers are linked."""
    built = build([Unit("step", BORROWING, ("-O0",))])
    assert result_of(built, 12.0) == 8.0
    compiler = require_compiler()
    assert (b"libc.so" in built.path.read_bytes()) == (compiler.kind != "gcc" or sys.platform != "linux")


def test_what_no_program_calls_is_not_compiled():
    """Of the headers, neither with the optimiser nor without it."""
    names = "".join(f'#include "tg_{name}.h"\n' for name in ("math", "random", "sort", "vector", "window"))
    empty = "int tracegrad_step(void *const *slots) { return slots == 0; }"
    for level in ("-O0", "-O2"):
        flags = ("-std=gnu17", level, "-march=native", "-fopenmp-simd", "-fvisibility=hidden")
        alone, with_headers = (build([Unit("step", text + empty, flags)]) for text in ("", names))
        assert b"tg_mt_refill" not in with_headers.path.read_bytes()
        assert with_headers.path.stat().st_size <= alone.path.stat().st_size + 512


def test_the_second_build_runs_no_compiler(compilations, add_source):
    first = build([Unit("step", add_source)])
    second = build([Unit("step", add_source)])
    assert second.from_cache
    assert (second.path, second.sources) == (first.path, first.sources)
    assert len(compilations()) == 1


def test_several_units_share_headers_and_are_linked(compilations):
    built = build([Unit("caller", CALLER), Unit("called", CALLED, ("-O1", "-lm"))], {"own.h": HEADER})
    assert len(compilations()) == 3
    assert [path.name for path in built.sources] == ["caller.c", "called.c"]
    assert result_of(built, 5.0) == 2.5


@pytest.mark.parametrize(
    "changed",
    [
        {"source": "\nint tracegrad_step(void *const *slots) { return slots == 0; }\n"},
        {"flags": ("-O1",)},
        {"name": "other"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_another_unit_is_another_program(changed, add_source):
    unit = Unit("step", add_source, ("-O2",))
    first, second = build([unit]), build([replace(unit, **changed)])
    assert not second.from_cache
    assert second.path.parent != first.path.parent


@pytest.mark.parametrize("fact", ["identity", "instruction_set"])
def test_another_compiler_or_processor_is_another_program(fact, add_source):
    units = [Unit("step", add_source)]
    build(units)
    assert not build(units, compiler=replace(require_compiler(), **{fact: "another"})).from_cache
    assert build(units).from_cache


def test_another_header_is_another_program():
    units = [Unit("step", '#include "own.h"\nint tracegrad_step(void *const *slots) { return slots ? CODE : 0; }')]
    codes = [load(build(units, {"own.h": f"#define CODE {code}"}).path).call(SlotTable(1).pointer) for code in (3, 4)]
    assert codes == [3, 4]


def test_headers_of_the_runtime_are_found_and_are_part_of_the_key(tmp_path, monkeypatch):
    monkeypatch.setattr(build_module, "INCLUDE", tmp_path)
    step = "int tracegrad_step(void *const *slots) { return slots ? ANSWER : 0; }"
    units = [Unit("step", f'#include "tg_answer.h"\n{step}')]
    (tmp_path / "tg_answer.h").write_text("#define ANSWER 1\n")
    assert load(build(units).path).call(SlotTable(1).pointer) == 1
    (tmp_path / "tg_answer.h").write_text("#define ANSWER 2\n")
    build_module._headers_in.cache_clear()  # of this process, which has read them
    assert load(build(units).path).call(SlotTable(1).pointer) == 2
    with pytest.raises(ValueError, match="exists already"):
        build(units, {"tg_answer.h": ""})


def test_the_kept_sources_compile_by_themselves(tmp_path, real_compiler):
    built = build([Unit("caller", CALLER), Unit("called", CALLED)], {"own.h": HEADER})
    assert built.sources[0].read_text() == CALLER
    command = [real_compiler, "-shared", "-fPIC", *map(str, built.sources), "-o", str(tmp_path / "own.so"), "-lm"]
    subprocess.run(command, check=True)
    assert result_of(replace(built, path=tmp_path / "own.so"), 3.0) == 1.5


def test_a_folder_that_was_carried_away_compiles(tmp_path, cache_dir, real_compiler):
    """Headers are links within the cache; a copy of the folder has them as files."""
    flags = ("-std=gnu17", "-O2", "-march=native")
    source = '#include "tg_math.h"\n#include "own.h"\n' + CALLER.replace("halved(", "HALF * (")
    built = build([Unit("step", source, flags)], {"own.h": "#define HALF 0.5\n"})
    away, library = tmp_path / "away", tmp_path / "own.so"
    shutil.copytree(built.path.parent, away)
    shutil.rmtree(cache_dir)
    subprocess.run([real_compiler, *flags, "-fPIC", "-shared", str(away / "step.c"), "-o", str(library)], check=True)
    assert result_of(replace(built, path=library), 3.0) == 1.5


def test_a_failing_compile_shows_command_words_and_source(tmp_path):
    source = "int tracegrad_step(void *const *slots) { return undeclared; }\n"
    with pytest.raises(CompileFailed, match="refused step.c: exit status 1") as error:
        build([Unit("step", source, ("-O1",))])
    lines = [line.strip() for line in str(error.value).splitlines()]
    kept = next(line for line in lines if line.startswith("source kept in")).removeprefix("source kept in ")
    command = next(line for line in lines if line.startswith("command:")).removeprefix("command: ")
    with open(kept) as file:
        assert file.read() == source
    assert any("undeclared" in line for line in lines)
    again = subprocess.run(shlex.split(command), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "undeclared" in again.stderr


def test_a_failing_unit_among_several_is_named_and_fails_again():
    units = [Unit("good", CALLER), Unit("bad", "this is not C")]
    for _ in range(2):
        with pytest.raises(CompileFailed, match="refused bad.c"):
            build(units, {"own.h": HEADER})


def test_the_compilers_words_are_cut_short():
    source = "".join(f"wrong_{i} x{i};\n" for i in range(100))
    with pytest.raises(CompileFailed, match="more lines"):
        build([Unit("step", source)])


def test_a_killed_compiler_is_reported_by_signal(script, monkeypatch, real_compiler, add_source):
    body = f'case "$*" in *" -o "*) kill -9 $$;; esac\nexec {real_compiler} "$@"'
    monkeypatch.setenv("CC", str(script("dying-cc", body)))
    with pytest.raises(CompileFailed, match="killed by SIGKILL"):
        build([Unit("step", add_source)])


def test_a_compiler_that_has_gone_is_reported(script, monkeypatch, real_compiler, add_source):
    path = script("going-cc", f'exec {real_compiler} "$@"')
    monkeypatch.setenv("CC", str(path))
    compiler = require_compiler()
    path.unlink()
    with pytest.raises(ToolchainMissing, match="cannot be run"):
        build([Unit("step", add_source)], compiler=compiler)


@pytest.mark.parametrize("name", ["../step", "a b", "", "-o", ".hidden", 'quo"te', "line\nbreak"])
def test_names_that_are_no_file_names_are_refused(name):
    with pytest.raises(ValueError, match="not a file name"):
        build([Unit(name, "")])


def test_units_are_needed_and_have_different_names():
    for units in ([], [Unit("step", ""), Unit("step", "")]):
        with pytest.raises(ValueError, match="different names"):
            build(units)


def test_all_faults_have_one_base():
    assert issubclass(CompileFailed, RuntimeFault)
    assert issubclass(RuntimeFault, RuntimeError)
