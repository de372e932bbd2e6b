"""Writes to axes that show one element again and again, those that ``expand`` makes.

What writes element by element is refused there (`ops.array.require_writable`). PyTorch lets pass what fills, and what
writes through indices: of several values for one element the last one stays, to `accumulate` adds them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ops import indexing as ops
from ...ops import movement
from ...ops.array import repeated_axes
from ...ops.comparison import where
from ...ops.reductions import amax, sum
from ...ops.sources import full, iota
from ...ops.types import int64
from ...tracing.user_warning import warn_user

#: Brings what is written to rows into the shape of the region again.
Back = Callable[[Any], Any]


def warn_of_repeated(name: str) -> None:
    """UserWarning: PyTorch will refuse such a write by the method `name` some day."""
    warn_user(f"Use of {name} on expanded tensors is deprecated. clone() the tensor before performing this operation.")


def each_once(x: Any) -> Any:
    """`x`, of axes that `expand` has made the first row alone: each element that it shows, once."""
    axes = repeated_axes(x.ndarray)
    if not axes:
        return x
    extents = x.ndarray.shape
    stops = tuple(1 if axis in axes else n for axis, n in enumerate(extents))
    return movement.slice(x, (0,) * len(extents), stops, (1,) * len(extents))


def filled_once(x: Any, value: Any) -> Any:
    """What `each_once` of `x` holds when `value`, which is `x` with one number at some places, is written to it."""
    order = movement.reshape(iota((value.ndarray.size,), 0, int64), value.ndarray.shape)
    return _last(x, where(value != x, order, -1), value)


def put_once(x: Any, rows: Any, index: Any, source: Any, back: Back) -> Any:
    """What `each_once` of `x` holds when the rows of `source` are written to `rows` of it, at `index`."""
    order = movement.reshape(iota((source.ndarray.size,), 0, int64), source.ndarray.shape)
    return _last(x, back(ops.put(full(rows.ndarray.shape, -1, int64), index, order)), source)


def added_once(x: Any, rows: Any, index: Any, source: Any, back: Back) -> Any:
    """What `each_once` of `x` holds when the rows of `source` are added to `rows` of it, at `index`."""
    added = back(ops.index_add(full(rows.ndarray.shape, 0, x.dtype), index, source))
    once = each_once(x)
    return once + movement.reshape(sum(added, repeated_axes(x.ndarray)), once.ndarray.shape)


def _last(x: Any, order: Any, source: Any) -> Any:
    """The elements of `x`, where `order` names some of `source` by their numbers the one with the largest of these."""
    once = each_once(x)
    latest = movement.reshape(amax(order, repeated_axes(x.ndarray)), once.ndarray.shape)
    if not source.ndarray.size:
        return once
    values = movement.reshape(source, (source.ndarray.size,))
    places = movement.reshape(where(latest < 0, 0, latest), (math.prod(latest.ndarray.shape),))
    return where(latest < 0, once, movement.reshape(ops.take(values, places), latest.ndarray.shape))
