"""Tangents of tensors: how their numbers change along a direction, while a level of forward mode is open.

A tangent belongs to memory as a tensor sees it, so that views have the part of it that they show, and writes through
one view are seen by all. A tensor that shows the memory without being a view (``detach()``) has none of it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..ops.core import Step, interpreted
from ..ops.views import replay
from .grad_mode import switches


class Region:
    """The tangent of a tensor and of its views, ``None`` as long as it is zero. `steps` lead to that tensor."""

    __slots__ = ("buffer", "of", "steps", "tangent")

    def __init__(self, tensor: Any) -> None:
        self.tangent: Any = None
        self.buffer, self.of = tensor.buffer, tensor.type_
        self.steps: tuple[Step, ...] = tensor.steps

    def steps_to(self, view: Any) -> tuple[Step, ...] | None:
        """How `view` is made of the tensor whose tangent this is; None where it is not made of it."""
        count = len(self.steps)
        shows = view.buffer is self.buffer and view.steps[:count] == self.steps
        return view.steps[count:] if shows else None


class Level:
    """What has a tangent between ``enter_dual_level()`` and ``exit_dual_level()``; `around` computes tangents."""

    def __init__(self, around: Any) -> None:
        self.around = around
        self._regions: dict[int, tuple[weakref.ref[Any], Region]] = {}  # by the identity of the tensor

    def _known(self, tensor: Any) -> Region | None:
        found = self._regions.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def region_of(self, tensor: Any) -> Region:
        """The region that `tensor` shows a part of; a new one for what nobody has asked about."""
        region = self._known(tensor)
        if region is None:
            base = tensor.base
            region = Region(tensor) if base is None else self.region_of(base)
            self.place(tensor, region)
        return region

    def place(self, tensor: Any, region: Region) -> None:
        """Let `tensor` show a part of `region`."""
        key, regions = id(tensor), self._regions

        def forget(gone: weakref.ref[Any]) -> None:
            if regions.get(key, (None,))[0] is gone:
                del regions[key]

        regions[key] = (weakref.ref(tensor, forget), region)

    def has_tangent(self, tensor: Any) -> bool:
        """Whether `tensor` is a dual tensor."""
        if not levels.enabled:
            return False
        region = self._known(tensor)
        if region is None and tensor.base is not None:
            region = self._known(tensor.base)
        return region is not None and region.tangent is not None and region.buffer is tensor.buffer

    def tangent_of(self, tensor: Any) -> Any:
        """The tangent, of `tensor`'s shape; None if there is none. NotImplementedError where it is not known."""
        if not self.has_tangent(tensor):
            return None
        region = self.region_of(tensor)
        steps = region.steps_to(tensor)
        if steps is None:
            raise NotImplementedError(
                "forward AD of a view that shows other elements of the memory than the dual tensor does "
                "(as_strided()). Take the view of a clone() of it."
            )
        return interpreted(self.around, replay, region.tangent, steps) if steps else region.tangent

    def give(self, tensor: Any, tangent: Any) -> None:
        """Let `tensor`, with all its memory to itself, have `tangent`."""
        region = Region(tensor)
        region.tangent = tangent
        known = self._known(tensor)
        if known is None:
            self.place(tensor, region)
        else:  # an alias that is kept for the backward pass has the same region
            known.tangent = tangent

    def follow(self, view: Any, source: Any) -> None:
        """`view` shows a part of what `source` shows."""
        self.place(view, self.region_of(source))


class _Levels(threading.local):
    open: Level | None = None
    enabled = True  # whether tangents are seen at all


levels = _Levels()  # of this thread


def without_tangents(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, for which no tensor has a tangent."""
    before = levels.enabled
    try:
        levels.enabled = False
        return function(*args)
    finally:
        levels.enabled = before


def is_differentiated(tensor: Any) -> bool:
    """Whether derivatives of what is computed of `tensor` may be asked for, in one of the modes."""
    return (switches.enabled and tensor.requires_grad) or (levels.open is not None and levels.open.has_tangent(tensor))


def alias_of(tensor: Any) -> Any:
    """``tensor.detach()``, but with the tangent that the tensor has."""
    alias = tensor.detach()
    if levels.open is not None:
        levels.open.follow(alias, tensor)
    return alias
