"""The tests of an unpacked source archive, run against a wheel that was installed from elsewhere.

A wheel has no benchmarks, whose own code is tested here too. They are found in the folder of these tests; everything
else is what the wheel holds.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

import tracegrad

ROOT = Path(__file__).resolve().parents[1]
IS_CHECKOUT = Path(tracegrad.__file__).resolve().parent == ROOT

#: For tests of the files of a checkout as those of the imported package.
needs_checkout = pytest.mark.skipif(not IS_CHECKOUT, reason="the imported package is installed, not the checkout")


def add_what_is_not_installed():
    """Make `tracegrad.benchmarks` importable beside an installed package."""
    if IS_CHECKOUT or "tracegrad.benchmarks" in sys.modules:
        return
    folder = ROOT / "benchmarks"
    spec = importlib.util.spec_from_file_location(
        "tracegrad.benchmarks", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["tracegrad.benchmarks"] = module
    spec.loader.exec_module(module)
