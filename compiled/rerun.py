"""Calls that cannot be replayed: Python runs, the ops are put off and done by C, and it is remembered why."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import is_grad_enabled
from ..autograd.tape import Tape
from ..autograd.tensor import Tensor, make
from ..autograd.watch import set_server
from ..compiler.errors import CaptureError
from ..ops.core import interpreting
from .deferred import Deferred
from .parts import Compile, Parts
from .segments import Segments
from .structure import leaves
from .surroundings import Surroundings

ATTEMPTS = 2  # recordings of one kind of call: the first call may do what later calls do not


class Rerun:
    """The re-recorded side of one compiled function."""

    def __init__(self, name: str, compile: Compile) -> None:
        self.segments = Segments(name)
        self.parts = Parts(compile)
        self.reasons: list[str] = []
        self._attempts: dict[Any, int] = {}

    def note(
        self, reason: CaptureError, surroundings: Surroundings | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Remember why a recording cannot be replayed."""
        self.parts.look_at(surroundings)
        kind = _kind_of(args, kwargs)
        self._attempts[kind] = self._attempts.get(kind, 0) + 1
        if str(reason) not in self.reasons:
            self.reasons.append(str(reason))

    def may_record(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """False once recordings of such calls have turned out to be useless."""
        return not self._attempts or self._attempts.get(_kind_of(args, kwargs), 0) < ATTEMPTS

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `function`; whatever comes out of it, or has been written when it raises, holds its numbers."""
        deferred = Deferred(self.segments)
        server = set_server(functools.partial(self.parts.serve, deferred))
        collects = gc.isenabled()
        gc.disable()  # which results are still alive must not depend on when garbage is collected
        try:
            with interpreting(Tape(deferred, make)):
                return function(*args, **kwargs)
        finally:
            set_server(server)
            deferred.settle()
            if collects:
                gc.enable()


def _kind_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What calls of one kind have in common: shapes and types of tensors, types of other arguments."""
    shapes = tuple(
        (path, leaf.ndarray.shape, leaf.ndarray.dtype.char) if isinstance(leaf, Tensor) else (path, type(leaf))
        for path, leaf in leaves((args, kwargs))
    )
    return is_grad_enabled(), shapes
