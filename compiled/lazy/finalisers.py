"""What finalisers and callbacks of a collection compute in the middle of a re-recorded call: eagerly, beside it.

A collection may come within any line of this package, where the next event is half noted or a segment half done. So
what is computed then is no event of the call. It is right as long as it does not meet what has been put off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops.array import Array, Evaluator
from ...ops.core import Params, Primitive, switch
from ...tape.tape import Tape
from ...tensors.tensor import make
from ...tracing.watch import local
from ..common.collection import Listener, put_back_at_end
from .interpreter import DeferredOps


class Apart(Evaluator):
    """Eager mode for tensors of which nothing is put off; RuntimeError for others."""

    def __init__(self, deferred: DeferredOps) -> None:
        self._deferred = deferred

    def evaluate(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Callable[..., Any]) -> Any:
        for operand in operands:
            if isinstance(operand, Array):
                self._look(operand)
        return super().evaluate(primitive, operands, params, kind)

    def stacked(self, arrays: Sequence[Array], axis: int, kind: Callable[..., Any]) -> Any:
        return None

    def write(self, target: Array, value: Array | np.generic) -> None:
        if self._deferred.concerns(target):
            self._refuse(target)
        if isinstance(value, Array):
            self._look(value)
        super().write(target, value)

    def read(self, array: Array, purpose: str) -> np.ndarray:
        self._look(array)
        return super().read(array, purpose)

    def item(self, array: Array) -> bool | int | float:
        self._look(array)
        return super().item(array)

    def peek(self, array: Array) -> np.ndarray:
        self._look(array)
        return super().peek(array)

    def _look(self, array: Array) -> None:
        if self._deferred.is_pending(array):
            self._refuse(array)

    def _refuse(self, array: Array) -> None:
        raise RuntimeError(
            f"{array.label or 'a tensor'} is used by a finaliser (or a callback of the garbage collection) while a "
            "compiled function works with it\n  in a collection that has come in the middle of the call\n"
            "  Break the reference cycle or call gc.collect() outside, so that the finaliser runs at a time of its own."
        )


class Aside:
    """Puts the interpreter of a re-recorded call aside for the time of each collection."""

    def __init__(self, deferred: DeferredOps) -> None:
        self._tape = Tape(Apart(deferred), make)

    def begin(self) -> None:
        """A collection starts."""
        stack = switch.stack
        put_back_at_end((switch, {"stack": stack}), (local, {"server": local.server}))
        switch.stack, local.server = ((self._tape, stack[-1][1]),) if stack else (), None

    @property
    def both(self) -> Listener:
        """For `collection.set_listener`."""
        return self.begin, bool
