"""Rows of tensors: one of them as a view, and batches of them, which need not be asked for one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..ops import movement
from ..ops.array import Buffer, eager
from ..ops.core import Step, current, reads_now, switch
from ..ops.movement import reshape_primitive, slice_primitive
from ..ops.types import Type
from ..tape.grad_mode import switches
from ..tape.moved import MovedNode
from ..tracing.watch import local, watcher
from .calling.numpy_index import index_tensors, is_forward, numpy_index, picks, region_and_picks
from .composite import relabel
from .operands import PLAIN_TENSORS
from .tensor import EAGER, Tensor, make
from .written.picked import in_rows, picked_with_history

Shape = tuple[int, ...]


def _nothing(_: Any) -> bool:
    return False


def row(x: Any, index: int) -> Tensor | None:
    """``x[index]`` where nobody records what is done: the view that the ops make, in one go. None where it takes the
    ops, or there is no such row."""
    array = x.ndarray
    if not array.ndim or not _is_shown_at_once(x):
        return None
    extent, *others = array.shape
    if not -extent <= index < extent:
        return None
    place, rest = index % extent, tuple(others)
    bounds = (place, *(0,) * len(rest)), (place + 1, *rest), (1,) * array.ndim
    return _region(x, array[place, ...], bounds, (1, *rest), "SelectBackward0")


def basic_view(x: Any, key: Any) -> Tensor | None:
    """``x[key]`` where nobody records what is done, for numbers, slices, None and ``...``: the view that the ops make,
    in one go. None where it takes the ops, or there is no such region."""
    if not _is_shown_at_once(x):
        return None
    if type(key) is slice and current() is EAGER:
        key = _with_numbers(key)
    items = key if type(key) is tuple else (key,)
    found = _bounds(x.ndarray.shape, items)
    if found is None and type(key) is tuple and current() is EAGER:
        items = tuple(map(_number, key))  # ``table[state, action]``
        found = _bounds(x.ndarray.shape, items)
    return None if found is None else _cut(x, found[:3], found[3], _title(items))


def part_along(x: Any, axis: int, start: Any, length: Any, shape: Shape, title: str) -> Tensor | None:
    """`length` elements along `axis` in that shape, where nobody records what is done; without a node, if `title` is
    empty. None where it takes the ops."""
    if type(start) is not int or not _is_shown_at_once(x):
        return None
    stops = x.ndarray.shape
    starts = (*(0,) * axis, start, *(0,) * (len(stops) - axis - 1))
    return _cut(x, (starts, (*stops[:axis], start + length, *stops[axis + 1 :]), (1,) * len(stops)), shape, title)


def _cut(x: Any, bounds: Sequence[Shape], shape: Shape, title: str) -> Tensor:
    """The region between `bounds`, in that shape."""
    place = (..., *map(slice, *bounds))
    part = x.ndarray[place]
    extents = part.shape
    return _region(x, part if extents == shape else part.reshape(shape), bounds, extents, title)


def _is_shown_at_once(x: Any) -> bool:
    """Whether a view of `x` is made in one go: of tensors that override nothing, where nobody records; where ops are
    put off, of what is there."""
    if type(x) not in PLAIN_TENSORS or local.watcher is not None:
        return False
    stack = switch.stack
    if not stack or stack[-1][0] is EAGER:
        return True
    return not x.requires_grad and getattr(stack[-1][0], "shows_what_is_there", _nothing)(x)


def _region(x: Any, part: np.ndarray, bounds: Sequence[Shape], extents: Shape, title: str) -> Tensor:
    """The view `part` of a region of these extents, with the steps that the ops would take, and one node for them."""
    starts, stops, strides = bounds
    shape = part.shape
    steps = (*x.steps, Step(slice_primitive, (("starts", starts), ("stops", stops), ("steps", strides))))
    if extents != shape:
        steps = (*steps, Step(reshape_primitive, (("shape", shape),)))
    view = make(part, x.buffer, steps)
    if (x._node is not None or x._requires or x._base is not None) and title and switches.enabled and x.requires_grad:
        facts = (x.type_, starts, strides, extents)
        view._node = MovedNode.made(title, slice_primitive, (x,), view, (0,), _to_region, *facts)
    view.note_view_of(x)
    return view


def _to_region(g: Any, wanted: Any, of: Type, starts: Shape, strides: Shape, extents: Shape) -> list[Any]:
    return [movement.among_zeros(g, of, starts, strides, extents)]


def shown(x: Any, key: Any) -> Any:
    """``x[key]`` by ops, for numbers, slices, None and ``...``. None for numbers that are data in a recording, and if
    there is no such region."""
    items = key if type(key) is tuple else (key,)
    found = _bounds(x.ndarray.shape, items)
    if found is None:
        return None
    starts, stops, strides, shape = found
    part = movement.slice(x, starts, stops, strides)
    if part.ndarray.shape != shape:
        part = movement.reshape(part, shape)
    if part._node is not None:
        relabel(part, _title(items), (x,))
    return part


def _title(items: tuple[Any, ...]) -> str:
    """What PyTorch calls the node of a view: it is that of the last part of the key."""
    for item in reversed(items):
        if item is not Ellipsis:
            return _TITLES[type(item)]
    return "AliasBackward0"


_TITLES = {int: "SelectBackward0", slice: "SliceBackward0", type(None): "UnsqueezeBackward0"}


def picked(x: Any, index: Any) -> Tensor | None:
    """``x[index]`` where nobody records what is done, for a mask of the first axes or rows by number, in one go. None
    where it takes the ops, or the key is no such mask, or a row is not there."""
    if type(x) not in PLAIN_TENSORS or watcher() is not None:
        return None
    tracked = switches.enabled and x.requires_grad
    array, chosen = x.ndarray, index.ndarray
    if not chosen.ndim and type(number := _number(index)) is int and current() is EAGER:
        return row(x, number)
    if not chosen.ndim or not array.ndim or type(x.buffer) is not Buffer or tracked and current() is not EAGER:
        return None
    if chosen.dtype == bool:
        if chosen.shape != array.shape[: chosen.ndim] or not _is_read_now(x, index, "indexing with a mask"):
            return None
        return picked_with_history(x, 0, (chosen,), (index,)) if tracked else make(array[chosen])
    if chosen.dtype != np.int64 or not reads_now(x, index):
        return None
    try:
        return picked_with_history(x, 0, (chosen,), (index,)) if tracked else make(array.take(chosen, axis=0))
    except IndexError:
        return None  # the ops say which it is


def picked_several(x: Any, key: Any) -> Tensor | None:
    """``x[key]`` for a key in which tensors or lists pick, of a plain tensor, in plain eager mode. None where it takes
    the ops, or these say what is wrong."""
    if switch.stack or type(x) not in PLAIN_TENSORS or type(x.buffer) is not Buffer or local.watcher is not None:
        return None
    try:
        place = numpy_index(key)
        if not picks(place):
            return None
        if switches.enabled and x.requires_grad:
            region, (axis, arrays) = region_and_picks(place, x.ndarray.shape)
            part = x if region is None else basic_view(x, region)
            return part if part is None else picked_with_history(part, axis, arrays, index_tensors(key))
        taken = x.ndarray[place]
    except IndexError:
        return None
    return make(in_rows(taken))


def _of_tuple(x: Any, key: Any) -> Tensor | None:
    view = basic_view(x, key)
    return picked_several(x, key) if view is None else view


def _is_read_now(x: Any, index: Any, purpose: str) -> bool:
    """`reads_now` for an index whose numbers are needed in any case."""
    interpreter = current()
    if interpreter is EAGER:
        return True
    if not hasattr(interpreter, "reads_now"):
        return False
    eager().read(index.detach(), purpose)
    return reads_now(x, index)


#: Keys that may name a region; numbers, of which there are most, are asked for by `row` first.
OF_REGIONS = (int, slice, tuple, type(None), type(Ellipsis))
#: How to read what a key names in one go.
READ_AT_ONCE: dict[type, Callable[[Any, Any], Tensor | None]] = {
    **dict.fromkeys(OF_REGIONS, basic_view),
    Tensor: picked,
    tuple: _of_tuple,
    list: picked_several,
}


def _bounds(extents: Shape, items: tuple[Any, ...]) -> tuple[Shape, Shape, Shape, Shape] | None:
    """Where the parts of all axes begin, end and how they stride, and the shape of the region."""
    starts, stops, strides = [0] * len(extents), list(extents), [1] * len(extents)
    shape: list[int] = []
    axis = 0
    for number, item in enumerate(items):
        if item is None:
            shape.append(1)
        elif item is Ellipsis:
            later = items[number + 1 :]
            whole = len(extents) - axis - sum(type(each) is int or type(each) is slice for each in later)
            shape += extents[axis : axis + max(whole, 0)]
            axis = min(axis + max(whole, 0), len(extents))
        elif axis >= len(extents):
            return None
        elif type(item) is int:
            extent = extents[axis]
            if not -extent <= item < extent:
                return None
            starts[axis] = place = item % extent
            stops[axis] = place + 1
            axis += 1
        elif type(item) is slice and is_forward(item):
            starts[axis], stop, stride = item.indices(extents[axis])
            stops[axis], strides[axis] = max(starts[axis], stop), stride
            shape.append(-(-(stops[axis] - starts[axis]) // stride))
            axis += 1
        else:
            return None
    return tuple(starts), tuple(stops), tuple(strides), (*shape, *extents[axis:])


def _with_numbers(part: slice) -> slice:
    """A slice with the numbers of plain tensors that say where it begins and ends (``data[i : i + length]``), in eager
    mode."""
    start, stop = part.start, part.stop
    if type(start) is Tensor or type(stop) is Tensor:
        return slice(_number(start), _number(stop), part.step)
    return part


def _number(item: Any) -> Any:
    """The number of a plain tensor that is an index; anything else as it is."""
    if type(item) is Tensor and not item.ndarray.ndim and item.ndarray.dtype == np.int64:
        return item.ndarray.item()
    return item


class RowBatches(Iterator[Any]):
    """An iterator whose next batches can be known before they are taken: rows of `tensors`, each of which is plain,
    contiguous and requires no gradient.

    `permutation` is what random words and a length are given to for 0 ... n-1 in random order; None: the op of eager
    mode, which is slower and gives the same.
    """

    permutation: Callable[[np.ndarray, int], np.ndarray] | None = None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors, as they are now."""
        raise NotImplementedError

    def rows_ahead(self) -> np.ndarray | None:
        """int64 (batches, rows of a batch): the batches that come next, as far as they are known; looking ahead draws
        no random numbers but those that taking the first of them draws. None if nothing is known."""
        raise NotImplementedError

    def skip(self, count: int) -> None:
        """Leave out so many of the batches that are known."""
        raise NotImplementedError


class StackedRows:
    """What is indexed by number: item i is made of the i-th rows of `tensors`."""

    tensors: tuple[Tensor, ...]

    def has_own_rows(self) -> bool:
        """False for what gives other items than the class that says this, a subclass for example."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError


class StackedTensors(StackedRows):
    """Tensors of one length."""

    def __init__(self, tensors: tuple[Tensor, ...]) -> None:
        self.tensors = tensors

    def has_own_rows(self) -> bool:
        return True

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)


def are_plain_rows(tensors: Any) -> bool:
    """True for a tuple of plain contiguous tensors with rows, as many in each, none of which requires a gradient."""
    return (
        type(tensors) is tuple
        and len(tensors) > 0
        and all(type(t) is Tensor and t.ndarray.ndim > 0 and not t.requires_grad for t in tensors)
        and all(t.ndarray.flags.c_contiguous and t.ndarray.flags.aligned for t in tensors)
        and len({len(t.ndarray) for t in tensors}) == 1
    )
