"""What index tensors pick of a tensor with a history, in plain eager mode: numpy's own indexing and one node."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.core import at_once
from ...ops.indexing import FEW, take_primitive
from ...ops.movement import transpose
from ...ops.sources import zeros
from ...ops.types import Type
from ...tape.placed import PlacedNode
from ...tape.saved import packing
from ...tape.tangents import levels
from ..tensor import Tensor, make

Arrays = tuple[np.ndarray, ...]


def picked_with_history(x: Any, axis: int, arrays: Arrays, indices: Sequence[Any]) -> Tensor | None:
    """What `arrays`, those of `indices` or of lists, pick from the axes of `x` from `axis` on. None where it takes the
    ops; IndexError for what is not there."""
    if packing.hooks or levels.open is not None:
        return None
    out = make(in_rows(x.ndarray[_place(axis, arrays)]))
    facts = axis, arrays, x.type_
    out._node = PlacedNode.at(indices, "IndexBackward0", take_primitive, (x,), out, (0,), _among_zeros, *facts)
    return out


def _place(axis: int, arrays: Arrays) -> tuple[Any, ...]:
    return (*[slice(None)] * axis, *arrays)


def in_rows(taken: np.ndarray) -> np.ndarray:
    """What numpy has picked, row by row; axes of one element have the strides of the ops' result."""
    return taken if taken.flags.c_contiguous and 1 not in taken.shape else taken.copy("C")


def _among_zeros(
    g: Any, wanted: Sequence[bool], indices: Sequence[Any], axis: int, arrays: Arrays, of: Type
) -> list[Any]:
    """Zeros, to which `g` is added where it was picked."""
    interpreter, place = at_once(g), _place(axis, arrays)
    if interpreter is None:
        return [_added_by_ops(g, axis, with_tensors(arrays, indices), of)]
    found = np.zeros(of.shape, of.dtype.numpy)
    if len(arrays) == 1 and arrays[0].dtype == bool:  # which picks nothing twice
        found[place] = g.ndarray
    else:
        np.add.at(found.reshape(-1), _numbered(of.shape)[place].reshape(-1), g.ndarray.reshape(-1))
    return [interpreter.literal(found)]


def _added_by_ops(g: Any, axis: int, picks: tuple[Any, ...], of: Type) -> Any:
    """`_among_zeros` where it may be differentiated again: with the axes that `picks` pick from in front."""
    added: Any = zeros(of)
    if not axis:
        return added.index_put_(picks, g, True)
    count = sum([pick.ndarray.ndim if pick.ndarray.dtype == bool else 1 for pick in picks])
    front: Any = transpose(added, _to_front(axis, count, len(of.shape)))
    front.index_put_(picks, transpose(g, _to_front(axis, g.ndarray.ndim - len(of.shape) + count, g.ndarray.ndim)), True)
    return added


def _to_front(axis: int, count: int, ndim: int) -> tuple[int, ...]:
    """The order of axes that has the `count` ones from `axis` on in front."""
    moved = range(axis, axis + count)
    return (*moved, *[a for a in range(ndim) if a not in moved])


def _numbered(shape: tuple[int, ...]) -> np.ndarray:
    """The number of each place in an array of that shape."""
    return (_kept_numbers if math.prod(shape) <= FEW else _numbers)(shape)


def _numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(math.prod(shape)).reshape(shape)


_kept_numbers = functools.lru_cache(maxsize=128)(_numbers)


def with_tensors(place: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    """A numpy index as ops take it, with these tensors in the place of their arrays; those of lists are made."""
    return tuple([_as_tensor(item, indices) for item in (place if type(place) is tuple else (place,))])


def _as_tensor(item: Any, indices: Sequence[Any]) -> Any:
    if type(item) is not np.ndarray:
        return item
    found = [index for index in indices if index.ndarray is item]
    return found[0] if found else make(item)
