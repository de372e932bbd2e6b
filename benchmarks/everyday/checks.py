"""What must hold before a pattern is timed: all ways of running it do the same, and programs come to an end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from tracegrad.runtime import provide

from .setting import Pattern, Run, Setting, Sizes

# The ways of running add in different orders, which float32 shows at some 1e-7 of the largest term; Adam divides a
# gradient by its own size, so where a gradient is nothing but such a rounding a weight moves by a share of lr = 1e-3
# in another direction, at each call. Numbers that Python sees are functions of these weights.
ABSOLUTE, RELATIVE = 2e-4, 1e-3


@dataclass
class Outcome:
    """What a run has left behind: the numbers of each call, and of the end."""

    results: list[list[float]]
    kept: list[float]
    tensors: list[np.ndarray]


class Compiling:
    """``compile``, and what has been compiled with it."""

    def __init__(self, compile: Callable[[Any], Any]) -> None:
        self._compile = compile
        self.functions: list[Any] = []

    def __call__(self, function: Any) -> Any:
        self.functions.append(self._compile(function))
        return self.functions[-1]

    @property
    def way(self) -> str:
        return "/".join(dict.fromkeys(function.way for function in self.functions))


def start(pattern: Pattern, library: ModuleType, sizes: Sizes, whole: Any = None, part: Any = None) -> Run:
    """The pattern with its models just made; `whole` or `part` is what compiles."""
    wrappers = {"whole": whole, "part": part}
    return pattern.make(Setting(library, sizes, **{name: w for name, w in wrappers.items() if w is not None}))


def outcome(run: Run, calls: int) -> Outcome:
    """Make the first calls of a run."""
    results = [list(numbers(run.call(i))) for i in range(calls)]
    # Copies: memory that numpy has once been given is not left to programs that write it later.
    tensors = [tensor.detach().clone().numpy().astype(np.float64) for tensor in run.tensors()]
    return Outcome(results, list(numbers(run.kept)), tensors)


def numbers(tree: Any) -> Iterator[float]:
    """All numbers in a tree of results, in order; -1 for None, text as its length."""
    if hasattr(tree, "detach"):
        yield from tree.detach().numpy().astype(np.float64).ravel().tolist()
    elif isinstance(tree, dict):
        yield from numbers([tree[name] for name in tree if name != "params"])
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from numbers(item)
    elif isinstance(tree, str):
        yield float(len(tree))
    else:
        yield -1.0 if tree is None else float(tree)


def disagreement(one: Outcome, other: Outcome) -> str:
    """The first place where two outcomes differ by more than roundings explain; empty if there is none."""
    for i, pair in enumerate(zip(one.results, other.results, strict=True)):
        if far := _far(*pair):
            return f"result of call {i}: {far}"
    if far := _far(one.kept, other.kept):
        return f"what the calls kept: {far}"
    for i, tensors in enumerate(zip(one.tensors, other.tensors, strict=True)):
        if far := _far(*(tensor.ravel() for tensor in tensors)):
            return f"tensor {i}: {far}"
    return ""


def _far(one: Any, other: Any) -> str:
    if len(one) != len(other):
        return f"{len(one)} numbers, {len(other)} expected"
    one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
    wrong = np.flatnonzero(~np.isclose(one, other, RELATIVE, ABSOLUTE, equal_nan=True))
    return f"{one[wrong[0]]:.7g}, {other[wrong[0]]:.7g} expected ({len(wrong)} such)" if len(wrong) else ""


@contextlib.contextmanager
def programs_made() -> Iterator[list[Any]]:
    """A list that grows by one with each C program that is loaded, whether built or found in the cache."""
    made: list[Any] = []
    load = provide.load

    def loading(path: Any, *more: Any) -> Any:
        made.append(path)
        return load(path, *more)

    provide.load = loading  # type: ignore[assignment]
    try:
        yield made
    finally:
        provide.load = load


def python_calls(run: Run, first: int, calls: int) -> tuple[float, float]:
    """Calls of Python functions and of functions made in C, for one training step."""
    counts = {"call": 0, "c_call": 0}

    def count(frame: Any, event: str, argument: Any) -> None:
        if event in counts:
            counts[event] += 1

    sys.setprofile(count)
    try:
        for i in range(first, first + calls):
            run.call(i)
    finally:
        sys.setprofile(None)
    steps = calls * run.steps
    return counts["call"] / steps, counts["c_call"] / steps
