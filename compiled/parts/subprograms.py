"""Library work within re-recorded calls that is a program of its own: a model's forward, a loss, an optimizer's step.

Where Python runs at each call, most of its time goes into noting the ops of modules, which do the same at each call.
So the outermost call of a module is compiled as ``tg.compile(module)`` is, with its backward pass, and an optimizer's
step as ``tg.compile(optimizer.step)``; what cannot be replayed stays a part of the segments around it.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...ops.core import interpreted, switch
from ...ops.locks import new_lock
from ...tape.nodes import count_now
from ...tape.reverse import backward
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import EAGER
from ...tracing.watch import A_PASS, AT_ONCE, served
from ..common.callables import owner_of
from ..common.expenses import cost_of_recording
from ..guards.environment import Environment
from ..guards.found_code import FoundCode
from ..guards.value_kinds import is_optimizer
from ..lazy.deferred_calls import NOT_NOTED, Deferred
from ..lazy.expected_ops import are_small
from ..lazy.expected_sweep import backward_of
from ..lazy.tiers import PartTries
from .bound_arguments import MOST_FORMS, BoundFunctions
from .expecting import owner_of_call
from .new_optimizers import NewOptimizers
from .twins import Twins

NOT_SERVED = object()
LIMIT = 64  # parts that are modules and optimizers
MOST_CALLS = 3  # in which optimizers of one class may come up before they count as made anew
OFTEN = 16  # steps of one optimizer of a whole program, which may have many, after which it is none for a moment
FEW_OPS = 1  # an op and its derivative are noted as quickly as a program is called; several (a Linear layer) are not
# Parts that are met or recorded for the first time. What is noted around them is not noted again: so many segments.
FIRST_TIMES, PASSING = 32, 8

Compile = Callable[[Any], Any]

# Code that mentions these looks at the graph behind a result, which is one node for a part, or differentiates it twice.
_GRAPH = ("next_functions", "saved_tensors", "create_graph", "hessian", "jacobian", "hvp", "vhp", "jvp", "vjp")


class Subprograms:
    """The parts of one function, shared by all its calls."""

    def __init__(self, compile: Compile, wanted: bool | None = None, tiered: bool = False) -> None:
        self._compile = compile
        self._lock = new_lock()
        self._seen: dict[int, tuple[weakref.ref[Any], int]] = {}  # what was called, and how often
        self._parts: dict[int, Any] = {}
        self._objects = 0  # how many parts are modules and optimizers
        self._bound = BoundFunctions()
        self._twins = Twins()
        self._made_anew = NewOptimizers()
        self._optimizers: dict[type, set[int]] = {}  # the calls in which they came up and were no parts
        self._wanted = wanted  # None: it is not known what the function's code mentions
        self._firsts = 0  # how often a part has come up
        self._tries: dict[int, PartTries] | None = {} if tiered else None  # by part, which `_parts` keeps

    def titles(self) -> list[str]:
        """What the parts that have programs are: classes of modules and optimizers, names of public functions."""
        served = [part for part in list(self._parts.values()) if part.specialisations]
        owners = [(owner_of(part.function), part) for part in served]
        names = [part.__name__ if owner is None else type(owner).__name__ for owner, part in owners]
        return [name for name in names if not name.startswith("_")]

    def look_at(self, seen: Environment | FoundCode | None) -> None:
        """Learn from a recording whether parts can be told from what they stand for."""
        if seen is not None:
            self._wanted = self._wanted is not False and not any(map(seen.mentions, _GRAPH))

    def serve(
        self, deferred: Deferred, whole: Any, otherwise: Callable[..., Any], args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        """The result of ``otherwise(*args, **kwargs)``, by a program for `whole`, if there can be one.

        An interpreter that has been put around `deferred` since (slices of a batch, tangents, tensors without numbers)
        has to see each op, and hands it arrays that may stand for others: within it no piece of work is a program.
        """
        stack = switch.stack  # as `current` has it, which would be one more call for each piece of work
        if not stack or getattr(stack[-1][0], "noting", None) is not deferred:
            return otherwise(*args, **kwargs)
        if whole is AT_ONCE or whole is A_PASS:
            return otherwise(*args, **kwargs)
        if deferred.is_idle and type(whole) is FunctionType and not kwargs and _is_small_now(deferred, args):
            return otherwise(*args)
        if not kwargs:
            here = deferred.here
            for expected in here.expected.get(id(owner_of_call(whole)), ()) if deferred.segments.are_open else ():
                result = expected(deferred, args)
                if result is not NOT_NOTED:
                    return result
                if deferred.here is not here:
                    break  # a check has ended the segment
        if whole is backward:
            return backward_of(deferred, otherwise, *args)
        if type(whole) is FunctionType:
            return self._serve_function(deferred, whole, otherwise, args, kwargs)
        owner = owner_of_call(whole)
        if not kwargs and self._wanted and owner is whole and id(owner) not in self._parts:
            noted = self._twins.note(deferred, owner, args)
            if noted is not None:
                return noted[0]
        part = self._part_of(whole, deferred.segments.calls)
        if part is None:
            if self._wanted and is_optimizer(owner) and self._makes_others(owner, deferred.segments.calls):
                self._count(owner)
                return self._made_anew.step(deferred, owner, otherwise, self._serve_tensors)
            return self._first_time(deferred, whole, otherwise, args, kwargs)
        result = part.noted(deferred, args, kwargs)
        if result is NOT_SERVED or result is NOT_NOTED:
            result = self._made(deferred, part, args, kwargs, result is NOT_NOTED)
        return self._by_what_it_calls(deferred, part, otherwise, args, kwargs) if result is NOT_SERVED else result

    def _by_what_it_calls(self, deferred: Deferred, part: Any, otherwise: Any, args: Any, kwargs: Any) -> Any:
        """``otherwise(*args, **kwargs)``. A form of calls that `part` is not recorded for yet (sequences that grow) is
        not recorded for each of the modules in it instead, which takes many times as long."""
        tries = self._tries.get(id(part)) if self._tries is not None else None
        if tries is None or not tries.is_awaited:
            return otherwise(*args, **kwargs)
        before, deferred.records_parts = deferred.records_parts, False
        try:
            return otherwise(*args, **kwargs)
        finally:
            deferred.records_parts = before

    def _serve_function(self, deferred: Deferred, whole: Any, otherwise: Any, args: Any, kwargs: Any) -> Any:
        """`serve` for a function of the library. It ends a segment only to be recorded: its ops can be noted, too."""
        bound = self._bound.of(whole, args, kwargs) if self._wanted and not _are_tensors(args, kwargs) else None
        function, tensors, named = (whole, args, kwargs) if bound is None else (*bound, {})
        if bound is not None:
            for expected in deferred.here.expected.get(id(function), ()) if deferred.segments.are_open else ():
                result = expected(deferred, tensors)
                if result is not NOT_NOTED:
                    return result
        return self._serve_tensors(deferred, function, functools.partial(otherwise, *args, **kwargs), tensors, named)

    def _serve_tensors(self, deferred: Deferred, function: Any, otherwise: Any, tensors: Any, named: Any) -> Any:
        """``otherwise()``, which is ``function(*tensors, **named)``."""
        part = self._part_of(function, deferred.segments.calls)
        if part is None:
            return self._first_time(deferred, function, otherwise, (), {})
        result = part.noted(deferred, tensors, named)
        if result is NOT_SERVED and len(part.specialisations) < MOST_FORMS:
            result = self._made(deferred, part, tensors, named, False)
        return otherwise() if result is NOT_SERVED or result is NOT_NOTED else result

    def _made(self, deferred: Deferred, part: Any, args: Any, kwargs: Any, is_known: bool) -> Any:
        """The result of a call that cannot be noted: by the part's own program, or while it is recorded."""
        if not part.may_serve(args, kwargs) or not (is_known or deferred.records_parts):
            return NOT_SERVED
        tries = None if self._tries is None else self._tries.setdefault(id(part), PartTries())
        if tries is not None and not tries.is_due(part, is_known):
            return NOT_SERVED
        deferred.settle()
        known, nodes = len(part.specialisations), count_now()
        result = served(None, interpreted, EAGER, part, *args, **kwargs)
        if tries is not None and not is_known:
            tries.made(len(part.specialisations) > known)
        graph = part.specialisations[0].graph if len(part.specialisations) > known else None
        if graph is not None:
            self._came_up(deferred)
        if not is_known:
            deferred.segments.spend(cost_of_recording(count_now() - nodes - 1, graph))
        return result

    def _part_of(self, whole: Any, call: int) -> Any:
        owner = owner_of_call(whole)
        with self._lock:
            times = self._times(owner)
            if id(owner) not in self._parts and self._wanted and self._may_be_more(owner, call, times):
                self._seen.pop(id(owner), None)
                if times:
                    part = self._parts[id(owner)] = self._compile(whole)  # holds the owner, so that its id stays taken
                    if self._tries is not None:
                        part.programs.backward.patient = True
                    self._objects += type(owner) is not FunctionType
                    self._twins.add(owner, part, call)
            return self._parts.get(id(owner))

    def know(self, owner: Any) -> None:
        """`owner` has been called before, in eager mode: it is a part from the next call on."""
        if id(owner) not in self._parts:
            self._count(owner)

    def _times(self, owner: Any) -> int:
        """How often `owner`, which is no part, was called."""
        seen, times = self._seen.get(id(owner), (None, 0))
        return times if seen is not None and seen() is owner else 0

    def _count(self, owner: Any) -> None:
        """`owner`, which is no part, is called."""
        with self._lock:
            self._seen[id(owner)] = weakref.ref(owner), self._times(owner) + 1

    def _may_be_more(self, owner: Any, call: int, times: int) -> bool:
        """True if a part may be made of `owner` in this call. Optimizers that are made anew in each call get none."""
        if type(owner) is FunctionType:
            return True
        if is_optimizer(owner):
            is_used_on = self._tries is not None and times >= OFTEN
            if self._makes_others(owner, call) and not is_used_on:
                return False
        return self._objects < LIMIT

    def _makes_others(self, optimizer: Any, call: int) -> bool:
        """True if the function seems to make optimizers of that class anew in each call."""
        calls = self._optimizers.get(type(optimizer), ())
        return len(calls) >= MOST_CALLS and call not in calls

    def _first_time(self, deferred: Deferred, whole: Any, otherwise: Any, args: Any, kwargs: Any) -> Any:
        count = deferred.ops
        result = otherwise(*args, **kwargs)
        if deferred.ops - count > FEW_OPS:
            owner = owner_of_call(whole)
            self._count(owner)
            if is_optimizer(owner):
                self._optimizers.setdefault(type(owner), set()).add(deferred.segments.calls)
            if self._wanted:
                self._came_up(deferred)
        return result

    def _came_up(self, deferred: Deferred) -> None:
        """Next time a part will be noted where ops were noted now: these segments need no programs."""
        self._firsts += 1
        if self._firsts <= FIRST_TIMES:
            deferred.passing = PASSING


def _is_small_now(deferred: Deferred, args: tuple[Any, ...]) -> bool:
    """True if operations on these few numbers are done at once: so is a function of the library, which is several."""
    is_plain = deferred.here.event is None and bool(args) and _are_tensors(args, None)
    return is_plain and are_small(deferred.done_now(), args)


def _are_tensors(args: tuple[Any, ...], kwargs: Any) -> bool:
    return not kwargs and all(type(arg) in PLAIN_TENSORS for arg in args)
