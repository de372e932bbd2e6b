"""Functions of ``torch`` take the arguments of PyTorch's by their names, in their order."""

import inspect
import json
from pathlib import Path

import pytest

import tracegrad as tg
from tracegrad.tensors.calling.conventions import GATHERED, Conventions

ARGUMENTS = json.loads(Path(__file__).with_name("pytorch_arguments.json").read_text())
FUNCTIONS = {name: of for name, of in ARGUMENTS.items() if inspect.isroutine(getattr(tg, name, None))}


def taken(function, name, names):
    """Whether a call with these keywords is one of the function's, in its own terms or by the conventions."""
    given = {name: (0,) if name in GATHERED else 0 for name in names}
    plain = inspect.unwrap(function)
    try:
        inspect.signature(plain).bind(**given)
    except TypeError:
        conventions = Conventions(plain, name, list(inspect.signature(plain).parameters.values()))
        return conventions.asked(lambda *args, **kwargs: True, (), given) is True
    return True


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.long(fast=1)
def test_arguments_by_their_names(name):
    overloads = [overload.split() for overload in FUNCTIONS[name]]
    assert any(taken(getattr(tg, name), name, names) for names in overloads), overloads


def test_others_are_seen():
    """`nn.functional.embedding` has its arguments in another order, and under other names."""
    names = FUNCTIONS["embedding"][0].split()
    assert names[:2] == ["weight", "indices"]
    assert taken(tg.embedding, "embedding", names)
    assert not taken(tg.nn.functional.embedding, "nn.functional.embedding", names)


def test_most_functions_are_asked():
    assert len(FUNCTIONS) > 300
