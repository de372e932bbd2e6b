"""Inputs of a graph that is being captured: the arrays they stand for, and the parts of memory that these show."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ops.array import Array
from ..ops.core import Step
from .graph import Node, Origin


def is_tracked(array: Any) -> bool:
    """Whether gradients of it go on; of arrays that are no tensors none do."""
    return hasattr(array, "is_tracked") and bool(array.is_tracked())


def facts_of(array: Any) -> tuple[bool, np.ndarray, Any]:
    """Whether it is a leaf that requires a gradient, what it shows, and the node of the tape behind it."""
    return bool(getattr(array, "_requires", False)), array.ndarray, array._node if is_tracked(array) else None


class Region:
    """A part of one memory with a current node. `prefix` are the view steps from the memory's whole to the region,
    `array` is the root's; None for memory made while recording."""

    __slots__ = ("array", "node", "prefix", "views", "writes")

    def __init__(self, prefix: tuple[Step, ...], node: Node, array: Array | None = None) -> None:
        self.prefix = prefix
        self.node = node
        self.array = array
        self.writes = 0
        self.views: dict[tuple[int, tuple[Step, ...]], Node] = {}

    @property
    def written(self) -> bool:
        return self.writes > 0


@dataclass(eq=False)
class Root:
    """A graph input: the node, the array it stands for, and the region whose final node is to be written back."""

    node: Node
    array: Array
    region: Region
    requires_grad: bool
    leaf_requires: bool
    shown: np.ndarray  # what the array showed when it was met
    history: Any  # the node of the tape behind the array then
    version: float  # of its memory then
    met_at: Origin  # the line that read it first

    @property
    def counted_writes(self) -> int:
        """By how much the call has counted its version up: writes through ``.data`` have versions of their own."""
        now = self.array.buffer.version
        return 0 if now == self.version else int(now - self.version)

    def let_go(self) -> None:
        """Forget the numbers, of which only the type is wanted any more: an array of the same type without memory."""
        if not self.region.written:
            self.shown = np.broadcast_to(np.zeros((), self.shown.dtype), self.shown.shape)
            self.array, self.history = Array(self.shown), None
            self.region.array = self.array


@dataclass(frozen=True, eq=False)
class Alias:
    """Another array over the memory of a root, as it was when it was met."""

    array: weakref.ref[Array]
    leaf_requires: bool
    shown: np.ndarray
    node: weakref.ref[Any] | None  # of the tape, which keeps what the call has made

    @classmethod
    def of(cls, array: Array) -> Alias:
        """Of an array as it is now."""
        leaf_requires, shown, history = facts_of(array)
        return cls(weakref.ref(array), leaf_requires, shown, None if history is None else weakref.ref(history))

    @property
    def history(self) -> Any:
        """The node of the tape behind the array then; where it is gone, nothing that could be there now."""
        return None if self.node is None else self.node() or self
