"""Whether parameters and values lie in their sets: seen at once in eager mode, a check of the graph in a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.array import Array, Evaluator, eager
from ..ops.core import interpreted
from ..ops.requirements import Facts, Requirement, require
from ..tape.tape import Tape
from ..tensors.tensor import Tensor, make


class _Valid(Requirement):
    """All of a bool tensor is True; the text of the error is made when it is needed."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__(lambda holds: (holds,), ValueError, "")
        object.__setattr__(self, "text", text)

    def check(self, values: np.ndarray, facts: Facts) -> None:
        if not values.all():
            raise self.error(self.text())  # type: ignore[attr-defined]


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
