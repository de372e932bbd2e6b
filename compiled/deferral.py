"""``with tg.deferred():``: a whole program as re-recorded calls run, without any compiled function."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from ..ops.core import current, switch
from ..tape.tape import Tape
from ..tensors.tensor import EAGER, make
from ..tracing.watch import set_server
from .common.callables import owner_of
from .common.collection import set_listener
from .common.threads import hear_starts
from .function import Subprogram
from .guards.onlookers import threads_are_absent
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
    programs are kept. Where other threads of the program run, which could look at results that are pending, the block
    has no effect: not from its beginning (with a RuntimeWarning), or from the start of the first thread on.

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
        self._open: list[_Block | None] = []  # that have been entered, None where another one, or nothing, counts
        self._before: list[Any] = []

    def __enter__(self) -> deferred:
        if current() is not EAGER or _is_observed():
            self._open.append(None)
            return self
        block = _Block(self.segments)
        listener = set_listener(Aside(block.interpreter).both)
        server = set_server(functools.partial(self._serve, block))
        self._before.append((switch.stack, server, listener, hear_starts(block.end)))
        self._open.append(block)
        switch.stack = (*switch.stack, (block.tape, sys._getframe(1)))
        return self

    def __exit__(self, *exc_info: object) -> None:
        block = self._open.pop()
        if block is not None:
            try:
                block.interpreter.settle()
            finally:
                stack, server, listener, of_threads = self._before.pop()
                switch.stack = stack
                set_server(server)
                set_listener(listener)
                hear_starts(of_threads)

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def _serve(self, block: _Block, whole: Any, otherwise: Any, args: Any, kwargs: Any) -> Any:
        if block.has_ended:
            return otherwise(*args, **kwargs)
        result = self.parts.serve(block.interpreter, whole, otherwise, args, kwargs)
        if is_optimizer(owner_of(whole)):
            block.interpreter.settle()  # a step is over: the next one shall take the same way
        return result


class _Block:
    """One entered block: its interpreter, until the program starts a thread."""

    def __init__(self, segments: Segments) -> None:
        self.interpreter = Deferred(segments)
        self.tape = Tape(self.interpreter, make)
        self.has_ended = False

    def end(self) -> None:
        """Compute what is pending, and go on in eager mode: a thread sees tensors at any time."""
        self.interpreter.settle()
        self.has_ended = True
        switch.stack = tuple(entry for entry in switch.stack if entry[0] is not self.tape)


def _is_observed() -> bool:
    """True, with a warning, if another thread of the program could see results that are pending."""
    if threads_are_absent():
        return False
    warnings.warn(
        "tg.deferred() with another thread of the program alive: the block runs in eager mode, since that thread may "
        "look at tensors at any time. Enter the block before threads are started, or after they have ended.",
        RuntimeWarning,
        stacklevel=3,
    )
    return True
