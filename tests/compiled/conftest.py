"""One runner for small programs: eager and compiled side by side, compared after each of several calls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from expected.compare import assert_close

from tracegrad.compiler import pipeline
from tracegrad.runtime.program import Program as Library

CALLS = 5


@dataclass
class Program:
    """`step(*args(i))` is call number i, after ``between(i)``. `state()` is everything else that must agree."""

    step: Callable[..., Any]
    args: Callable[[int], tuple[Any, ...]] = lambda i: ()
    state: Callable[[], Any] = tuple
    between: Callable[[int], Any] = lambda i: None
    specialisations: int | None = None  # how many the compiled form may have in the end; None: not counted


@dataclass(frozen=True)
class Value:
    """What a tensor was at some time."""

    numbers: np.ndarray
    dtype: str
    requires_grad: bool
    grad: Any


def ramp(tg, *shape):
    """Numbers that are all different, in a new tensor."""
    n = int(np.prod(shape))
    return tg.tensor((np.arange(n, dtype=np.float32) * 0.1 - 1.0).reshape(shape))


def batch(tg, i, *shape):
    """The data of call number i."""
    return ramp(tg, *shape) * (i + 1) + 0.5


def weight(tg, *shape):
    """A leaf that requires a gradient."""
    return ramp(tg, *shape).requires_grad_()


def noted(tree):
    """`tree` with each tensor replaced by a copy of what it is now."""
    if hasattr(tree, "detach"):
        grad = noted(tree.grad) if tree.is_leaf and tree.grad is not None else None
        return Value(tree.detach().numpy().copy(), str(tree.dtype), tree.requires_grad, grad)
    if isinstance(tree, (tuple, list)):
        return [type(tree).__name__, *(noted(item) for item in tree)]
    if isinstance(tree, dict):
        return {key: noted(item) for key, item in tree.items()}
    return tree if type(tree).__module__ in ("builtins", "tracegrad.ops.types") else type(tree).__name__


def assert_same(actual, expected):
    """Two notes agree: structure, types and flags exactly, numbers as the roundings of their type allow."""
    if isinstance(expected, Value):
        assert isinstance(actual, Value)
        assert (actual.dtype, actual.requires_grad) == (expected.dtype, expected.requires_grad)
        assert_close(actual.numbers, expected.numbers)
        assert_same(actual.grad, expected.grad)
    elif isinstance(expected, list):
        assert isinstance(actual, list) and len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            assert_same(actual[key], expected[key])
    else:
        assert type(actual) is type(expected) and actual == expected


def run(tg, make, compiled, calls):
    """The notes of each call, and the function that was called."""
    tg.manual_seed(0)
    program = make(tg)
    step = tg.compile(program.step) if compiled else program.step
    notes = []
    for i in range(calls):
        program.between(i)
        args = program.args(i)
        result = step(*args)
        notes.append([noted(result), noted(args), noted(program.state())])
    return notes, step, program


@pytest.fixture
def agree(tg):
    """``agree(make)``: the program that ``make(tg)`` builds does the same eager and compiled, call by call."""

    def check(make, calls=CALLS):
        expected, _, _ = run(tg, make, False, calls)
        actual, step, program = run(tg, make, True, calls)
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            for what, a, e in zip(("result", "arguments", "state"), one, other, strict=True):
                try:
                    assert_same(a, e)
                except AssertionError as difference:
                    raise AssertionError(f"{what} of call {number} differ: {difference}\n{a}\n{e}") from difference
        if program.specialisations is not None:
            assert len(step.specialisations) == program.specialisations
        return step

    return check


@pytest.fixture
def c_calls(monkeypatch):
    """A list that grows by one with each call into C."""
    made, load = [], pipeline.load

    def counting(path):
        library = load(path)
        return Library(library.path, lambda pointer: (made.append(pointer), library.call(pointer))[1])

    monkeypatch.setattr(pipeline, "load", counting)
    return made
