"""Whatever an evaluation or a function refuses for the numbers that it meets is declared, so that compiled code can."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from complex_samples import COMPLEX
from package_files import trees_with
from samples import SAMPLES

from tracegrad.ops.core import REGISTRY
from tracegrad.ops.types import Type, dtype_of

ROOT = Path(__file__).parents[2]
EVALUATED = sorted(set(REGISTRY) - {"input"} - set(COMPLEX))
HOSTILE = {
    "f": (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e30, -1e30, 0.5, 2.0),
    "i": (0, -1, 1, 5, -5, 10**6, -(10**6), 2**31 - 1, -(2**31)),
    "u": (0, 1, 5, 255),
    "b": (False, True),
}
HOSTILE["V"] = HOSTILE["f"]  # bfloat16
CHECKED = {name for name in EVALUATED if REGISTRY[name].check is not None}

#: Random words, and what is made of them, are integers that the generator makes: any other number is not met.
DRAWN = {name for name in EVALUATED if getattr(REGISTRY[name].lower, "kind", "") in ("random_seed", "random_words")}


def _outcome(rule, *args, **kwargs):
    """What `rule` raises."""
    try:
        with np.errstate(all="ignore"):
            rule(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def _checked(primitive, arrays, params):
    """What its check raises, as the interpreter of re-recorded calls asks it."""
    known = dict(params)
    for name, array in zip(primitive.inputs, arrays, strict=False):
        known[name], known[f"{name}_type"] = array, Type(dtype_of(array), array.shape)
    return _outcome(primitive.check.rule, **{name: known[name] for name in primitive.check.needs})


def _hostile(primitive):
    """Its samples, with each operand in turn made of one hostile number, or with one such number in it."""
    for case in SAMPLES[primitive.name]:
        for dtype in case.dtypes:
            for position, operand in zip(range(len(case.operands)), primitive.inputs, strict=False):
                if operand == "state":  # of the generator, which makes it
                    continue
                arrays = case.arrays(dtype)
                for value in HOSTILE[arrays[position].dtype.kind]:
                    for whole in (True, False):
                        changed = list(arrays)
                        changed[position] = np.array(arrays[position])
                        if changed[position].size:
                            number = np.array(value).astype(changed[position].dtype)  # large ones wrap around
                            changed[position].reshape(-1)[slice(None) if whole else -1] = number
                        yield changed, case.params


#: Their positions come from `window_argmax`, and from nowhere else: they lie inside.
OF_WINDOWS = {"pick", "unpick"}


def test_positions_within_windows_come_from_one_place():
    callers = [p for p in (ROOT / "functional").rglob("*.py") if re.search(r"\b(un)?pick\(", p.read_text())]
    assert [path.name for path in callers] == ["max_pooling.py"]


@pytest.mark.parametrize("name", sorted(set(EVALUATED) - DRAWN - OF_WINDOWS))
def test_what_an_evaluation_refuses_is_declared(name):
    primitive = REGISTRY[name]
    for arrays, params in _hostile(primitive):
        raised = _outcome(primitive.evaluate, *arrays, **params)
        declared = None if primitive.check is None else _checked(primitive, arrays, params)
        assert raised == declared, f"{[a.tolist() for a in arrays]} {dict(params)}"


def test_some_are_refused():
    """The hostile numbers find what each declared check is there for."""
    found = {
        name
        for name in CHECKED
        if any(_checked(REGISTRY[name], arrays, params) for arrays, params in _hostile(REGISTRY[name]))
    }
    assert found == CHECKED and len(found) == 12


# ---------------------------------------------------------------------------------------------- functions of tensors


#: Functions that look at numbers themselves and raise, and why a compiled call need not repeat that.
LOOKING = {
    "tensors/layouts/generator_state.py:record_of": "looks at the size only; recordings refuse to take a state",
    "functional/control.py:_both": "looks at the condition, to know whose exceptions are the eager ones",
}


def _functions_that_look_and_raise():
    for folder in ("tensors", "tape", "autograd", "functional", "nn", "optim", "ops", "utils"):
        for path, tree in trees_with("peek", files=sorted((ROOT / folder).rglob("*.py"))):
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef):
                    nodes = list(ast.walk(function))
                    looks = any(isinstance(n, ast.Attribute) and n.attr == "peek" for n in nodes)
                    if looks and any(isinstance(n, ast.Raise) and n.exc is not None for n in nodes):
                        yield f"{path.relative_to(ROOT).as_posix()}:{function.name}"


def test_functions_declare_what_they_require():
    """A function that peeks at a tensor's numbers to raise does so in eager mode only: `requirements.require` does so
    in compiled code, too. (`read` and `item` are for Python, and end a recording.)"""
    assert set(_functions_that_look_and_raise()) == set(LOOKING)
