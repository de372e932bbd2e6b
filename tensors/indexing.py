"""``x[...]`` and ``x[...] = v``: numbers, slices, None, Ellipsis, index tensors, masks, in any mixture.

An index is read into a `Plan`: the region of the tensor that numbers and slices leave, its shape, and the axes of that
shape that index tensors pick from. Reading a region is a view; picking is a copy. A 0-d index tensor counts as its
number, and selects; a recording, which does not look at it, picks (see `selected.py`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops import indexing as ops
from ..ops import movement
from ..ops.array import eager, repeated_axes
from ..ops.comparison import where
from ..ops.core import current, switch
from ..ops.identity import copy
from ..ops.numbers import computed, stands_in, whole
from ..ops.places.overlaps import refuse_overlap
from ..ops.pointwise import cast, converted
from ..ops.sources import full, iota
from ..ops.types import FLOATING, bool_, broadcast_shapes, int32, int64, uint8
from ..tape.selected import declare_write_to_picked, note_picked
from ..tracing.watch import watcher
from .arguments import mask_of_bytes
from .calling.assigned import are_truths, as_assigned, check_filled_in, is_filled_in
from .calling.sequences import as_list, is_other_sequence
from .composite import relabel
from .creation import tensor
from .data import fitting
from .in_place import assign
from .index_plan import Picking, Plan, joined_by_numpy, picking_items
from .overriding import ask, overloaded, subclasses
from .rows import OF_REGIONS, READ_AT_ONCE, basic_view, row, shown
from .tensor import Tensor
from .written.at_once import write_at_once
from .written.followed import write_followed
from .written.repeated import added_once, each_once, filled_once, put_once, warn_of_repeated
from .written.shared import copy_to, reads_own
from .written.values import as_put, check_put, common_shape, source_of, without_leading_ones

# --------------------------------------------------------------------------------------------------- reading indices


def _plan(x: Any, key: Any, index: Callable[[Any], Any] = operator.index) -> Plan:
    """`index` reads a number."""
    key = as_list(key)
    items = [_as_item(as_list(item), index) for item in (key if _is_several(key) else (key,))]
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
            _add(plan, item, index)
    plan.keep_whole(len(extents) - plan.axis)
    return plan


def _to_pick(number: Any) -> Any:
    """Reads a number of a plan in which stand-ins pick."""
    return whole(number)


def _to_select(number: Any) -> int:
    """Reads a number of a plan in which index tensors without dimensions select in a recording, too, which reads
    them."""
    return operator.index(number)


def _is_several(key: Any) -> bool:
    """True for one index for each axis: a tuple, or (PyTorch's older form) a list in which something is no number."""
    if isinstance(key, list) and len(key) < 32:
        return any(i is None or i is Ellipsis or isinstance(i, _NO_NUMBERS) or is_other_sequence(i) for i in key)
    return isinstance(key, tuple)


_NO_NUMBERS = (list, tuple, range, slice, str, Tensor, np.ndarray)


def _as_item(item: Any, index: Callable[[Any], Any]) -> Any:
    """Sequences and numpy arrays as tensors, numbers as Python's."""
    if item is None or item is Ellipsis or isinstance(item, (bool, slice)):
        return item
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str': an index is made of numbers, slices, None and tensors of them")
    if isinstance(item, Tensor):
        return _index_tensor(item, index is _to_select)
    if isinstance(item, np.ndarray) and not item.ndim and item.dtype.kind in "iu":
        return int(item)
    if isinstance(item, (list, tuple, range, np.ndarray)):
        made = tensor(item)
        # Others lose their fractions, as in PyTorch; what holds nothing tells its type if it is an array.
        whole = (made.ndarray.size or isinstance(item, np.ndarray)) and made.dtype.category < FLOATING
        return _index_tensor(made if whole else cast(made, int64))
    try:
        return index(item)
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type(item).__name__})"
        ) from None


def _index_tensor(index: Tensor, selects: bool = False) -> Any:
    if index.dtype is uint8:  # a mask, not positions
        return mask_of_bytes(index, f"indexing with dtype {uint8} is now deprecated, please use {bool_} instead.")
    is_number = not index.ndarray.ndim and index.dtype is not bool_ and index.dtype.category < FLOATING
    if not is_number and index.dtype not in (int64, int32, bool_):
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {index.dtype!r}")
    if is_number and (selects or watcher() is None):
        return int(eager().read(index.detach(), "indexing with a tensor"))
    return index if index.dtype in (int64, bool_) else cast(index, int64)


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndarray.ndim if isinstance(item, Tensor) and item.dtype is bool_ else 1


def _add(plan: Plan, item: Any, index: Callable[[Any], Any]) -> None:
    if item is None:
        plan.shape.append(1)
        plan.title = "UnsqueezeBackward0"
    elif isinstance(item, bool):
        plan.pick_from_new_axis(full((int(item),), 0, int64))
    elif isinstance(item, int):
        position = _position(item, plan)
        plan.title = "SelectBackward0"
        if index is _to_pick and stands_in(position):
            plan.pick(full((), position, int64))
        else:
            plan.drop(position)
    elif isinstance(item, slice):
        start, stop, step = _bounds(item, plan.extents[plan.axis], index)
        plan.title = "SliceBackward0"
        if index is _to_pick and stands_in(start):
            plan.pick(iota((operator.index(-(-(stop - start) // step)),), 0, int64) * step + start)
        else:
            plan.keep(start, stop, step)
    elif item.dtype is bool_:
        _add_mask(plan, item)
    else:
        plan.pick(item)


def _position(index: int, plan: Plan) -> int:
    extent = plan.extents[plan.axis]
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for dimension {plan.axis} with size {extent}")
    return index % extent


def _bounds(part: slice, extent: int, index: Callable[[Any], Any]) -> tuple[int, int, int]:
    step = 1 if part.step is None else operator.index(part.step)
    if step <= 0:
        raise ValueError("step must be greater than zero; reverse with flip()")
    start = 0 if part.start is None else computed(_within, index(part.start), extent)
    stop = extent if part.stop is None else computed(_within, index(part.stop), extent)
    return start, computed(max, start, stop), step


def _within(index: int, extent: int) -> int:
    """Where a slice of so many elements begins or ends that is said to do so at `index`."""
    return max(0, index + extent) if index < 0 else min(index, extent)


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
    plan.masks.append(len(shape))
    for positions in np.nonzero(values):
        plan.pick(eager().literal(positions.astype(np.int64)))


# ------------------------------------------------------------------------------------------------ region and picks


def _region(x: Any, plan: Plan) -> Any:
    """The view of `x` that numbers, slices and None leave."""
    part = movement.slice(x, tuple(plan.starts), tuple(plan.stops), tuple(plan.steps))
    shape = tuple(plan.shape)
    part = part if part.ndarray.shape == shape else movement.reshape(part, shape)
    relabel(part, plan.title, (x,))
    return part


def _picking(plan: Plan) -> Picking:
    axes, extents = tuple(axis for axis, _ in plan.picks), tuple(plan.shape)
    if len(axes) == 1:
        return Picking(axes, plan.picks[0][1], extents)
    index = _joined([(i, extents[a], axis) for (a, i), axis in zip(plan.picks, plan.picked_axes, strict=True)])
    return Picking(axes, index, extents, plan.selected)


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
    joined: Any = None if switch.stack or watcher() is not None else joined_by_numpy(picks)
    if joined is not None:
        return eager().literal(np.broadcast_to(joined, shape).copy())
    joined = 0
    for index, extent, axis in picks:
        joined = joined * extent + _taken(iota((extent,), 0, int64), index, axis)
    return joined if joined.ndarray.shape == shape else movement.broadcast(joined, shape)


def getitem(x: Any, key: Any) -> Any:
    """``x[key]``. IndexError for what is out of range or does not fit, ValueError for negative steps."""
    if subclasses.exist and (found := overloaded((x, key))):
        return ask(Tensor.__getitem__, "tracegrad.Tensor.__getitem__", found, (x, key), {})
    if type(key) is int and (found_row := row(x, key)) is not None:
        return found_row
    if type(key) in READ_AT_ONCE and (found_part := READ_AT_ONCE[type(key)](x, key)) is not None:
        return found_part
    if type(key) in OF_REGIONS and (found_region := shown(x, key)) is not None:
        return found_region
    plan = _plan(x, key, whole)
    if not plan.picks:
        return _region(x, plan)
    region = x if plan.is_whole() else _region(x, plan)
    picking = _picking(plan)
    rows = picking.rows(movement.by_rows(region) if picking.turns else region)
    taken = _taken(rows, picking.index, plan.picked_axes[0])
    if not picking.index.ndarray.ndim:
        if watcher() is not None:
            note_picked(region, taken, plan.position(lambda index: int(eager().peek(index))))
    elif picking.place:
        taken = copy(movement.transpose(taken, picking.from_front))  # what is picked lies row by row
    if taken._node is not None:
        masks = [each for each in (key if isinstance(key, tuple) else (key,)) if getattr(each, "dtype", None) is bool_]
        relabel(taken, "IndexBackward0", (region,), [each for each in masks if isinstance(each, Tensor)])
    return taken


# ----------------------------------------------------------------------------------------------------------- writing


def setitem(x: Any, key: Any, value: Any) -> None:
    """``x[key] = value``; `value` is broadcast and converted. Errors as in reading; RuntimeError for a complex number
    in a type that does not hold it."""
    if subclasses.exist and (found := overloaded((x, key, value))):
        ask(Tensor.__setitem__, "tracegrad.Tensor.__setitem__", found, (x, key, value), {})
        return
    if write_at_once(x, key, value) or write_followed(x, key, value):
        return
    value = value if isinstance(value, Tensor) else as_assigned(value, x.dtype)
    declare_write_to_picked(x.buffer)
    if type(key) is bool:
        if key:
            copy_to(_region(x, _plan(x, None)), value)
        return
    if are_truths(key):
        key = tensor(key)
    if isinstance(key, Tensor) and key.dtype in (bool_, uint8) and not key.ndarray.ndim:
        key = key if key.dtype is bool_ else _index_tensor(key)
        check_put(value, x.dtype)  # which picks from a new axis
    if isinstance(key, Tensor) and is_filled_in(key.dtype, value):
        _fill_where(x, key, value)
        return
    if type(key) in OF_REGIONS and (seen := (row if type(key) is int else basic_view)(x, key)) is not None:
        copy_to(seen, value)
        return
    if _varies(key) and _write_anywhere(x, key, value):
        return
    plan = _plan(x, key)
    if plan.selected and reads_own(x, plan, value):
        plan = _plan(x, key, _to_select)  # whether that is refused depends on the place
    if not plan.picks:
        copy_to(_region(x, plan), value)
    else:
        _put(x, plan, as_put(plan, key, value, x.dtype))


def _put(x: Any, plan: Plan, value: Any, accumulate: bool = False) -> None:
    if read := reads_own(x, plan, value):
        refuse_overlap(x if plan.is_whole() else _region(x, plan), read, also_in_full=True)
    write_picked(x, plan, value, accumulate)


def _varies(key: Any) -> bool:
    """True for an index of numbers and slices in which one is a stand-in."""
    items = key if isinstance(key, tuple) else (key,)
    if not all(item is None or item is Ellipsis or isinstance(item, (int, slice)) for item in items):
        return False
    return sum(stands_in(i.start) or stands_in(i.stop) if isinstance(i, slice) else stands_in(i) for i in items) == 1


def _write_anywhere(x: Any, key: Any, value: Any) -> bool:
    """Write to where a stand-in says, which is data. False, with nothing done, where eager mode has errors of its own,
    or where only a view of `x` tells what is written."""
    if x.requires_grad or not isinstance(value, (bool, int, float, Tensor)):
        return False
    plan = _plan(x, key, _to_pick)
    if len(plan.picks) != 1 or (isinstance(value, Tensor) and value.ndarray.ndim and reads_own(x, plan, value)):
        return False  # of its own memory: whether that is refused depends on the place
    axis, index = plan.picks[0]
    shape = (*plan.shape[:axis], *index.ndarray.shape, *plan.shape[axis + 1 :])
    if isinstance(value, Tensor):
        value = converted(without_leading_ones(value, len(shape)), x.dtype)
        if common_shape(value.ndarray.shape, shape) != shape:
            return False
    else:
        value = full((), fitting(value, x.dtype), x.dtype)
    write_picked(x, plan, value, accumulate=False, title="CopySlices")
    return True


def _fill_where(x: Any, mask: Any, value: Any) -> None:
    """One value everywhere in a mask: a choice, which needs no look at the mask."""
    extents, shape = x.ndarray.shape, mask.ndarray.shape
    if extents[: len(shape)] != shape:
        raise IndexError(
            f"The shape of the mask {list(shape)} at index 0 does not match the shape of the indexed tensor "
            f"{list(extents)} at index 0"
        )
    check_filled_in(mask.dtype, value, x.dtype)
    mask = movement.reshape(mask, shape + (1,) * (len(extents) - len(shape)))
    if isinstance(value, Tensor):
        value = converted(movement.reshape(value, ()), x.dtype)
    else:
        value = current().constant(fitting(value, x.dtype), x.dtype)
    filled = where(mask, value, x)
    if repeated_axes(x.ndarray):
        warn_of_repeated("masked_fill_")
        assign(each_once(x), filled_once(x, filled))
        return
    relabel(filled, "IndexPutBackward0", (x,))
    assign(x, filled)


getitem.__name__, setitem.__name__ = "__getitem__", "__setitem__"


def delitem(x: Any, key: Any) -> None:
    """TypeError: tensors keep their elements."""
    raise TypeError("Tensor does not support deleting items; index what is to stay")


def write_picked(x: Any, plan: Plan, value: Any, accumulate: bool, title: str = "IndexPutBackward0") -> None:
    """Store `value` at (or, to `accumulate`, add it to) the elements that a plan with picks names."""
    region = x if plan.is_whole() else _region(x, plan)
    picking = _picking(plan)
    rows = picking.rows(region)
    source = source_of(value, picking, x.dtype)
    if repeated_axes(region.ndarray):
        warn_of_repeated("index_put_")
        folded = (added_once if accumulate else put_once)(region, rows, picking.index, source, picking.from_rows)
        assign(each_once(region), folded)
        return
    out = picking.from_rows((ops.index_add if accumulate else ops.put)(rows, picking.index, source))
    relabel(out, title, (region, value))
    assign(region, out)


def index_put_(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """``x[indices] = values``, or ``+=`` that counts repeated indices with `accumulate`; returns `x`."""
    declare_write_to_picked(x.buffer)
    _put(x, _plan(x, picking_items(indices)), values, accumulate)
    return x
