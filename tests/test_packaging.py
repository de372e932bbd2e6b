"""What is installed is what stands here: package list, names, one import, and a wheel that is complete."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from installed import needs_checkout
from package_files import ROOT, package_files

import tracegrad

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest brings it along there
    import tomli as tomllib

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def files_of_wheel():
    """Python files and package data, as they must lie in a wheel."""
    files = list(package_files())
    for package, patterns in SETTINGS["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        files += [p for pattern in patterns for p in folder.glob(pattern)]
    return {str(Path("tracegrad", p.relative_to(ROOT))) for p in files}


def test_the_package_list_is_complete():
    with_code = {".".join(Path(name).parent.parts) for name in files_of_wheel() if name.endswith(".py")}
    with_data = set(SETTINGS["package-data"])
    assert set(SETTINGS["packages"]) == with_code | with_data


def test_all_data_files_are_packaged():
    data = {*package_files(".h"), *package_files(".j2")}
    assert {str(Path("tracegrad", p.relative_to(ROOT))) for p in data} <= files_of_wheel()


def test_the_package_says_that_it_is_typed():
    assert "tracegrad/py.typed" in files_of_wheel()


def test_nothing_at_the_root_shadows_the_standard_library():
    # Python puts the current folder on its path, so `import queue` would find ./queue first.
    names = {p.stem for p in ROOT.iterdir() if p.suffix == ".py" or (p.is_dir() and not p.name.startswith("."))}
    assert names & set(sys.stdlib_module_names) == set()


@needs_checkout
def test_the_root_package_is_imported_once():
    root_file = Path(tracegrad.__file__).resolve()
    assert root_file == ROOT / "__init__.py", (
        "tracegrad is imported from elsewhere: install the checkout, pip install -e ."
    )
    modules = {n for n, m in sys.modules.items() if getattr(m, "__file__", None)}
    assert {n for n in modules if Path(sys.modules[n].__file__).resolve() == root_file} == {"tracegrad"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The sources in a folder of their own: building leaves files behind."""
    target = tmp_path_factory.mktemp("build") / "checkout"
    ignored = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
    shutil.copytree(ROOT, target, ignore=ignored)
    return target


def build(hook, copy, folder):
    """Calls one hook of the build backend in a process of its own; the file that it made."""
    code = f"from setuptools import build_meta; print(build_meta.{hook}({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
    (made,) = folder.iterdir()
    return made


@pytest.mark.long
@pytest.mark.slow
def test_the_wheel_is_complete_and_imports(copy, tmp_path):
    built = tmp_path / "built"
    built.mkdir()
    wheel = zipfile.ZipFile(build("build_wheel", copy, built))
    assert {n for n in wheel.namelist() if not n.startswith("tracegrad-")} == files_of_wheel()
    wheel.extractall(tmp_path / "unpacked")
    code = "import tracegrad; print(tracegrad.__file__)"
    env = dict(os.environ, PYTHONPATH=str(tmp_path / "unpacked"))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == str(tmp_path / "unpacked" / "tracegrad" / "__init__.py")


@pytest.mark.long
@pytest.mark.slow
def test_the_source_archive_is_complete(copy, tmp_path):
    with tarfile.open(build("build_sdist", copy, tmp_path)) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {name.removeprefix("tracegrad/") for name in files_of_wheel()} <= held
    around = [p for folder in ("tests", "examples", "benchmarks", "docs") for p in (copy / folder).rglob("*")]
    files = [p for p in (*around, copy / "Makefile", copy / "ARCHITECTURE.md") if p.is_file()]
    assert len(files) > 500
    assert {str(p.relative_to(copy)) for p in files} - held == set()
