"""``with tg.deferred():``: a whole program as re-recorded calls run, without any compiled function."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ..ops.core import current, switch
from ..tape.tape import Tape
from ..tensors.tensor import EAGER, make
from ..tracing.watch import set_server
from .common.collection import set_listener
from .function import Subprogram
from .guards.value_kinds import is_optimizer
from .lazy.deferred_calls import Deferred
from .lazy.finalisers import Aside
from .lazy.segments import Segments
from .lazy.subprograms import Subprograms

F = TypeVar("F", bound=Callable[..., Any])


class deferred:
    """Within the block, or the decorated function, Python runs as ever, and C does the arithmetic.

    Operations and calls of models, losses, ``backward()`` and optimizers are noted, and done when a number is needed
    (``item()``, ``print``, ``if``, numpy), after each step of an optimizer, and at the end of the block; what comes a
    second time is one C program, as in a function under ``tg.compile`` that cannot be replayed. Results are those of
    eager mode up to roundings. The graph behind a model's result is one node. Blocks may be nested, in which case the
    outer one counts; inside a compiled function the block has no effect. A block may be entered again and again: its
    programs are kept.

    >>> import tracegrad as tg
    >>> with tg.deferred():
    ...     x = tg.ones(3, requires_grad=True)
    ...     loss = (x * 2).sum()
    ...     loss.backward()
    >>> x.grad
    tensor([2., 2., 2.])
    """

    def __init__(self) -> None:
        self.segments = Segments("deferred")
        self.parts = Subprograms(Subprogram, wanted=True)
        self._open: list[Deferred | None] = []  # of the blocks that have been entered, None where another one counts
        self._before: list[Any] = []

    def __enter__(self) -> deferred:
        if current() is not EAGER:
            self._open.append(None)
            return self
        interpreter = Deferred(self.segments)
        listener = set_listener(Aside(interpreter).both)
        self._before.append((switch.stack, set_server(functools.partial(self._serve, interpreter)), listener))
        self._open.append(interpreter)
        switch.stack = (*switch.stack, (Tape(interpreter, make), sys._getframe(1)))
        return self

    def __exit__(self, *exc_info: object) -> None:
        interpreter = self._open.pop()
        if interpreter is not None:
            try:
                interpreter.settle()
            finally:
                stack, server, listener = self._before.pop()
                switch.stack = stack
                set_server(server)
                set_listener(listener)

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def _serve(self, interpreter: Deferred, whole: Any, otherwise: Any, args: Any, kwargs: Any) -> Any:
        result = self.parts.serve(interpreter, whole, otherwise, args, kwargs)
        if is_optimizer(getattr(whole, "__self__", None)):
            interpreter.settle()  # a step is over: the next one shall take the same way
        return result
