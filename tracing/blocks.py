"""Blocks in which something holds that is not so outside, whatever interrupt comes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any


class Block(ContextDecorator):
    """``with block:`` lets `wanted` hold, and what was `now` before when it ends; also a decorator, and entered again.

    An interrupt may come between any two instructions: between the block's beginning and its first line, and within
    its end. So what was before is noted first and put back twice, and where the end was never come to, the object,
    which nobody needs any more, puts it back when it goes.
    """

    wanted: Any
    _before: tuple[Any, ...] = ()

    def now(self) -> Any:
        """What holds."""
        raise NotImplementedError

    def put(self, state: Any) -> None:
        """Let `state`, of ``now()`` or `wanted`, hold; done twice, it is the same."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._before = (*self._before, self.now())
        self.put(self.wanted)

    def __exit__(self, *exc_info: object) -> None:
        before = self._before[-1]
        try:
            self.put(before)
        finally:
            self.put(before)
            self._before = self._before[:-1]

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._before and not is_ending():
            self.put(self._before[0])
