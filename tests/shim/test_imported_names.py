"""What PyTorch's modules have imported themselves is found there, and names that are nowhere are refused."""

import importlib
import sys
from types import ModuleType

import pytest

from tracegrad import shim
from tracegrad.shim.finder import is_shown
from tracegrad.shim.paths import library_names, table

SHOWN = [path for path in table() if is_shown(path)]


@pytest.fixture(autouse=True)
def torch():
    if isinstance(sys.modules.get("torch"), ModuleType) and not hasattr(sys.modules["torch"], "__homes__"):
        pytest.skip("PyTorch itself has been imported into this process")
    with shim.install():
        yield importlib.import_module("torch")


@pytest.mark.parametrize("path", [path for path in library_names() if is_shown(path)])
def test_names_of_pythons_library_are_the_librarys(path):
    """``from torch.nn.functional import math``: the module's own imports, where this Python has them."""
    if path.startswith("torch.utils.tensorboard"):
        pytest.importorskip("tensorboard")
    shown = importlib.import_module(path)
    for place, names in library_names()[path].items():
        for name in names.split():
            library = None if place == "" else importlib.import_module(place)
            if library is None:
                assert getattr(shown, name) is importlib.import_module(name)
            elif hasattr(library, name):
                assert getattr(shown, name) == getattr(library, name)


@pytest.mark.parametrize("path", SHOWN)
def test_a_name_that_is_nowhere_is_refused(path):
    """``try: from torch.nn.modules.linear import _LinearWithBias`` falls back to what a program does without it."""
    if path.startswith("torch.utils.tensorboard"):
        pytest.importorskip("tensorboard")
    shown = importlib.import_module(path)
    for name in ("_NowhereToBeFound", "nowhere_to_be_found"):
        assert not hasattr(shown, name)
        with pytest.raises(ImportError):
            exec(f"from {path} import {name}", {})
        with pytest.raises(ImportError):
            importlib.import_module(f"{path}.{name}")


@pytest.mark.parametrize(
    "name",
    "_size_any_t _size_1_t _size_2_t _size_3_t _size_4_t _size_6_t _size_2_opt_t _ratio_2_t _ratio_any_t".split(),
)
def test_types_of_sizes_are_annotations(name):
    from torch.nn import common_types

    found = getattr(common_types, name)
    assert int in found.__args__ or float in found.__args__
    assert found | None


def test_types_of_sizes_are_where_layers_import_them():
    from torch.distributions.distribution import _size as size_of_samples
    from torch.nn.common_types import _size_2_t
    from torch.nn.modules.conv import _size_2_t as of_convolutions
    from torch.nn.modules.pooling import _size_2_t as of_pooling
    from torch.types import _size

    assert of_convolutions is of_pooling is _size_2_t and size_of_samples is _size
