"""Finding a compiler, and the flags that it may be given."""

import sys

import pytest

from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.errors import ToolchainMissing
from tracegrad.runtime.toolchain import ALLOWED_FLAGS, check_flags, find_compiler, require_compiler


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-O4", "-funsafe-math-optimizations", "-o", ""])
def test_other_flags_are_refused(flag):
    with pytest.raises(ValueError, match="is not allowed") as error:
        check_flags(["-O2", flag])
    assert repr(flag) in str(error.value)
    assert len(str(error.value).splitlines()) == 3


def test_fast_math_is_refused_before_anything_is_compiled(compilations, add_source):
    with pytest.raises(ValueError, match="-ffast-math"):
        build([Unit("step", add_source, ("-ffast-math",))])
    assert compilations() == []


@pytest.mark.parametrize("count", [1, 2])
def test_allowed_flags_compile_and_link_together(count, add_source):
    chosen = ALLOWED_FLAGS - {"-std=c17", "-O1", "-O2", "-ffp-contract=fast"}  # the others of each choice
    names = ["step", "other"][:count]
    sources = [add_source, "int other(void);\nint other(void) { return 1; }\n"]
    units = [Unit(name, source, tuple(sorted(chosen))) for name, source in zip(names, sources, strict=False)]
    assert build(units).path.is_file()  # not loaded: AddressSanitizer ends a process that did not start with it


def test_the_compiler_is_described(real_compiler, monkeypatch):
    monkeypatch.setenv("CC", real_compiler)
    compiler = find_compiler()
    assert compiler.command == (real_compiler,)
    assert compiler.kind in ("gcc", "clang")
    assert compiler.version[0].isdigit() or "lang" in compiler.version
    assert len(compiler.identity) == len(compiler.instruction_set) == 64


def test_cc_may_hold_arguments(real_compiler, monkeypatch, tmp_path):
    (tmp_path / "with space").mkdir()
    (tmp_path / "with space" / "answer.h").write_text("#define ANSWER 42\n")
    monkeypatch.setenv("CC", f"{real_compiler} -I '{tmp_path}/with space'")
    compiler = find_compiler()
    assert compiler.command == (real_compiler, "-I", f"{tmp_path}/with space")
    source = '#include "answer.h"\nint tracegrad_step(void *const *slots) { return slots ? ANSWER : 0; }'
    assert build([Unit("step", source, ("-Wall", "-Werror"))]).path.is_file()


def test_cc_comes_first(compilations, monkeypatch):
    named = find_compiler()
    monkeypatch.delenv("CC")
    usual = find_compiler()
    assert named.command != usual.command
    assert named.identity != usual.identity
    assert named.instruction_set == usual.instruction_set


@pytest.mark.parametrize("named", ["/nowhere/cc", "no-such-compiler -O2", "'unclosed"])
def test_cc_that_does_not_exist_is_an_error(named, monkeypatch):
    monkeypatch.setenv("CC", named)
    with pytest.raises(ToolchainMissing, match="CC") as error:
        find_compiler()
    assert "unset it" in str(error.value)


def test_cc_that_fails_is_an_error_with_its_words(script, monkeypatch):
    monkeypatch.setenv("CC", str(script("broken-cc", "echo no licence >&2; exit 3")))
    with pytest.raises(ToolchainMissing, match="exit status 3") as error:
        find_compiler()
    assert "no licence" in str(error.value)


def test_no_compiler_at_all(monkeypatch, add_source):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "ziglang", None)
    assert find_compiler() is None
    with pytest.raises(ToolchainMissing, match="no C compiler was found") as error:
        build([Unit("step", add_source)])
    assert "install gcc" in str(error.value)


def test_a_compiler_in_the_current_folder_is_not_run(script, tmp_path, monkeypatch):
    script("gcc", "exit 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".:")
    monkeypatch.setitem(sys.modules, "ziglang", None)
    assert find_compiler() is None


def test_a_usual_compiler_that_does_not_work_is_passed_over(script, tmp_path, monkeypatch, real_compiler):
    folder = tmp_path / "bin"
    script("gcc", "exit 1", folder)
    clang = script("clang", f'exec {real_compiler} "$@"', folder)
    monkeypatch.setenv("PATH", str(folder))
    assert find_compiler().command == (str(clang),)


def test_the_assembler_is_found_however_short_path_is(real_compiler, monkeypatch, add_source):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CC", real_compiler)
    assert build([Unit("step", add_source)]).path.is_file()


def test_folders_that_the_compiler_searches_are_part_of_its_identity(monkeypatch, tmp_path):
    before = require_compiler()
    monkeypatch.setenv("CPATH", str(tmp_path))
    assert require_compiler().identity != before.identity


def test_the_environment_of_the_compiler(script, tmp_path, monkeypatch, real_compiler, cache_dir, add_source):
    seen = tmp_path / "environment"
    monkeypatch.setenv("CC", str(script("noting-cc", f'env > {seen}\nexec {real_compiler} "$@"')))
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("PATH", f".:{tmp_path}")
    monkeypatch.setenv("DEPENDENCIES_OUTPUT", str(tmp_path / "dependencies"))
    build([Unit("step", add_source)])
    environment = dict(line.split("=", 1) for line in seen.read_text().splitlines() if "=" in line)
    assert environment["LC_ALL"] == "C"
    assert environment["TMPDIR"].startswith(str(cache_dir / "tmp-"))
    assert all(folder.startswith("/") for folder in environment["PATH"].split(":"))
    assert not (tmp_path / "dependencies").exists()
