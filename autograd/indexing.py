"""``x[...]`` and ``x[...] = v``: numbers, slices, None, Ellipsis, index tensors, masks, in any mixture.

An index is read into a `Plan`: the region of the tensor that numbers and slices leave, its shape, and the axes of that
shape that index tensors pick from. Reading a region is a view; picking is a copy. Differences from PyTorch: a 0-d index
tensor picks (a copy) instead of selecting (a view), so that recordings need not look at it.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ops import indexing as ops
from ..ops import movement
from ..ops.array import eager
from ..ops.comparison import where
from ..ops.core import current
from ..ops.pointwise import cast, converted
from ..ops.sources import full, iota
from ..ops.types import bool_, broadcast_shapes, int64
from .arguments import Shape
from .composite import relabel
from .creation import tensor
from .data import fitting
from .in_place import assign, copy_into
from .tensor import Tensor


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
    title: str = "AliasBackward0"

    @property
    def axis(self) -> int:
        """The next axis of the tensor."""
        return len(self.starts)

    def keep(self, start: int, stop: int, step: int) -> None:
        """The next axis stays, from `start` to `stop`."""
        self._limit(start, stop, step)
        self.shape.append(-(-(stop - start) // step))

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


# --------------------------------------------------------------------------------------------------- reading indices


def _plan(x: Any, key: Any) -> Plan:
    items = [_as_item(item) for item in (key if isinstance(key, tuple) else (key,))]
    extents = x.ndarray.shape
    used = sum(map(_axes_used, items))
    if used > len(extents):
        if not extents and not any(isinstance(i, Tensor) for i in items):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {len(extents)}")
    plan = Plan(extents)
    for item in items:
        if item is Ellipsis:
            plan.keep_whole(len(extents) - used)
            used = len(extents)
        else:
            _add(plan, item)
    plan.keep_whole(len(extents) - plan.axis)
    return plan


def _as_item(item: Any) -> Any:
    """Sequences and numpy arrays as tensors, numbers as Python's."""
    if item is None or item is Ellipsis or isinstance(item, (bool, slice)):
        return item
    if isinstance(item, Tensor):
        return _index_tensor(item)
    if isinstance(item, (list, tuple, range, np.ndarray)):
        made = tensor(item)
        return _index_tensor(cast(made, int64) if not made.ndarray.size else made)
    try:
        return operator.index(item)
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type(item).__name__})"
        ) from None


def _index_tensor(index: Tensor) -> Any:
    if index.dtype.is_floating_point:
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {index.dtype!r}")
    return index if index.dtype in (int64, bool_) else cast(index, int64)


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndarray.ndim if isinstance(item, Tensor) and item.dtype is bool_ else 1


def _add(plan: Plan, item: Any) -> None:
    if item is None:
        plan.shape.append(1)
        plan.title = "UnsqueezeBackward0"
    elif isinstance(item, bool):
        plan.pick_from_new_axis(full((int(item),), 0, int64))
    elif isinstance(item, int):
        plan.drop(_position(item, plan))
        plan.title = "SelectBackward0"
    elif isinstance(item, slice):
        plan.keep(*_bounds(item, plan.extents[plan.axis]))
        plan.title = "SliceBackward0"
    elif item.dtype is bool_:
        _add_mask(plan, item)
    else:
        plan.pick(item)


def _position(index: int, plan: Plan) -> int:
    extent = plan.extents[plan.axis]
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for dimension {plan.axis} with size {extent}")
    return index % extent


def _bounds(part: slice, extent: int) -> tuple[int, int, int]:
    step = 1 if part.step is None else operator.index(part.step)
    if step <= 0:
        raise ValueError("step must be greater than zero; reverse with flip()")
    start, stop, _ = slice(*(None if n is None else operator.index(n) for n in (part.start, part.stop))).indices(extent)
    return min(start, extent), max(start, stop), step


def _add_mask(plan: Plan, mask: Any) -> None:
    """A mask is the positions where it is True; how many these are is data, so a recording refuses it here."""
    shape = mask.ndarray.shape
    there = plan.extents[plan.axis : plan.axis + len(shape)]
    if there != shape:
        raise IndexError(
            f"The shape of the mask {list(shape)} at index {plan.axis} does not match the shape of the indexed tensor "
            f"{list(plan.extents)} at index {plan.axis}"
        )
    values = eager().read(mask.detach(), "indexing with a mask")
    if not shape:
        plan.pick_from_new_axis(full((int(values),), 0, int64))
        return
    for positions in np.nonzero(values):
        plan.pick(eager().literal(positions.astype(np.int64)))


# -------------------------------------------------------------------------------------------------------- the region


def _region(x: Any, plan: Plan) -> Any:
    """The view of `x` that numbers, slices and None leave."""
    part = movement.slice(x, tuple(plan.starts), tuple(plan.stops), tuple(plan.steps))
    shape = tuple(plan.shape)
    part = part if part.ndarray.shape == shape else movement.reshape(part, shape)
    relabel(part, plan.title, (x,))
    return part


# ------------------------------------------------------------------------------------------------------------- picks


@dataclass(frozen=True)
class Picking:
    """Index tensors on a region: which axes they pick from, and one index into these axes taken as one."""

    axes: Shape
    index: Any  # int64, of the common shape of all index tensors
    extents: Shape  # the region's

    @property
    def to_front(self) -> Shape:
        """The order of axes that brings the picked ones to the front."""
        return (*self.axes, *(a for a in range(len(self.extents)) if a not in self.axes))

    @property
    def place(self) -> int:
        """Where the index's axes stand in the result: at the picked ones if these are neighbours, else in front."""
        neighbours = self.axes == tuple(range(self.axes[0], self.axes[0] + len(self.axes)))
        return self.axes[0] if neighbours else 0

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


def _picking(plan: Plan) -> Picking:
    axes = tuple(axis for axis, _ in plan.picks)
    extents = tuple(plan.shape)
    if len(axes) == 1:
        return Picking(axes, plan.picks[0][1], extents)
    index = _joined([(i, extents[a], axis) for (a, i), axis in zip(plan.picks, plan.picked_axes, strict=True)])
    return Picking(axes, index, extents)


def _taken(x: Any, index: Any, axis: int) -> Any:
    """``x[index]``, where rows of x stand for positions in `axis` of the user's tensor."""
    try:
        return ops.take(x, index)
    except IndexError as error:
        raise IndexError(str(error).replace("dimension 0", f"dimension {axis}")) from None


def _joined(picks: list[tuple[Any, int, int]]) -> Any:
    """One index for several axes taken as one. ``iota[index]`` checks each and counts negative ones from the end."""
    try:
        shape = broadcast_shapes(*(index.ndarray.shape for index, _, _ in picks))
    except RuntimeError:
        shapes = ", ".join(str(list(index.shape)) for index, _, _ in picks)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    joined: Any = 0
    for index, extent, axis in picks:
        joined = joined * extent + _taken(iota((extent,), 0, int64), index, axis)
    return joined if joined.ndarray.shape == shape else movement.broadcast(joined, shape)


def getitem(x: Any, key: Any) -> Any:
    """``x[key]``. IndexError for what is out of range or does not fit, ValueError for negative steps."""
    plan = _plan(x, key)
    if not plan.picks:
        return _region(x, plan)
    region = x if plan.is_whole() else _region(x, plan)
    picking = _picking(plan)
    taken = _taken(picking.rows(region), picking.index, plan.picked_axes[0])
    if picking.place:
        taken = movement.transpose(taken, picking.from_front)
    relabel(taken, "IndexBackward0", (region,))
    return taken


# ----------------------------------------------------------------------------------------------------------- writing


def setitem(x: Any, key: Any, value: Any) -> None:
    """``x[key] = value``; `value` is broadcast and converted. Errors as in reading."""
    if isinstance(key, Tensor) and key.dtype is bool_ and _is_single(value):
        _fill_where(x, key, value)
        return
    plan = _plan(x, key)
    if not plan.picks:
        region = _region(x, plan)
        copy_into(region, _without_leading_ones(value, region.ndarray.ndim))
    else:
        write_picked(x, plan, value, accumulate=False)


def _is_single(value: Any) -> bool:
    return not isinstance(value, Tensor) or value.ndarray.size == 1


def _fill_where(x: Any, mask: Any, value: Any) -> None:
    """One value everywhere in a mask: a choice, which needs no look at the mask."""
    extents, shape = x.ndarray.shape, mask.ndarray.shape
    if extents[: len(shape)] != shape:
        raise IndexError(
            f"The shape of the mask {list(shape)} at index 0 does not match the shape of the indexed tensor "
            f"{list(extents)} at index 0"
        )
    mask = movement.reshape(mask, shape + (1,) * (len(extents) - len(shape)))
    if isinstance(value, Tensor):
        value = converted(movement.reshape(value, ()), x.dtype)
    else:
        value = current().constant(fitting(value, x.dtype), x.dtype)
    filled = where(mask, value, x)
    relabel(filled, "IndexPutBackward0", (x,))
    assign(x, filled)


def _without_leading_ones(value: Any, ndim: int) -> Any:
    if not isinstance(value, Tensor):
        return value if isinstance(value, (bool, int, float)) else tensor(value)
    shape = value.ndarray.shape
    extra = len(shape) - ndim
    if extra <= 0 or any(n != 1 for n in shape[:extra]):
        return value
    return movement.reshape(value, shape[extra:])


def write_picked(x: Any, plan: Plan, value: Any, accumulate: bool) -> None:
    """Store `value` at (or, to `accumulate`, add it to) the elements that a plan with picks names."""
    region = x if plan.is_whole() else _region(x, plan)
    picking = _picking(plan)
    rows = picking.rows(region)
    source = _source(value, picking, x.dtype)
    written = (ops.index_add if accumulate else ops.put)(rows, picking.index, source)
    moved = movement.reshape(written, tuple(picking.extents[a] for a in picking.to_front))
    back = tuple(int(i) for i in np.argsort(picking.to_front))
    out = movement.transpose(moved, back)
    relabel(out, "IndexPutBackward0", (region, value))
    assign(region, out)


def _source(value: Any, picking: Picking, dtype: Any) -> Any:
    """`value` in the shape in which it is written: the index's axes first."""
    rest = [n for a, n in enumerate(picking.extents) if a not in picking.axes]
    index_shape = picking.index.ndarray.shape
    result = (*rest[: picking.place], *index_shape, *rest[picking.place :])
    if not isinstance(value, Tensor):
        value = tensor(value)
    value = _without_leading_ones(converted(value, dtype), len(result))
    if _common_shape(value.ndarray.shape, result) != result:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of "
            f"shape {list(result)}"
        )
    value = value if value.ndarray.shape == result else movement.broadcast(value, result)
    axes = range(picking.place, picking.place + len(index_shape))
    front = (*axes, *(a for a in range(len(result)) if a not in axes))
    return movement.transpose(value, front) if picking.place else value


def _common_shape(*shapes: Shape) -> Shape | None:
    """The common shape, None where there is none."""
    try:
        return broadcast_shapes(*shapes)
    except RuntimeError:
        return None


def index_put_(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """``x[indices] = values``, or ``+=`` that counts repeated indices with `accumulate`; returns `x`."""
    write_picked(x, _plan(x, tuple(indices)), values, accumulate)
    return x
