"""Steps of optimizers that a function makes anew in each call: those that are built alike share one part.

The part is a function of tensors alone (`optim/as_function.py`): it depends on no optimizer, so that nothing which
happens to one of them concerns the others. What it returns is written where the step would have written it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...tape.anomaly import CHECKS_ALL
from ...tape.grad_mode import no_grad
from ...tracing.watched_classes import classes
from ..guards.value_kinds import is_ours
from ..lazy.deferred_calls import NOT_NOTED, Deferred

MOST_FORMS = 8  # that are tried: options that go on changing, numbers apart, are worth no program

_NEW = object()

#: ``serve(deferred, function, otherwise, tensors, named)``: the result of `function`, by a part if there is one.
Serve = Callable[..., Any]


class NewOptimizers:
    """The forms of one function's optimizers."""

    def __init__(self) -> None:
        self._functions: dict[Any, Any] = {}  # by form; None for what the optimizer has to do by itself

    def step(self, deferred: Deferred, optimizer: Any, otherwise: Callable[[], Any], serve: Serve) -> Any:
        """The step that ``otherwise()`` makes."""
        call = None if CHECKS_ALL or _is_changed(type(optimizer)) else optimizer.step_as_call()
        function = None if call is None else self._function(call.form)
        if call is None or function is None:
            return otherwise()
        with no_grad():
            new = self._results(deferred, function, call.given, serve)
            if new is None:
                self._functions[call.form] = None
                return otherwise()
            call.write(new)
        return None

    @staticmethod
    def _results(deferred: Deferred, function: Any, given: Any, serve: Serve) -> Any:
        for expected in deferred.here.expected.get(id(function), ()) if deferred.segments.are_open else ():
            result = expected(deferred, given)
            if result is not NOT_NOTED:
                return result
        return serve(deferred, function, lambda: function(*given), given, {})

    def _function(self, form: Any) -> Any:
        function = self._functions.get(form, _NEW)
        if function is not _NEW:
            return function
        if len(self._functions) >= MOST_FORMS:
            return None
        self._functions[form] = form.function()
        return self._functions[form]


_is_ours = functools.lru_cache(maxsize=256)(is_ours)


def _is_changed(kind: type) -> bool:
    """True for classes of programs, and where one has set a method of a class of the library's."""
    return not _is_ours(kind) or any(issubclass(kind, patched) for patched, _ in classes.patches().members)
