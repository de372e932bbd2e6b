"""``python -m tracegrad doctor`` and ``cache``: what they find where something is lacking, and what they delete."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from package_files import package_files

from tracegrad.commandline import main
from tracegrad.commandline.doctor import VARIABLES, variables
from tracegrad.runtime import cache, contents
from tracegrad.runtime.build import Unit, build

WITHOUT_COMPILER = {"CC": "", "PATH": "/nonexistent"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of one's own."""
    place = tmp_path / "programs"
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(place))
    return place


def lines_of(capsys, *words):
    """Exit code, and the printed lines by their title; what follows a line belongs to it."""
    code = main(list(words))
    found = {}
    for line in capsys.readouterr().out.splitlines():
        if line[:5] in ("ok   ", "note ", "FAULT"):
            title = line[6:19].strip()
            found[title] = (line[:5].strip(), line[19:])
        elif line.startswith(" "):
            found[title] = (found[title][0], f"{found[title][1]}\n{line.strip()}")
    return code, found


def fake_compiler(tmp_path, refuses):
    """A compiler that refuses what the shell pattern `refuses` matches in its command or its file."""
    script = tmp_path / "fake-gcc"
    real = shutil.which("gcc") or shutil.which("cc")
    script.write_text(f'#!/bin/sh\ncase "$*" in *-E*) exec {real} "$@";; esac\n{refuses}\nexec {real} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_a_machine_that_has_everything(folder, capsys):
    code, found = lines_of(capsys, "doctor")
    assert code == 0
    assert not [title for title, (mark, _) in found.items() if mark == "FAULT"]
    assert {"Python", "numpy", "cffi", "compiler", "compiling", "cache", "tg.compile", "threads"} <= set(found)
    assert found["tg.compile"] == ("ok", "a compiled function gives the eager result")
    assert str(folder) in found["cache"][1]


def test_no_compiler(folder, capsys, monkeypatch):
    for name, value in WITHOUT_COMPILER.items():
        monkeypatch.setenv(name, value)
    code, found = lines_of(capsys, "doctor")
    assert code == 1
    assert found["compiler"][0] == "FAULT" and "-> install gcc or clang" in found["compiler"][1]
    assert found["tg.compile"][0] == "FAULT" and "runs eagerly" in found["tg.compile"][1]


def test_headers_that_are_missing(folder, capsys, monkeypatch, tmp_path):
    error = "echo 'trial.c:1:10: fatal error: math.h: No such file or directory' >&2; exit 1"
    monkeypatch.setenv("CC", fake_compiler(tmp_path, error))
    code, found = lines_of(capsys, "doctor")
    assert code == 1
    assert found["headers"][0] == "FAULT" and "-> install the C library's headers" in found["headers"][1]


def test_a_flag_that_is_refused(folder, capsys, monkeypatch, tmp_path):
    error = 'case "$*" in *-fpeel-loops*) echo "unrecognized command-line option" >&2; exit 1;; esac'
    monkeypatch.setenv("CC", fake_compiler(tmp_path, error))
    code, found = lines_of(capsys, "doctor")
    assert code == 1
    assert found["flags"][1].startswith("refused: -fpeel-loops\n")


@pytest.mark.parametrize("kind", ["a file", "for all to write"])
def test_a_cache_that_cannot_be_used(folder, capsys, kind):
    if kind == "a file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    code, found = lines_of(capsys, "doctor")
    assert code == 0  # programs are compiled all the same, in a temporary folder
    assert found["cache"][0] == "note" and "TRACEGRAD_CACHE_DIR" in found["cache"][1]
    assert found["tg.compile"][0] == "ok"
    assert main(["cache"]) == 1
    assert "TRACEGRAD_CACHE_DIR" in capsys.readouterr().err


def test_variables_that_mean_nothing(monkeypatch):
    monkeypatch.setenv("TRACEGRAD_CACHEDIR", "x")
    monkeypatch.delenv("TRACEGRAD_CACHE_DIR", raising=False)
    found = list(variables())
    (wrong,) = [each for each in found if each.text.startswith("TRACEGRAD_CACHEDIR ")]
    assert wrong.text.endswith("means nothing") and "TRACEGRAD_CACHE_DIR" in wrong.remedy and not wrong.is_fault


def test_all_variables_are_known():
    """Every variable that the library reads is explained by the doctor."""
    texts = [file.read_text(encoding="utf-8") for file in package_files()]
    read = {word for text in texts for word in re.findall(r'environ[^"\n]*"(TRACEGRAD_[A-Z_]+)"', text)}
    assert read and read <= set(VARIABLES)


def program(number):
    declared = '__attribute__((visibility("default"))) int tracegrad_step(void *const *s)'
    return build([Unit("step", f"{declared};\n{declared} {{ return s == 0 ? {number} : 0; }}\n", ("-O0",))])


def test_the_cache_is_shown_pruned_and_cleared(folder, capsys, monkeypatch):
    assert main(["cache"]) == 0
    assert "programs  0\n" in capsys.readouterr().out
    built = [program(number) for number in range(4)]
    for age, each in enumerate(built):
        os.utime(each.path.parent / cache.MANIFEST, (1e9 - age, 1e9 - age))
    held = contents.contents(folder)
    assert held.entries == 4
    assert held.nbytes > sum(each.path.stat().st_size for each in built)
    assert main(["cache", "--prune"]) == 0
    assert "deleted   0 programs" in capsys.readouterr().out
    monkeypatch.setenv("TRACEGRAD_CACHE_SIZE", str(2 * built[0].path.stat().st_size + 5000))
    assert main(["cache", "--prune"]) == 0
    out = capsys.readouterr().out
    left = [each.path.exists() for each in built]
    assert left == sorted(left, reverse=True) and left[0] and not left[-1]  # those used longest ago have gone
    assert f"programs  {sum(left)}\n" in out
    assert main(["cache", "--clear"]) == 0
    assert contents.contents(folder) == contents.Contents(0, 0)
    assert program(1).path.exists()


def test_unknown_words(capsys):
    assert main(["cash"]) == 2
    assert "doctor" in capsys.readouterr().err


PROGRAM = """
import tracegrad as tg
@tg.compile
def double(x):
    return x * 2
for i in range(3):
    double(tg.ones(3))  # line 7
print("done", double.way)
"""


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("lacks", ["compiler", "cache"])
def test_programs_end_well_with_one_warning_at_their_line(lacks, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    (tmp_path / "file").write_text("")
    environment = dict(os.environ)
    environment |= WITHOUT_COMPILER if lacks == "compiler" else {"TRACEGRAD_CACHE_DIR": str(tmp_path / "file")}
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0
    assert run.stdout == ("done eager\n" if lacks == "compiler" else "done replay\n")
    assert run.stderr.count("RuntimeWarning") == 1
    assert run.stderr.startswith(f"{file}:7: RuntimeWarning: ")


@pytest.mark.long
def test_progress_bars_are_for_terminals(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("tqdm")
    example = Path(__file__).parents[2] / "examples" / "train_digits.py"
    environment = {**os.environ, **WITHOUT_COMPILER}
    command = [sys.executable, str(example), "--epochs", "1", "--min-accuracy", "0"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    assert "it/s" not in run.stderr and "\r" not in run.stderr
