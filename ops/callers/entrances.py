"""Who has entered a context manager: a ``with`` statement, which leaves it, or a call, after which it stays entered."""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import NamedTuple

_WITH = frozenset(dis.opmap[name] for name in ("SETUP_WITH", "BEFORE_WITH") if name in dis.opmap)  # 3.10; from 3.11 on


class Entrance(NamedTuple):
    """Where ``__enter__`` was called: in which code, at which instruction."""

    code: CodeType
    position: int

    @property
    def is_with(self) -> bool:
        """True for a ``with`` statement. To leave what it has entered when an interrupt has kept the statement from
        that is right; what a program has entered by a call lasts, also where nobody keeps the object."""
        return self.code.co_code[self.position] in _WITH


def entrance() -> Entrance:
    """Where the caller, an ``__enter__``, was called."""
    frame = sys._getframe(2)
    return Entrance(frame.f_code, frame.f_lasti)
