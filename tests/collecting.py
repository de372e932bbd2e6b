"""How processes share the work of collecting: in a fresh clone most of it is to compile the files of tests."""

import os

import pytest

IS_ODD = os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579"


class Backwards(pytest.Dir):
    """A folder that is read from its end."""

    def collect(self):
        return reversed(list(super().collect()))


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path, parent):
    """Every second process begins at the end: where they meet, each finds what the others have compiled."""
    return Backwards.from_parent(parent, path=path) if IS_ODD and not (path / "__init__.py").exists() else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """All of them have the tests in the same order again."""
    items.sort(key=lambda item: item.path)
