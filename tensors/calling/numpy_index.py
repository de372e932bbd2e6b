"""Keys of ``x[key]`` that numpy reads as PyTorch does, as numpy takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape.direct import INT64
from ..tensor import Tensor

_BOOL = np.dtype(bool)
_PICKS = {np.ndarray, int}


def numpy_index(key: Any) -> Any:
    """What numpy takes for `key`, in plain eager mode; IndexError for what the ops look at more closely.

    Where tensors pick, numpy counts numbers among them, which is another order of axes if there are slices.
    """
    if type(key) is int:
        return key
    if type(key) is not tuple:
        return _item(key)
    items = tuple([_item(item) for item in key])
    kinds = {type(item) for item in items}
    if np.ndarray in kinds and int in kinds and not kinds <= _PICKS:
        raise IndexError
    return items


def picks(place: Any) -> bool:
    """Whether what numpy gives for this index is a copy."""
    return type(place) is np.ndarray or type(place) is tuple and any(type(item) is np.ndarray for item in place)


def _item(item: Any) -> Any:
    kind = type(item)
    if kind is int or kind is slice and is_forward(item) or item is None or item is Ellipsis:
        return item
    if kind is Tensor:
        chosen = item.ndarray
        # (Masks without elements fit all axes in numpy.)
        if chosen.ndim and (chosen.dtype is INT64 or chosen.dtype is _BOOL and chosen.size):
            return chosen
        if chosen.dtype is INT64:
            return chosen.item()
    elif kind is list and item and all(type(number) is int for number in item):
        return np.array(item, np.int64)
    raise IndexError


def is_forward(part: slice) -> bool:
    """Whether a slice is one of Python's integers, with a stride that tensors take."""
    for each in (part.start, part.stop, part.step):
        if each is not None and type(each) is not int:
            return False
    return part.step is None or part.step > 0


def index_tensors(key: Any) -> tuple[Tensor, ...]:
    """The tensors in `key` that pick."""
    items = key if type(key) is tuple else (key,)
    return tuple([item for item in items if type(item) is Tensor and item.ndarray.ndim])


def region_and_picks(place: Any, extents: tuple[int, ...]) -> tuple[Any, tuple[int, tuple[np.ndarray, ...]]]:
    """A numpy index in which arrays pick as two: that of the region which all other parts leave, None where this is
    everything, and what picks from it: from which axis on, and the arrays. IndexError where these are no neighbours."""
    items = place if type(place) is tuple else (place,)
    used = sum([_axes_used(item) for item in items])
    region: list[Any] = []
    picks: list[np.ndarray] = []
    first, axis, limits, whole = 0, 0, 0, True
    for item in items:
        if type(item) is np.ndarray:
            if picks and axis > first:
                raise IndexError
            first = axis if not picks else first
            region += [_EVERYTHING] * _axes_used(item)
            picks.append(item)
            continue
        region.append(item)
        limits = len(region)  # how much of the region's key is of parts that are no arrays
        axis += len(extents) - used if item is Ellipsis else type(item) is not int
        whole = whole and (item is Ellipsis or type(item) is slice and item == _EVERYTHING)
    return None if whole else tuple(region[:limits]), (first, tuple(picks))


def _axes_used(item: Any) -> int:
    if type(item) is np.ndarray and item.dtype is _BOOL:
        return item.ndim
    return item is not None and item is not Ellipsis


_EVERYTHING = slice(None)
