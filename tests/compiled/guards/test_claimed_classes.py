"""Objects that say of themselves that they have another class: mocks, proxies, lazy objects. Or that refuse to say."""

import ast
import functools
import types
import unittest.mock
import weakref
from pathlib import Path

import pytest
from side_by_side import Program

import tracegrad
from tracegrad.compiled.common.classes import is_a

CLAIMED = {
    "int": int, "float": float, "str": str, "bool": bool, "list": list, "tuple": tuple, "dict": dict, "set": set,
    "type": type, "function": types.FunctionType, "method": types.MethodType, "module": types.ModuleType,
    "partial": functools.partial, "property": property, "Tensor": "Tensor", "Parameter": "nn.Parameter",
    "Module": "nn.Module", "Optimizer": "optim.Optimizer", "Generator": "Generator", "dtype": "dtype", "Size": "Size",
}  # fmt: skip
RAISED = [AttributeError, RuntimeError, KeyError]


def class_of(tg, claimed):
    return functools.reduce(getattr, claimed.split("."), tg) if isinstance(claimed, str) else claimed


def claiming(kind):
    """An object with a number that says that its class is `kind`."""

    class Claiming:
        __class__ = property(lambda self: kind)

        def __init__(self):
            self.k = 2.0

    return Claiming()


def refusing(error):
    """An object with a number that raises `error` where it is asked for its class."""

    class Refusing:
        def __init__(self):
            self.k = 2.0

        def __getattribute__(self, name):
            if name == "__class__":
                raise error(name)
            return object.__getattribute__(self, name)

    return Refusing()


def used(tg, made, place):
    """A step that meets the object at one place, and counts on its number, which changes."""
    holder, items = types.SimpleNamespace(of=made), [made]

    def variable(x):
        return x * made.k

    def attribute(x):
        return x * holder.of.k

    def item(x):
        return x * items[0].k

    def argument(x, of):
        return x * of.k

    def within(x, of):
        return x * of["of"][0].k

    def result(x):
        holder.x = x
        return {"x": x * 3, "of": [made]}["x"]

    def looks(x):
        return x * made.k if x.sum().item() > 0 else made

    step = locals()[place]
    arguments = {"argument": (made,), "within": ({"of": [made]},)}.get(place, ())

    def inputs(i):
        made.k = 2.0 if i < 4 else 5.0
        return tg.ones(2) * i + 1, *arguments

    return Program(step, inputs)


PLACES = ["variable", "attribute", "item", "argument", "within", "result", "looks"]


@pytest.mark.long(fast=49, every=7)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("claimed", CLAIMED)
def test_what_an_object_says_of_its_class_is_not_believed(agree, claimed, place):
    agree(lambda tg: used(tg, claiming(class_of(tg, CLAIMED[claimed])), place), calls=7)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_an_object_is_not_asked_for_its_class(agree, error, place):
    agree(lambda tg: used(tg, refusing(error), place), calls=7)


@pytest.mark.parametrize("name", ["Tensor", "nn.Module", "optim.SGD"])
def test_mocks_of_the_library(agree, name):
    def program(tg):
        mock, calls = unittest.mock.MagicMock(spec=class_of(tg, name)), []

        def step(x):
            mock.zero_grad() if name != "Tensor" else mock.sum()
            calls.append(len(mock.mock_calls))
            return x * len(calls)

        return Program(step, lambda i: (tg.ones(2) * i,), lambda: calls)

    agree(program, calls=7)


def test_is_a_goes_by_the_class():
    tensor = tracegrad.ones(1)
    assert is_a(True, (int, str)) and not is_a(weakref.proxy(tensor), tracegrad.Tensor)
    assert isinstance(claiming(int), int) and not is_a(claiming(int), int)


def test_the_compiled_chapters_ask_by_the_class():
    """Chapters that meet objects of the program; the other chapters see tensors, and what these have made."""
    root = Path(tracegrad.__file__).parent / "compiled"
    chapters = ["common", "symbolic", "guards", "recording", "verification", "replay", "parts"]
    files = [file for chapter in chapters for file in (root / chapter).glob("*.py") if file.name != "classes.py"]
    asking = [
        f"{file}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
    ]
    assert len(files) > 80 and not asking
