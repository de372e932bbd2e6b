"""Calls that cannot be replayed: Python runs, the ops are put off and done by C, and it is remembered why."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...compiler.errors import CaptureError
from ...ops.core import interpreted
from ...tape.grad_mode import switches
from ...tensors.autocasting import state as autocast
from ...tensors.tensor import Tensor
from ...tracing.watch import served
from ..common.classes import is_a
from ..common.collection import around_collections
from ..guards.environment import Environment
from ..guards.found_code import FoundCode
from ..guards.onlookers import threads_are_absent
from ..lazy.deferred_calls import Deferred
from ..lazy.expected_ops import NotingTape, noted_as_before
from ..lazy.finalisers import Aside
from ..lazy.segments import Segments
from .subprograms import Compile, Subprograms

FOR_THREADS = (
    "it can reach threads, pools, queues or locks: other threads may look at tensors at any time\n"
    "  so nothing is computed later than in eager mode, and these calls are eager\n"
    "  Hand tensors to other threads outside of the compiled function."
)
BESIDE_THREADS = (
    "other threads of the program are alive, which may look at tensors at any time\n"
    "  so nothing is computed later than in eager mode, and calls are eager while they are\n"
    "  Hand results to other threads by returning them from functions that are replayed, or end the threads."
)
ATTEMPTS = 2  # recordings of one kind of call: the first call may do what later calls do not


class Fallback:
    """The re-recorded side of one compiled function."""

    def __init__(self, name: str, compile: Compile) -> None:
        self.segments = Segments(name)
        self.parts = Subprograms(compile)
        self.reasons: list[str] = []
        self._attempts: dict[Any, int] = {}
        self.stores = False
        self.is_verified = False  # calls are compared with eager ones: nothing else is to be seen of them
        self.is_eager = False  # other threads may look at tensors before their numbers are there

    def note(self, reason: CaptureError, seen: Environment | FoundCode | None, kind: Any, stores: bool = True) -> None:
        """Remember why a recording of a `kind_of` call cannot be replayed. `stores`: such calls may put tensors where
        other threads find them."""
        self.stores = self.stores or stores
        self.parts.look_at(seen)
        self._attempts[kind] = self._attempts.get(kind, 0) + 1
        if is_a(seen, Environment) and not self.is_eager:
            self.is_eager = seen.reaches_threads()
        for why in (str(reason), FOR_THREADS) if self.is_eager else (str(reason),):
            self.note_once(why)

    def note_once(self, reason: str) -> None:
        """Add it to the reasons, if it is not there yet."""
        if reason not in self.reasons:
            self.reasons.append(reason)

    def may_record(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """False once recordings of such calls have turned out to be useless."""
        return not self._attempts or self._attempts.get(kind_of(args, kwargs), 0) < ATTEMPTS

    def way(self) -> tuple[str, bool]:
        """How a call made now is served, "eager" where other threads could see what it has not computed yet; and
        whether there are such threads."""
        if self.is_eager:
            return "eager", True
        is_observed = not (self.is_verified or threads_are_absent())
        if is_observed and self.stores:
            self.note_once(BESIDE_THREADS)
            return "eager", True
        return "re-record", is_observed

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], is_observed: bool
    ) -> Any:
        """Call `function`; whatever comes out of it, or has been written when it raises, holds its numbers.

        Beside other threads a write to a tensor from outside is done at once, and no library work is put off whole.
        """
        self.segments.calls += 1
        deferred = Deferred(self.segments)
        deferred.is_observed = is_observed
        return around_collections(Aside(deferred).both, self._call, deferred, function, args, kwargs)

    def _call(self, deferred: Deferred, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
        server, tape = None, NotingTape(deferred)
        if not deferred.is_observed:
            server = functools.partial(self.parts.serve, deferred)
            tape.expected = functools.partial(noted_as_before, deferred)
        try:
            try:
                return served(server, interpreted, tape, function, *args, **kwargs)
            finally:
                deferred.settle()
        finally:
            deferred.settle()  # nothing, unless an interrupt has come in the line before


def kind_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What calls of one kind have in common: shapes and types of tensors, types of other arguments.

    To be asked before the call, which may change its arguments.
    """
    if not kwargs:
        kinds = [(a.ndarray.shape, a.ndarray.dtype) if type(a) is Tensor else _shapes(a) for a in args]
        return switches.both, autocast.modes, tuple(kinds)
    return switches.both, autocast.modes, _shapes((args, kwargs))


def _shapes(tree: Any) -> Any:
    """Of a list only what kinds of items it holds: it may grow from call to call."""
    if is_a(tree, Tensor):
        return tree.ndarray.shape, tree.ndarray.dtype.char
    if is_a(tree, list):
        return list, frozenset(map(_shapes, tree))
    if is_a(tree, tuple):
        return tuple, tuple(map(_shapes, tree))
    if is_a(tree, dict):
        return dict, tuple((key, _shapes(value)) for key, value in tree.items())
    return type(tree)
