"""One program eager and compiled, side by side, and the verdict."""

from __future__ import annotations

import linecache
import sys
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.compiled.function import CompiledFunction
from tracegrad.compiler.errors import CaptureError
from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import interpreting
from tracegrad.tape.tape import Tape
from tracegrad.tensors.tensor import make as make_tensor

CALLS = 5
# Eager and compiled take sums in other orders and have their own elementary functions, correct to about 2 ulp. A
# program of ten statements with its backward pass chains some hundred such operations, whose errors add up like a
# random walk or, where the same one is repeated over five calls, linearly: a few hundred ulp of the largest number that
# occurred on the way (below it an error may stem from a cancellation). A wrong result is off by far more than 1e-10.
ULPS = 500
EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}
# Arithmetic on 16 bits is done in float32 and rounded once, so only what is close to the middle between two numbers
# differs, by one unit of that type: four of these are allowed.
EPSILON |= {"float16": 4 * 2.0**-10 / ULPS, "bfloat16": 4 * 2.0**-7 / ULPS}
# verify() of what is eager at each call; gradients of results that are written to through .data
REFUSING = ("no compiled form that could be compared", "a compiled call, has been written to through .data")
UNFIT = 1e5  # numbers beyond this have run away in the course of the calls: no comparison is sharp there


@dataclass
class Verdict:
    """What became of one program. `outcome`: same, refused, different, failed, unfit, wrong (as a program)."""

    outcome: str
    detail: str = ""
    calls: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def is_failure(self) -> bool:
        return self.outcome in ("different", "failed", "crashed")


@dataclass
class Scale(Evaluator):
    """Evaluates, and notes the largest number and the coarsest floating type that occurred."""

    largest: float = 1.0
    epsilon: float = EPSILON["float64"]

    def evaluate(self, *args: Any) -> Any:
        out = super().evaluate(*args)
        if str(out.ndarray.dtype) in EPSILON and out.ndarray.size:
            self.epsilon = max(self.epsilon, EPSILON[str(out.ndarray.dtype)])
            largest = float(np.fmax.reduce(np.abs(out.ndarray), None))  # NaN of the mean of no rows is as sharp as any
            if largest > self.largest and not _is_mask(out.ndarray):
                self.largest = largest
        return out

    @property
    def is_unfit(self) -> bool:
        return not self.largest <= UNFIT

    @property
    def tolerance(self) -> float:
        return ULPS * self.epsilon * self.largest


def _is_mask(numbers: np.ndarray) -> bool:
    """Infinities as start values and masks (of a maximum, of softmax) are no numbers that errors grow with."""
    return (
        bool(np.isinf(numbers).any()) and not np.abs(numbers[np.isfinite(numbers)], dtype=float).max(initial=0) > UNFIT
    )


class Different(Exception):
    """Eager and compiled do not agree."""


@dataclass(frozen=True)
class Value:
    """What a tensor was at some time."""

    numbers: np.ndarray
    kind: str  # its class
    dtype: str
    requires_grad: bool
    is_leaf: bool
    grad: Any
    memory: Any = field(repr=False)  # the array itself, to see who shares memory with whom


def noted(tree: Any) -> Any:
    """`tree` with each tensor replaced by a copy of what it is now."""
    if isinstance(tree, tg.Tensor):
        grad = noted(tree._grad)  # without the warning for tensors that keep none
        shown = tree.ndarray  # not numpy(): memory that numpy code has been given is served in another way
        return Value(shown.copy(), type(tree).__name__, str(tree.dtype), tree.requires_grad, tree.is_leaf, grad, shown)
    if isinstance(tree, (tuple, list)):
        return [type(tree).__name__, *(noted(item) for item in tree)]
    if isinstance(tree, dict):
        return {key: noted(item) for key, item in tree.items()}
    if isinstance(tree, BaseException):
        return [type(tree).__name__, str(tree)]
    return tree if isinstance(tree, (bool, int, float, str, type(None))) else type(tree).__name__


def compare(actual: Any, expected: Any, tolerance: float, path: str) -> None:
    """Raise Different where two notes do not agree."""
    if isinstance(expected, Value) and isinstance(actual, Value):
        _compare_values(actual, expected, tolerance, path)
    elif isinstance(expected, list) and isinstance(actual, list) and len(actual) == len(expected):
        for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
            compare(one, other, tolerance, f"{path}[{i}]")
    elif isinstance(expected, dict) and isinstance(actual, dict) and list(actual) == list(expected):
        for key, value in expected.items():
            compare(actual[key], value, tolerance, f"{path}.{key}")
    elif isinstance(expected, float) and isinstance(actual, float):
        if not (
            actual == expected or abs(actual - expected) <= tolerance or (actual != actual and expected != expected)
        ):
            raise Different(f"{path}: {actual} is {expected} in eager mode")
    elif type(actual) is not type(expected) or actual != expected:
        raise Different(f"{path}: {_short(actual)} is {_short(expected)} in eager mode")


def _short(value: Any) -> str:
    text = f"a tensor {value.numbers.tolist()}" if isinstance(value, Value) else repr(value)
    return text if len(text) < 600 else text[:600] + "..."


def _compare_values(actual: Value, expected: Value, tolerance: float, path: str) -> None:
    for what in ("kind", "dtype", "requires_grad", "is_leaf"):
        if getattr(actual, what) != getattr(expected, what):
            raise Different(f"{path}: {what} is {getattr(actual, what)}, not {getattr(expected, what)}")
    a, e = actual.numbers, expected.numbers
    if a.shape != e.shape:
        raise Different(f"{path}: shape is {a.shape}, not {e.shape}")
    # Numbers that no interpreter has seen (LBFGS computes with arrays) are as sharp as they are large.
    sharp = ULPS * EPSILON.get(str(e.dtype), 0.0) * float(np.abs(e[np.isfinite(e)]).max(initial=0))
    atol = max(tolerance, sharp) if e.dtype.kind == "f" else 0
    if not np.allclose(a, e, rtol=0, atol=atol, equal_nan=e.dtype.kind == "f"):
        raise Different(f"{path}: off by more than {atol:.1e}\n  compiled {a.tolist()}\n  eager    {e.tolist()}")
    compare(actual.grad, expected.grad, tolerance, f"{path}.grad")


def values_in(tree: Any, path: str = "") -> Iterator[tuple[str, Value]]:
    if isinstance(tree, Value):
        yield path, tree
        yield from values_in(tree.grad, path + ".grad")
    elif isinstance(tree, list):
        for i, item in enumerate(tree):
            yield from values_in(item, f"{path}[{i}]")
    elif isinstance(tree, dict):
        for key, item in tree.items():
            yield from values_in(item, f"{path}.{key}")


def sharing(note: Any) -> list[tuple[str, str]]:
    """The pairs of tensors in a note that show some of the same memory."""
    values = [(path, v.memory) for path, v in values_in(note) if v.memory.size]
    return [
        (path, other)
        for i, (path, memory) in enumerate(values)
        for other, its in values[i + 1 :]
        if np.may_share_memory(memory, its) and np.shares_memory(memory, its)
    ]


# ------------------------------------------------------------------------------------------------------------ running


@dataclass
class Run:
    """One program in one mode, call by call."""

    text: str
    compiled: bool

    def __post_init__(self) -> None:
        self.ways: Counter[str] = Counter()
        tg.manual_seed(0)
        module = loaded(self.text)
        self.calls: int = module.get("CALLS", CALLS)
        self.call, self.state = module["make"](tg.compile if self.compiled else lambda function: function)

    @property
    def functions(self) -> list[CompiledFunction]:
        """The compiled functions that the program calls."""
        cells = [cell.cell_contents for cell in self.call.__closure__ or ()]
        return [value for value in cells if isinstance(value, CompiledFunction)]

    def outcome(self, i: int) -> tuple[Any, Any]:
        """The result of call `i`, or its exception, and a note of everything after it."""
        try:
            result = self.call(i)
        except Exception as error:
            result = error
        self.ways.update(function.way for function in self.functions)
        return result, {"result": noted(result), "state": noted(self._state()), "rng": random_state()}

    def _state(self) -> Any:
        """What the program says is its state; an optimizer with state of a group that was removed cannot say it."""
        try:
            return self.state()
        except KeyError as error:
            return error


def random_state() -> Any:
    """The generator's words, bit for bit; the normal number that it keeps is as exact as its logarithm."""
    words, normals, seed = (part.numpy() for part in tg.default_generator.snapshot())
    normal, kept = normals.tolist()
    return [words.tobytes().hex(), normal, kept == 1.0, seed.tolist()]


def loaded(text: str) -> dict[str, Any]:
    """The program as a module of its own, with lines that tracebacks and messages can show."""
    name = f"fuzzed_{abs(hash(text))}"
    module = types.ModuleType(name)
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[name] = module
    exec(compile(text, file, "exec"), vars(module))
    return vars(module)


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check(text: str, keep: bool = True) -> Verdict:
    """Run the program of `text` both ways and compare after each call. `keep`: results are held by somebody."""
    with quiet():
        expected = Expected(text, keep)
        if expected.errors == len(expected.notes):
            return Verdict("wrong", expected.notes[0]["result"][1])
        return compiled_verdict(text, expected, keep)


class Expected:
    """What eager mode does, call by call, and how sharply it can be compared."""

    def __init__(self, text: str, keep: bool) -> None:
        self.scale = Scale()
        self.notes: list[Any] = []
        self.tolerances: list[float | None] = []  # none where numbers have run away
        results: list[Any] = []
        with interpreting(Tape(self.scale, make_tensor)):
            run = Run(text, compiled=False)
            for i in range(run.calls):
                result, note = run.outcome(i)
                self.notes.append(note)
                self.scale.largest = max(self.scale.largest, *(ro * ro for ro in inverses(note["state"])))
                self.tolerances.append(None if self.scale.is_unfit else self.scale.tolerance)
                self.errors = self.errors + isinstance(result, Exception)
                results.append(result if keep else None)
            self.kept = noted(results)

    errors = 0


def inverses(state: Any) -> Iterator[float]:
    """L-BFGS's ``ro`` in a state: inverses of small differences, whose errors grow with their squares."""
    yield 0.0
    items = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    for key, item in items:
        yield from (float(x.numbers) for x in item if isinstance(x, Value)) if key == "ro" and item else inverses(item)


def compiled_verdict(text: str, expected: Expected, keep: bool) -> Verdict:
    run = Run(text, compiled=True)
    results: list[Any] = []
    for i, (note, tolerance) in enumerate(zip(expected.notes, expected.tolerances, strict=True)):
        result, actual = run.outcome(i)
        # Results are not asked for their text: one that is a view from no_grad() may refuse to tell its history.
        text_of_error = str(result) if isinstance(result, Exception) else ""
        if isinstance(result, CaptureError) or any(words in text_of_error for words in REFUSING):
            return Verdict("refused", str(result), i, counts_of(run))
        if tolerance is None:
            return Verdict("unfit", f"{expected.scale.largest}", i, counts_of(run))
        try:
            compare(actual, note, tolerance, f"call {i}")
            if sharing(actual) != sharing(note):
                raise Different(f"call {i}: memory is shared by {sharing(actual)}, in eager mode by {sharing(note)}")
        except Different as difference:
            outcome = "failed" if isinstance(result, Exception) else "different"
            return Verdict(outcome, f"{difference}{traced(result)}", i, counts_of(run))
        results.append(result if keep else None)
    try:
        compare(noted(results), expected.kept, expected.scale.tolerance, "results, looked at in the end")
    except Different as difference:
        return Verdict("different", str(difference), len(expected.notes), counts_of(run))
    return Verdict("same", "", len(expected.notes), counts_of(run))


def traced(result: Any) -> str:
    if not isinstance(result, Exception):
        return ""
    return "\n" + "".join(traceback.format_exception(result)[-12:])


def counts_of(run: Run) -> dict[str, int]:
    return {**run.ways, "specialisations": sum(len(function.specialisations) for function in run.functions)}
