"""What CC may hold, and that nothing makes the process compute otherwise."""

import os
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tracegrad.runtime import float_environment
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.errors import CompileFailed, LoadFailed, RuntimeFault, ToolchainMissing
from tracegrad.runtime.program import SlotTable, ffi, load
from tracegrad.runtime.toolchain import find_compiler

STEP = "int tracegrad_step(void *const *slots) { return slots ? 1 : 0; }\n"

ALLOWED = [
    "-m64", "-march=native", "-march=x86-64-v3", "-mtune=generic", "-O2", "-O3", "-Os", "-g", "-pipe", "-fPIC",
    "-I/opt/include", "-I /opt/include", "-isystem /opt/include", "-L/opt/lib", "-L /opt/lib",
    "-B/opt/bin", "-B /opt/bin",
    "--sysroot=/", "--sysroot /", "'-I/with space'", '-I"/with space"', r"-I/with\ space", "-Wall", "-Wno-unused",
    "-Wformat=2", "-Werror=format-security", "-D_FORTIFY_SOURCE=2 -O2", "-DNDEBUG", "-D_GNU_SOURCE",
    "-fstack-protector-strong",
    "-fstack-clash-protection", "-ffile-prefix-map=/a=/b", "-fwrapv", "-pthread", "-std=gnu17", "-fno-strict-aliasing",
]  # fmt: skip
REFUSED = [
    "-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-ffinite-math-only", "-fno-signed-zeros", "-mfpmath=387",
    "-fassociative-math", "-freciprocal-math", "-frounding-math", "-fsingle-precision-constant", "-ffp-contract=fast",
    "-fcx-limited-range", "-mdaz-ftz", "-ffp-model=fast", "-mabi=ms", "-m32", "-fshort-enums", "-funsigned-char",
    "-Wl,--wrap=malloc", "-Wl,-z,execstack", "-Wa,-al", "-Wp,-DX", "-Xlinker --wrap=malloc", "-Xclang -menable-no-nans",
    "@{file}", "-specs={file}", "--config={file}", "-include {file}", "-imacros {file}", "-D ANSWER=42", "-DNAN=0",
    "-Dfloat=double", "-DW=V", "-U__FINITE_MATH_ONLY__", "-x c++", "-c", "-E", "-S", "-o out", "-shared", "-static",
    "-lm", "-nostdlib", "-fplugin={file}", "-load {file}", "-fsanitize=address", "-fopenmp", "-flto", "-fprofile-use",
    "-I", "-I @{file}", "-L -ffast-math", "-I -Ofast", "'-ffast-math'", '"-ffast"-math', r"-ffast\-math", "-",
    "''", "{file}",
    "-march", "-mllvm -enable-unsafe-fp-math", "--target", "-std=c++17", "-MD", "-save-temps", "-dumpdir x",
]  # fmt: skip


def flushes():
    return (np.array([5e-324]) * 1.0)[0] == 0


@pytest.mark.parametrize("arguments", ALLOWED)
def test_known_arguments_are_taken(arguments, script, monkeypatch, real_compiler):
    # The compiler itself is given none of them: some machine's compiler does not know one or the other.
    monkeypatch.setenv("CC", f"{script('cc', f'exec {real_compiler} -march=native -E -dM -x c /dev/null')} {arguments}")
    assert len(find_compiler().command) > 1


@pytest.mark.parametrize("arguments", REFUSED)
def test_other_arguments_are_refused_by_name(arguments, tmp_path, monkeypatch, script):
    file, ran = tmp_path / "file", tmp_path / "ran"
    file.write_text("-ffast-math\n")
    monkeypatch.setenv("CC", f"{script('cc', f'touch {ran}')} {arguments.format(file=file)}")
    with pytest.raises(ToolchainMissing, match="CC holds the argument") as error:
        find_compiler()
    assert len(str(error.value).splitlines()) == 3
    assert "take it out of CC" in str(error.value)
    assert not ran.exists()


@pytest.mark.parametrize(
    "form", ["{cc}", "ccache {cc}", "sccache {cc} -O2", "{ccache} {cc}", "zig cc", "python3 -m ziglang cc"]
)
def test_launchers(form, script, tmp_path, monkeypatch, real_compiler):
    folder = tmp_path / "bin"
    for name in ("ccache", "sccache"):
        script(name, 'exec "$@"', folder)
    script("zig", f'shift; exec {real_compiler} "$@"', folder)
    script("python3", f'shift; shift; shift; exec {real_compiler} "$@"', folder)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("CC", form.format(cc=real_compiler, ccache=folder / "ccache"))
    assert load(build([Unit("step", STEP)]).path)


@pytest.mark.parametrize(
    "named", ["ccache", "ccache no-such-compiler", "sccache -O2", "gcc gcc", "gcc zig cc", "env A=1 gcc"]
)
def test_other_words_are_refused(named, script, tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    for name in ("ccache", "sccache", "gcc", "env"):
        script(name, "exit 0", folder)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("CC", named)
    with pytest.raises(ToolchainMissing, match="CC"):
        find_compiler()


def test_another_compiler_behind_a_launcher_is_another_program(script, tmp_path, monkeypatch, real_compiler):
    behind = script("cc", f'exec {real_compiler} "$@"')
    launcher = script("ccache", 'exec "$@"')
    monkeypatch.setenv("CC", f"{launcher} {behind}")
    before = find_compiler().identity
    script("cc", f'# newer\nexec {real_compiler} "$@"')
    find_compiler.__globals__["_find_compiler"].cache_clear()
    assert find_compiler().identity != before


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-ffinite-math-only"])
def test_a_wrapper_that_adds_fast_math_is_refused(flag, script, monkeypatch, real_compiler):
    monkeypatch.setenv("CC", str(script("cc", f'exec {real_compiler} {flag} "$@"')))
    with pytest.raises(ToolchainMissing, match="changes results") as error:
        find_compiler()
    assert len(str(error.value).splitlines()) == 3


HIDDEN = 'case "$*" in *-dM*) exec {cc} "$@";; esac\nexec {cc} {before} "$@" {after}'


def test_what_a_wrapper_puts_before_our_flags_is_taken_back(script, monkeypatch, real_compiler):
    body = HIDDEN.format(cc=real_compiler, before="-ffast-math", after="")
    monkeypatch.setenv("CC", str(script("cc", body)))
    source = STEP.replace("slots ? 1 : 0", "slots ? 2 + __FINITE_MATH_ONLY__ : 0")
    assert load(build([Unit("step", source)]).path).call(SlotTable(1).pointer) == 2
    assert not flushes()


def test_a_library_that_changes_how_the_process_computes_is_refused(script, monkeypatch, real_compiler, cache_dir):
    """The environment is restored, and the entry is none."""
    at_loading = "__attribute__((constructor)) static void set(void)"
    setting = f"#include <xmmintrin.h>\n{at_loading} {{ _mm_setcsr(_mm_getcsr() | 0x8040); }}\n"
    rounding = f"#include <fenv.h>\n{at_loading} {{ fesetround(FE_UPWARD); }}\n"
    for source, flags in ((setting + STEP, ()), (rounding + STEP, ("-lm",))):
        for _ in range(2):
            with pytest.raises(LoadFailed, match="changes how the process computes"):
                build([Unit("step", source, flags)], load=load)
            assert not flushes()
            assert 1.0 + 2.0**-60 == 1.0
        assert list(cache_dir.glob("*/entry.json")) == list(cache_dir.glob("*/*.so")) == []


def test_a_chosen_environment_is_left_as_it_is(real_compiler):
    mathematics = ffi.dlopen("libm.so.6")
    before, chosen = ffi.new("char[]", 256), ffi.new("char[]", 256)
    mathematics.fegetenv(before)
    mathematics.fegetenv(chosen)
    ffi.buffer(chosen)[28:32] = (int.from_bytes(ffi.buffer(before)[28:32], "little") | 0x8040).to_bytes(4, "little")
    try:
        mathematics.fesetenv(chosen)
        assert flushes()
        build([Unit("step", STEP)], load=load)
        assert flushes()
    finally:
        mathematics.fesetenv(before)
    assert not flushes()


def test_flags_that_other_code_raises_meanwhile_are_no_change(real_compiler):
    """As a signal handler may, which runs between any two calls of C."""
    path = build([Unit("step", STEP)]).path
    three, loaded = float("3"), []

    def divide(*_):  # before each line
        assert not loaded or 1.0 / three < 1.0  # inexact
        return divide

    before = sys.gettrace()
    sys.settrace(divide)
    try:
        library = float_environment.unchanged(ffi, path, lambda: loaded.append("library") or 5)
    finally:
        sys.settrace(before)
    assert library == 5


# ------------------------------------------------------------------------------------------- compilers that do not work

FAULTY = """case "$*" in *-dM*) exec {cc} "$@";; esac
out=; while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
{body}"""
BODIES = {
    "exit 0": "wrote nothing",
    ": > $out": "wrote an empty file",
    "echo garbage > $out": "wrote no shared library",
    "head -c 100000 /dev/urandom > $out": "wrote no shared library",
    "mkdir $out": "wrote nothing",
    "mkfifo $out": "wrote nothing",
    "ln -s /dev/null $out": "wrote nothing",
    "cp /bin/sh elsewhere; ln -s elsewhere $out": "wrote nothing",
    "umask 0; echo 'int x;' | {cc} -shared -x c - -o whole.so; head -c 200 whole.so > $out": "wrote a part",
    "cp /bin/sh $out; echo 'int x;' | {cc} -x c -c - -o $out": "wrote no shared library",
    "echo 'int x;' | {cc} -shared -x c - -o whole.so; head -c 9000 whole.so > $out": "wrote a part of a shared library",
    "echo 'int x;' | {cc} -shared -x c - -o whole.so; head -c 200 whole.so > $out": "wrote a part of a shared library",
    "kill -9 $$": "killed by SIGKILL, out of memory",
    "kill -35 $$": "killed by signal 35|killed by SIG",
    "echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1": "exit status 1, out of memory",
    "exit 137": "exit status 137, out of memory",
    "echo no; exit 3": "exit status 3$",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_compiler_that_does_not_work_is_told_in_one_line(body, script, monkeypatch, real_compiler, cache_dir):
    monkeypatch.setenv("CC", str(script("cc", FAULTY.format(cc=real_compiler, body=body.format(cc=real_compiler)))))
    for _ in range(2):
        with pytest.raises(CompileFailed) as error:
            build([Unit("step", STEP)], load=load)
        assert re.search(BODIES[body], str(error.value).splitlines()[0]), error.value
        assert "step.c" in str(error.value) and "command:" in str(error.value)
    assert list(cache_dir.glob("*/entry.json")) == []


def test_a_hanging_compiler_is_ended_with_its_children(script, tmp_path, monkeypatch, real_compiler):
    child = tmp_path / "child"
    body = f'case "$*" in *-dM*) exec {real_compiler} "$@";; esac\nsleep 1000 & echo $! > {child}; wait'
    monkeypatch.setenv("CC", str(script("cc", body)))
    monkeypatch.setenv("TRACEGRAD_COMPILE_SECONDS", "0.3")
    with pytest.raises(CompileFailed, match="has not ended after 0.3 seconds") as error:
        build([Unit("step", STEP)])
    assert "TRACEGRAD_COMPILE_SECONDS" in str(error.value)
    assert has_ended(child.read_text().strip())


def has_ended(process):
    """Whether it does so soon: a signal is sent in no time, but a busy machine delivers it later."""
    until = time.monotonic() + 10
    while state_of(process) not in ("gone", "Z"):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def state_of(process):
    """Its letter in /proc, Z for one that has ended and that nobody has asked for yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def test_a_hanging_probe_is_waited_for_once(script, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    monkeypatch.setenv("CC", str(script("cc", f"echo x >> {ran}; sleep 1000")))
    monkeypatch.setitem(find_compiler.__globals__, "PROBE_SECONDS", 0.3)
    for _ in range(3):
        with pytest.raises(ToolchainMissing, match="has not ended after 0.3 seconds"):
            find_compiler()
    assert ran.read_text() == "x\n"


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "1e9"])
def test_a_time_limit_that_is_none(text, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_COMPILE_SECONDS", text)
    with pytest.raises(RuntimeFault, match="cannot be read"):
        build([Unit("step", STEP)])


def test_a_path_that_is_not_utf8_and_a_home(tmp_path, monkeypatch):
    odd = os.fsencode(tmp_path) + b"/cache-\xff"
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", os.fsdecode(odd))
    assert build([Unit("step", STEP)], load=load).path.is_file()
    assert build([Unit("step", STEP)], load=load).from_cache
    with pytest.raises(CompileFailed, match=r"cache-\\xff"):
        build([Unit("step", "no C")])
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", "~/programs")
    assert (tmp_path / "home" / "programs") in build([Unit("step", STEP)]).path.parents
    assert (tmp_path / "home" / "other") in build([Unit("step", STEP)], cache_dir="~/other").path.parents
