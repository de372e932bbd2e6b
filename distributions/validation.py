"""Whether parameters and values lie in their sets: seen at once in eager mode, a check of the graph in a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.array import Array, Evaluator, eager, quietly
from ..ops.core import current, interpreted
from ..ops.requirements import Facts, Requirement, require
from ..tape.direct import FLOAT32, FLOAT64, INT64
from ..tape.tape import Tape
from ..tensors.operands import PLAIN_TENSORS
from ..tensors.tensor import EAGER, Tensor, make
from ..tracing.watch import watcher
from . import constraints


def _takes_arrays(constraint: Any, is_floating: bool) -> bool:
    """Whether ``constraint.check`` says of an array of float32 or float64 (else of int64) what it says of a tensor."""
    if type(constraint) is constraints._IndependentConstraint:
        return _takes_arrays(constraint.base_constraint, is_floating)
    if type(constraint) not in constraints._OF_ARRAYS:
        return False
    for name in constraint._shown():
        kind = type(getattr(constraint, name))
        if kind is not int and not (is_floating and kind is float):
            return False
    return True


class _Valid(Requirement):
    """All of a bool tensor is True; the text of the error is made when it is needed."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__(lambda holds: (holds,), ValueError, "")
        object.__setattr__(self, "text", text)

    def check(self, values: np.ndarray, facts: Facts) -> None:
        if not values.all():
            raise self.error(self.text())  # type: ignore[attr-defined]


def holds_at_once(constraint: Any, value: Any) -> bool:
    """Whether all of `value` is seen to lie in a set at once, by numpy in plain eager mode; False decides nothing."""
    if current() is not EAGER or watcher() is not None or type(value) not in PLAIN_TENSORS:
        return False
    array = value.ndarray
    is_floating = array.dtype is FLOAT32 or array.dtype is FLOAT64
    if not (is_floating or array.dtype is INT64) or not _takes_arrays(constraint, is_floating):
        return False
    if array.ndim < constraint.event_dim:
        return False  # an error of its own
    return bool(quietly(constraint.check, array).all())


def require_valid(holds: Any, subject: Any, text: Callable[[], str], *shown: Any) -> None:
    """ValueError ``text()`` unless all of `holds` is True.

    The text shows the distribution `subject` and the tensors `shown`, which are computed first where that was put off.
    """
    if not isinstance(holds, Tensor):
        holds = make(np.asarray(holds))

    def found() -> str:
        for tensor in (*shown, *vars(subject).values()):
            if isinstance(tensor, Array):
                eager().peek(tensor)
        return interpreted(Tape(Evaluator(), make), text)

    require(holds, _Valid(found))
