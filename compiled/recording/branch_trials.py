"""Branches of ``tg.cond`` that are called whatever is taken: what they have done besides computing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...compiler.errors import CaptureError
from ...tracing.watch import SideEffect
from ..guards.environment import Environment
from .validity import CallTrace


class BranchTrials:
    """The branches that one recording has called. What they have done is an error, even where the function catches it:
    nothing can take it back."""

    def __init__(self) -> None:
        self._refused: SideEffect | None = None

    def run(self, calls: CallTrace, function: Callable[..., Any], arguments: list[Any], run: Callable[[], Any]) -> Any:
        """``run()``, which calls `function`. SideEffect if that has changed a Python object; `calls` has seen it."""
        around, spoken = Environment(function, arguments), calls.refused
        try:
            return run()
        finally:
            try:
                around.refuse_side_effects(calls.effect_lines)
            except CaptureError as effect:
                raise self._noted("in a branch of tg.cond, " + str(effect)) from None
            if calls.refused is not spoken and calls.refused is not None:
                what, place = calls.refused
                raise self._noted(f"{what} in a branch of tg.cond\n  at {place}\n  Branches compute: do this outside.")

    def _noted(self, text: str) -> SideEffect:
        self._refused = SideEffect(text)
        return self._refused

    def check(self) -> None:
        """SideEffect if there was one."""
        if self._refused is not None:
            raise self._refused
