"""Programs with annotations, as people write them: type checkers find nothing in them, and what is wrong in `wrong.py`.

mypy comes with the tests' requirements; pyright is asked where it is installed.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from installed import ROOT, needs_checkout

PROGRAMS = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))
WRONG = {number for number, line in enumerate((PROGRAMS / "wrong.py").read_text().splitlines(), 1) if "# wrong" in line}
#: What is wrong in the package itself is told by `make lint`.
_MYPY = """[mypy]
follow_imports = silent
python_version = 3.11
ignore_missing_imports = true
check_untyped_defs = true
"""
_PYRIGHT = {"include": ["programs"], "extraPaths": ["."], "pythonVersion": "3.11", "useLibraryCodeForTypes": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The programs beside a link to the package, as type checkers do not follow an editable install."""
    made = tmp_path_factory.mktemp("typed")
    (made / "tracegrad").symlink_to(ROOT)
    shutil.copytree(PROGRAMS, made / "programs", ignore=shutil.ignore_patterns("__pycache__"))
    for example in ROOT.glob("examples/*.py"):
        shutil.copy(example, made / "programs")
    return made


def lines(found):
    """What a checker has said about each file, apart from the lines that are wrong in `wrong.py`."""
    assert {line for name, line, _ in found if name == "wrong.py"} == WRONG
    return [each for each in found if each[0] != "wrong.py"]


@needs_checkout
@pytest.mark.long
def test_mypy_finds_nothing_but_what_is_wrong(folder):
    (folder / "mypy.ini").write_text(_MYPY)
    files = sorted(path.name for path in (folder / "programs").glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--config-file", "../mypy.ini", "--cache-dir", "../cache", *files]
    place = {**os.environ, "MYPYPATH": str(folder)}
    run = subprocess.run(command, cwd=folder / "programs", env=place, capture_output=True, text=True)
    found = re.findall(r"^(?:.*/)?([\w.]+):(\d+): error: (.*)$", run.stdout, re.MULTILINE)
    assert not lines([(name, int(line), text) for name, line, text in found]), run.stdout + run.stderr


@needs_checkout
@pytest.mark.long
@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_finds_nothing_but_what_is_wrong(folder):
    (folder / "pyrightconfig.json").write_text(json.dumps(_PYRIGHT))
    run = subprocess.run(["pyright", "--outputjson"], cwd=folder, capture_output=True, text=True)
    said = json.loads(run.stdout)["generalDiagnostics"]
    found = [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in said
        if each["severity"] == "error" and each.get("rule") != "reportMissingImports"
    ]
    assert not lines(found)


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("name", sorted({*NAMES} - {"wrong"}))
def test_they_run(name):
    if name == "inferred" and sys.version_info < (3, 11):
        pytest.skip("assert_type is new in Python 3.11")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name="__main__")
