"""Short programs in names that both libraries share, and what became of them in PyTorch (behaviour.json).

A program is text: statements separated by ``; ``, the last may be an expression. Its outcome is written down as
plain lists: kind, element type, shape and numbers of each tensor, or the class of the error.
"""

import ast
import json
import warnings

import numpy as np

from ..compare import STORE, assert_close, tolerances
from . import (
    arrays,
    corners,
    element_types,
    functions,
    gradients,
    history,
    indices,
    layers,
    names,
    numbers,
    subclasses,
)

MODULES = (
    arrays, corners, element_types, functions, gradients, history, indices, layers, names, numbers, subclasses
)  # fmt: skip
TOPICS = {module.__name__.rpartition(".")[2]: module for module in MODULES}
#: Element types that there are here; what needs another one is refused.
DTYPES = {"bool", "int32", "int64", "float32", "float64"}


def function_of(tg, program):
    """The program as a function without arguments; random numbers are its own."""
    *statements, last = program.split("; ")
    is_value = isinstance(ast.parse(last).body[0], ast.Expr)
    body = "".join(f"\n    {line}" for line in [*statements, f"return {last}" if is_value else last])
    names = {"tg": tg, "F": tg.nn.functional, "nn": tg.nn, "np": np, "T": tg.tensor, "inf": np.inf, "nan": np.nan}
    names |= subclasses.names(tg, program)
    exec(f"def step():{body}", names)
    tg.manual_seed(0)
    return names["step"]


def outcome(function):
    """What a call gives, as plain lists."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return noted(function())
    except Exception as error:  # whatever is raised is the answer
        return ["raised", type(error).__name__]


def noted(value):
    """A result as plain lists."""
    if hasattr(value, "detach"):
        numbers = value.detach().numpy().tolist() if "complex" not in str(value.dtype) else None
        dtype = str(value.dtype).rpartition(".")[2]
        return [type(value).__name__, dtype, list(value.shape), numbers, value.requires_grad]
    if isinstance(value, (np.ndarray, np.generic)):
        return [type(value).__name__, str(value.dtype), list(value.shape), value.tolist(), False]
    if isinstance(value, (tuple, list)):
        return ["several", *map(noted, value)]
    if type(value).__name__ == "dtype" or type(value).__name__ == "DType":
        return ["dtype", str(value).rpartition(".")[2]]
    return [type(value).__name__, value if isinstance(value, (bool, int, float, str)) else None]


def assert_agrees(found, expected):
    """The outcome is the one expected; what has a type that is not there is refused (or found, in PyTorch itself)."""
    if _is_foreign(expected) and found != expected:
        assert found == ["raised", "TypeError"]
    elif expected[0] == "several":
        assert found[0] == "several" and len(found) == len(expected)
        for one, other in zip(found[1:], expected[1:], strict=True):
            assert_agrees(one, other)
    elif len(expected) == 5:
        assert [*found[:3], found[4:]] == [*expected[:3], expected[4:]]
        assert_close(np.array(found[3]), np.array(expected[3]), *tolerances(expected[1]))
    elif isinstance(expected[-1], float):
        assert found[0] == expected[0]
        assert_close(found[1], expected[1], *tolerances("float32"))
    else:
        assert found == expected


def _is_foreign(expected):
    if expected[0] == "several":
        return any(map(_is_foreign, expected[1:]))
    return (len(expected) == 5 and expected[1] not in DTYPES) or (expected[0] == "dtype" and expected[1] not in DTYPES)


def make(tg):
    """The outcomes of all programs, by topic."""
    return {
        name: {program: outcome(function_of(tg, program)) for program in topic.programs()}
        for name, topic in TOPICS.items()
    }


def stored():
    """What PyTorch did."""
    return json.loads((STORE / "behaviour.json").read_text(encoding="utf-8"))
