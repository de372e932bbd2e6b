"""Every example in a docstring does what it shows: one test for each module that has any."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import tracegrad

ROOT = Path(tracegrad.__file__).parent
# Below the package's folder in the checkout, but no part of the package.
OUTSIDE = {"tests", "examples", "benchmarks", "docs", "build", "dist"}


def modules(folder=ROOT, prefix="tracegrad."):
    """The dotted names of the package and all its modules; `templates`, a folder without Python, has none."""
    for found in pkgutil.iter_modules([str(folder)], prefix):
        name = found.name.rpartition(".")[2]
        if folder == ROOT and name in OUTSIDE:
            continue
        yield found.name
        if found.ispkg:
            yield from modules(folder / name, f"{found.name}.")


#: Packages that a module needs, and that are not installed everywhere.
EXTRAS = {"tracegrad.utils.tensorboard": "tensorboard", "tracegrad.serialization.safetensors": "safetensors"}


def examples(name):
    """The docstrings with examples of one module."""
    for place, package in EXTRAS.items():
        if name.startswith(place):
            pytest.importorskip(package)
    module, finder = importlib.import_module(name), doctest.DocTestFinder()
    found = finder.find(module, name)
    for each in vars(module).values():
        if isinstance(each, type) and each.__module__ != name and is_written_in(module, each):
            found += finder.find(each, f"{name}.{each.__name__}", module=False)
    return [test for test in found if test.examples]


def is_written_in(module, kind):
    """Whether a class that says that it is another module's, as PyTorch's does, has its text here."""
    codes = [getattr(member, "__code__", None) for member in vars(kind).values()]
    return any(code is not None and code.co_filename == module.__file__ for code in codes)


def has_prompt(name):
    """Whether a module's text shows `>>>`: collecting the tests imports no module."""
    parts = name.split(".")[1:]
    place = ROOT.joinpath(*parts)
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ">>> " in path.read_text(encoding="utf-8")


NAMES = [name for name in ("tracegrad", *modules()) if has_prompt(name)]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_hold(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path))  # an example that compiles leaves nothing behind
    tracegrad.manual_seed(0)
    report, runner, tests = [], doctest.DocTestRunner(), examples(name)
    assert tests, f"{name} shows >>> outside of a docstring"
    for test in tests:
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
