"""One runner for small programs: eager and compiled side by side, compared after each of several calls.

tests/compiled is written with it. A program is made anew for each of the two runs, so that
nothing but the way of running differs.
"""

import contextlib
import functools
import hashlib
import inspect
import io
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from expected.compare import assert_close, tolerances

from tracegrad.compiled.common.classes import is_a
from tracegrad.compiler.errors import CompilerError

CALLS = 5
EAGER = "eager"


@dataclass
class Program:
    """`step(*args(i))` is call number i, between ``between(i)`` and ``after(i, outcome)``.

    `state()` is everything else that must agree. An outcome is what was returned, or an exception of class `raises`.
    """

    step: Callable[..., Any]
    args: Callable[[int], tuple[Any, ...]] = lambda i: ()
    state: Callable[[], Any] = tuple
    between: Callable[[int], Any] = lambda i: None
    specialisations: int | None = None  # how many the compiled form may have in the end; None: not counted
    raises: tuple[type[BaseException], ...] = ()
    after: Callable[[int, Any], Any] = lambda i, outcome: None
    kwargs: Callable[[int], dict[str, Any]] = lambda i: {}
    ways: list[str] = field(default_factory=list)  # how the compiled calls were served


@dataclass(frozen=True)
class Value:
    """What a tensor was at some time."""

    numbers: np.ndarray
    facts: tuple[Any, ...]  # type, dtype, flags
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


def batches(tg, *shape):
    """The argument of each call: one batch."""
    return lambda i: (batch(tg, i, *shape),)


def switched(tg, step, change, state=tuple, before=2.0, later=5.0):
    """``step(x)`` after ``change(value)``: `later` before calls 3 and 4, `before` otherwise."""
    return Program(step, batches(tg, 3), state, lambda i: change(later if i in (3, 4) else before))


def served(tg, step, way):
    """`step` by itself, as a compiled function ("replayed"), or as one whose calls run Python ("re-recorded")."""
    if way == "eager":
        return step
    if way == "replayed":
        return tg.compile(step)
    seen = []
    return tg.compile(lambda *args: (seen.append(1), step(*args))[1])


def noted(tree):
    """`tree` with each tensor replaced by a copy of what it is now."""
    if hasattr(tree, "detach"):
        grad = noted(tree.grad) if tree.is_leaf and tree.grad is not None else None
        facts = (type(tree).__name__, str(tree.dtype).rpartition(".")[2], tree.requires_grad, tree.is_leaf)
        return Value(_memory(tree).copy(), facts, grad)
    if is_a(tree, np.ndarray):
        return Value(tree.copy(), ("ndarray", str(tree.dtype)), None)
    if is_a(tree, (tuple, list)):
        return [type(tree).__name__, *(noted(item) for item in tree)]
    if is_a(tree, dict):
        return {key: noted(item) for key, item in tree.items()}
    if is_a(tree, BaseException):
        return {"raised": type(tree).__name__, "words": str(tree)}
    if type(tree).__name__.lower() == "dtype":
        return str(tree).rpartition(".")[2]
    return tree if type(tree).__module__ in ("builtins", "tracegrad.ops.types") else type(tree).__name__


def _memory(tensor):
    """What shows its numbers. Not `numpy()`: memory that numpy code has been given is served in another way from then
    on, so that looking would change what is looked at.
    """
    return tensor.ndarray if hasattr(tensor, "ndarray") else tensor.detach().numpy()


def relations(tree):
    """Which tensors of `tree` are the same object, and which share memory."""
    tensors = list(_tensors(tree))
    arrays = [_memory(t) for t in tensors]
    same = [next(i for i, other in enumerate(tensors) if other is t) for t in tensors]
    distinct = sorted(set(same))
    shared = [(i, j) for i in distinct for j in distinct if i < j and np.shares_memory(arrays[i], arrays[j])]
    return {"same objects": same, "shared memory": shared}


def _tensors(tree):
    if hasattr(tree, "detach"):
        yield tree
        if tree.is_leaf and tree.grad is not None:
            yield tree.grad
    elif is_a(tree, (tuple, list)):
        for item in tree:
            yield from _tensors(item)
    elif is_a(tree, dict):
        yield from _tensors(list(tree.values()))


def assert_same(actual, expected):
    """Two notes agree: structure, types and flags exactly, numbers as the roundings of their type allow."""
    if isinstance(expected, Value):
        assert isinstance(actual, Value)
        assert actual.facts == expected.facts
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
    elif isinstance(expected, float):
        assert type(actual) is float
        assert_close(actual, expected, *tolerances("float32"))  # it has been a float32 in a tensor, mostly
    else:
        assert type(actual) is type(expected) and actual == expected


def run(tg, make, compiled, calls, **options):
    """The notes of each call, the function that was called, and the program. `options` are those of ``tg.compile``.

    A maker with a second parameter is given what to wrap further functions in: compiled in this run, or as they are.
    """
    _seed(tg)
    wrap = functools.partial(tg.compile, **options) if compiled else _itself
    program = made(make, tg, wrap)
    step = wrap(program.step)
    notes = []
    try:
        for i in range(calls):
            program.between(i)
            args, kwargs = program.args(i), program.kwargs(i)
            outcome, printed = _outcome(tg, program, step, args, kwargs)
            program.ways.append(getattr(step, "way", EAGER))
            program.after(i, outcome)
            state = program.state()
            parts = {"result": outcome, "arguments": [args, kwargs], "state": state}
            note = {what: noted(part) for what, part in parts.items()}
            note.update(relations=relations(list(parts.values())), printed=printed, world=_world(tg))
            notes.append(note)
    finally:
        tg.set_grad_enabled(True)
        tg.set_default_dtype(tg.float32)
    return notes, step, program


def made(make, tg, wrap):
    """The program of a maker with or without a second parameter."""
    return make(tg, wrap) if len(inspect.signature(make).parameters) == 2 else make(tg)


def _itself(function):
    return function


def _outcome(tg, program, step, args, kwargs):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            result = step(*args, **kwargs)
        except program.raises as error:
            if isinstance(error, CompilerError):
                raise  # never what a program expects
            result = error.with_traceback(None)
    return result, out.getvalue()


def _seed(tg):
    tg.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def _world(tg):
    """Generators and switches."""
    _, key, position, *_ = np.random.get_state()
    numpys = repr((key.tolist(), position)).encode()
    states = (tg.get_rng_state().numpy().tobytes(), repr(random.getstate()).encode(), numpys)
    digests = [hashlib.sha256(state).hexdigest() for state in states]
    return [*digests, tg.is_grad_enabled(), str(tg.get_default_dtype())]


def assert_agree(actual, expected):
    """The notes of two runs agree, call by call."""
    assert len(actual) == len(expected)
    for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
        for what in other:
            try:
                assert_same(one[what], other[what])
            except AssertionError as difference:
                text = f"{what} of call {number} differ: {difference}\n{one[what]}\n{other[what]}"
                raise AssertionError(text) from difference


def agreeing(tg, make, calls=CALLS, **options):
    """The compiled function, after the program that ``make(tg)`` builds did the same eager and compiled."""
    expected, _, _ = run(tg, make, False, calls)
    actual, step, program = run(tg, make, True, calls, **options)
    assert_agree(actual, expected)
    if program.specialisations is not None:
        assert len(step.specialisations) == program.specialisations
    return step
