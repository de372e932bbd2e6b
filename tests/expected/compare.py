"""Comparing tensors of either library with numbers, and reading the stored ones."""

import io
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

STORE = Path(__file__).parent

# One float32 rounding is 6e-8 relative. The short programs of these tests chain some tens of roundings, and sums may be
# taken in another order than PyTorch's, so that results agree to about a hundred roundings.
FLOAT32_RTOL = 1e-5
# Absolute part, for entries that cancel to almost nothing beside terms of order one.
FLOAT32_ATOL = 1e-6
# The same for float64, where one rounding is 1e-16.
FLOAT64_RTOL = FLOAT64_ATOL = 1e-13


def as_array(value):
    """The numbers of a tensor, number or nested list as a numpy array."""
    return value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)


def tolerances(dtype):
    """Relative and absolute: as the roundings of the dtype allow; integers and booleans are exact."""
    return {"float32": (FLOAT32_RTOL, FLOAT32_ATOL), "float64": (FLOAT64_RTOL, FLOAT64_ATOL)}.get(str(dtype), (0, 0))


def assert_close(actual, expected, rtol=None, atol=None):
    """Equal shapes and, within the tolerance, equal numbers (NaN equals NaN)."""
    actual, expected = as_array(actual), as_array(expected)
    assert actual.shape == expected.shape
    default_rtol, default_atol = tolerances(actual.dtype)
    rtol, atol = default_rtol if rtol is None else rtol, default_atol if atol is None else atol
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


def assert_same_tree(actual, expected):
    """Results of two runs agree: same nesting, same dtypes, close numbers."""
    if isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected) and len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same_tree(one, other)
    elif isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected:
            assert_same_tree(actual[key], expected[key])
    elif hasattr(expected, "detach"):
        assert actual.dtype == expected.dtype
        assert actual.requires_grad == expected.requires_grad
        assert_close(actual, expected)
    else:
        assert actual == expected


class Stored(Mapping):
    """The arrays of a file by name; each is read when it is first asked for: a file has up to a thousand."""

    def __init__(self, path):
        self.path, self.arrays = path, {}

    @cached_property
    def file(self):
        return np.load(io.BytesIO(self.path.read_bytes()))

    @cached_property
    def names(self):
        return dict.fromkeys(self.file)

    def __getitem__(self, name):
        if name not in self.arrays:
            self.arrays[name] = self.file[name]
        return self.arrays[name]

    def __contains__(self, name):
        return name in self.names

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)


def load(name):
    """The arrays that `store.py` wrote under this name."""
    return Stored(STORE / f"{name}.npz")
