"""What an index into a tensor means: the region that numbers and slices leave, and what index tensors pick from it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ops import movement
from ..ops.array import Array
from ..ops.types import Type, int32, int64
from .arguments import Shape


@dataclass
class Plan:
    """What an index means for a tensor of shape `extents`."""

    extents: Shape
    starts: list[int] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    shape: list[int] = field(default_factory=list)
    picks: list[tuple[int, Any]] = field(default_factory=list)  # axis of `shape`, int64 index tensor
    picked_axes: list[int] = field(default_factory=list)  # the tensor's axes that they pick from, for messages
    masks: list[int] = field(default_factory=list)  # of how many axes each is
    title: str = "AliasBackward0"

    @property
    def axis(self) -> int:
        """The next axis of the tensor."""
        return len(self.starts)

    def keep(self, start: int, stop: int, step: int) -> None:
        """The next axis stays, from `start` to `stop`."""
        self._limit(start, stop, step)
        self.shape.append(operator.index(-(-(stop - start) // step)))

    def drop(self, position: int) -> None:
        """The next axis goes; only `position` of it is left."""
        self._limit(position, position + 1, 1)

    def _limit(self, start: int, stop: int, step: int) -> None:
        self.starts.append(start)
        self.stops.append(stop)
        self.steps.append(step)

    def pick(self, index: Any) -> None:
        """`index` picks from the next axis."""
        self.picks.append((len(self.shape), index))
        self.picked_axes.append(self.axis)
        self.keep_whole(1)

    def pick_from_new_axis(self, index: Any) -> None:
        """`index` picks from a new axis of extent 1."""
        self.picks.append((len(self.shape), index))
        self.picked_axes.append(self.axis)
        self.shape.append(1)

    def keep_whole(self, count: int) -> None:
        """The next `count` axes stay as they are."""
        for _ in range(count):
            self.keep(0, self.extents[self.axis], 1)

    def is_whole(self) -> bool:
        """True if the region is the tensor itself."""
        return tuple(self.shape) == self.extents and not any(self.starts) and all(s == 1 for s in self.steps)

    @property
    def selected(self) -> Shape:
        """The axes from which index tensors without dimensions pick: one position each, as numbers do."""
        return tuple(axis for axis, index in self.picks if not index.ndarray.ndim)

    def selects(self) -> bool:
        """True if nothing but such index tensors pick: what is written there is copied, and converted."""
        return len(self.selected) == len(self.picks)

    def fills(self) -> bool:
        """True if nothing but one mask picks: a single value is converted, too."""
        return len(self.masks) == 1 and self.masks[0] == len(self.picks)

    def position(self, number: Callable[[Any], int]) -> tuple[int | slice, ...]:
        """Where in the region index tensors without dimensions select; `number` reads one."""
        selected = {axis: number(index) for axis, index in self.picks}
        return tuple(selected.get(axis, slice(None)) for axis in range(len(self.shape)))


@dataclass(frozen=True)
class Picking:
    """Index tensors on a region: which axes they pick from, and one index into these axes taken as one."""

    axes: Shape
    index: Any  # int64, of the common shape of all index tensors
    extents: Shape  # the region's
    selected: Shape = ()  # those of `axes` that index tensors without dimensions select from, as numbers do

    @property
    def to_front(self) -> Shape:
        """The order of axes that brings the picked ones to the front."""
        return (*self.axes, *(a for a in range(len(self.extents)) if a not in self.axes))

    @property
    def turns(self) -> bool:
        """Whether bringing the picked axes to the front changes the order of axes."""
        return self.axes != tuple(range(len(self.axes)))

    @property
    def place(self) -> int:
        """Where the index's axes stand in the result: at the picked ones if these are neighbours, else in front. Axes
        from which one position is selected go first."""
        axes = [a - sum(s < a for s in self.selected) for a in self.axes if a not in self.selected] or self.axes
        neighbours = list(axes) == list(range(axes[0], axes[0] + len(axes)))
        return axes[0] if neighbours else 0

    @property
    def from_front(self) -> Shape:
        """The order of axes that takes the index's axes from the front to their place."""
        count = self.index.ndarray.ndim
        rest = range(count, count + len(self.extents) - len(self.axes))
        return (*rest[: self.place], *range(count), *rest[self.place :])

    def rows(self, region: Any) -> Any:
        """The region with the picked axes in front, as one."""
        moved = movement.transpose(region, self.to_front)
        shape = moved.ndarray.shape
        count = len(self.axes)
        return moved if count == 1 else movement.reshape(moved, (math.prod(shape[:count]), *shape[count:]))

    def from_rows(self, rows: Any) -> Any:
        """What `rows` has made of a region, in the shape of that."""
        moved = movement.reshape(rows, tuple(self.extents[a] for a in self.to_front))
        return movement.transpose(moved, tuple(int(i) for i in np.argsort(self.to_front)))


def picking_items(indices: Iterable[Any]) -> tuple[Any, ...]:
    """The items of ``index_put_``, in which index tensors without dimensions pick, too."""
    return tuple(movement.reshape(i, (1,)) if isinstance(i, Array) and i.type_ in _POSITIONS else i for i in indices)


_POSITIONS = (Type(int64, ()), Type(int32, ()))


def joined_by_numpy(picks: Iterable[tuple[Any, int, int]]) -> Any:
    """One index for several axes taken as one, before it is broadcast; None where a position is not there. `picks` are
    index tensors, the extents that they pick from, and the axes."""
    joined: Any = 0
    for index, extent, _ in picks:
        positions = index.ndarray
        if positions.size and not -extent <= positions.min() <= positions.max() < extent:
            return None
        joined = joined * extent + np.where(positions < 0, positions + extent, positions)
    return joined
