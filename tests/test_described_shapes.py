"""Docstrings tell shapes: of tensors as ``[batch, features]``, or in words where one is what every operand has."""

import inspect
import re

import pytest

import tracegrad

PLACES = ["nn", "nn.functional", "nn.utils", "nn.utils.rnn", "optim", "linalg", "fft", "special", "signal.windows"]
#: What takes and gives no tensors of its own.
WITHOUT_TENSORS = {
    "Container": "keeps modules", "Identity": "gives back what it is given", "factory_kwargs": "sorts options",
    "LinAlgError": "is an exception",
}  # fmt: skip
TOLD = re.compile(
    r"\[[^\]\n]*[a-z.*][^\]\n]*\]|\b(shapes?|sizes?|elements?|scalars?|numbers?|axis|axes|batch|dim|parameters)\b",
    re.IGNORECASE,
)


def public(place):
    """(name, thing) of the public classes and functions at a place that the package has itself."""
    owner = tracegrad
    for name in place.split("."):
        owner = getattr(owner, name)
    for name in sorted(getattr(owner, "__all__", None) or dir(owner)):
        thing = getattr(owner, name, None)
        is_own = (getattr(thing, "__module__", "") or "").startswith(f"tracegrad.{place.split('.')[0]}")
        is_own = is_own or (place != "nn.utils.rnn" and inspect.isfunction(thing))
        if not name.startswith("_") and is_own and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield name, thing


def tells_shapes(thing):
    doc = thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return TOLD.search("\n".join(line for line in (doc or "").split("\n") if ">>>" not in line)) is not None


@pytest.mark.parametrize("place", PLACES)
def test_shapes_are_told(place):
    found = dict(public(place))
    assert len(found) > 5
    assert {name for name, thing in found.items() if not tells_shapes(thing)} - set(WITHOUT_TENSORS) == set()


def test_a_docstring_without_shapes_is_seen():
    def described():
        """The sum of both.

        >>> described(tg.ones([batch, 2]))
        """

    assert not tells_shapes(described) and not inspect.isclass(described)
