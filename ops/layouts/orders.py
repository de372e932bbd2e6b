"""In which order results lie in memory: PyTorch's rules, by the strides of operands.

* Functions of images suggest a format to their results (`suggested_order`): channels last, or rows.
* Copies, and tensors made like another, keep the order of its axes (`kept_order`).
* Elementwise ops go by the operands in turn (`common_order`): two axes lie as in the first operand that has them apart.

An order names the axes from the slowest in memory to the fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Order = tuple[int, ...]

CHANNELS_LAST: dict[int, Order] = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def suggested_order(array: np.ndarray) -> Order | None:
    """The order of channels last for an image [batch, channels, *space] whose strides say so; None for rows.

    Strides grow from the channels over the space to the batch. Where axes of one element leave it open, it is rows,
    unless the channels' stride is smaller than a row's is.
    """
    strides, shape = array.strides, array.shape
    order = CHANNELS_LAST.get(len(shape))
    if order is None or not strides[1] or 0 in shape:
        return None
    least = 0
    for axis in reversed(order):
        if strides[axis] < least or (not axis and least == strides[1]):
            return None
        least = strides[axis] * shape[axis]
    return order


def kept_order(array: np.ndarray) -> Order:
    """The order in which a copy that keeps it lies."""
    return common_order((array,), array.shape)


def goes_by_rows(array: Any) -> bool:
    """Whether no two axes of an array, or a number, lie another way round than row by row; there may be gaps."""
    steps = list(filter(None, array.strides))
    return steps == sorted(steps, reverse=True)


def common_order(arrays: Sequence[np.ndarray], shape: Shape) -> Order:
    """The order of an elementwise result of `shape`; where no operand has two axes apart, they lie row by row."""
    steps = [_broadcast_strides(array, shape) for array in arrays]
    from_fastest = list(reversed(range(len(shape))))
    for last in range(1, len(shape)):
        place = last
        for before in reversed(range(last)):
            apart = _apart(from_fastest[before], from_fastest[place], steps, shape)
            if apart < 0:
                break
            if apart > 0:
                from_fastest[before], from_fastest[place] = from_fastest[place], from_fastest[before]
                place = before
    return tuple(reversed(from_fastest))


def _broadcast_strides(array: np.ndarray, shape: Shape) -> Shape:
    """Strides along the axes of `shape`: 0 where the array has no such axis, or repeats its one element."""
    added = len(shape) - array.ndim
    along = zip(array.strides, array.shape, shape[added:], strict=True)
    return (0,) * added + tuple(stride if extent == wanted else 0 for stride, extent, wanted in along)


def _apart(first: int, second: int, steps: Sequence[Shape], shape: Shape) -> int:
    """1 if `first` is the slower axis, -1 if `second` is, 0 where no operand says."""
    for strides in steps:
        a, b = strides[first], strides[second]
        if a and b:
            if a != b:
                return 1 if a > b else -1
            if shape[first] > shape[second]:
                return 1
    return 0


def dense_strides(shape: Shape, order: Order, itemsize: int) -> Shape:
    """The strides in bytes of an array without gaps whose axes lie in `order`."""
    strides, step = [0] * len(shape), itemsize
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


def own_strides(array: np.ndarray) -> Shape | None:
    """The strides of an array, None for those of one that is made row by row: numpy also calls an array contiguous
    whose axes of one element have other strides, which its copies keep."""
    if not array.flags.c_contiguous:
        return array.strides
    shape = array.shape
    if 1 not in shape or not array.size:
        return None
    strides, step = array.strides, array.itemsize
    for stride, extent in zip(strides[::-1], shape[::-1], strict=True):
        if stride != step:
            return strides
        step *= extent
    return None


def elementwise_result(out: np.ndarray, operands: Sequence[Any]) -> np.ndarray:
    """The result of an op by elements, of which the first operand is not by rows: one operand decides alone."""
    is_alone = len(operands) == 1 or (len(operands) == 2 and not operands[1].ndim)
    return out if is_alone else in_common_order(out, operands)


def folded(out: np.ndarray, operands: Sequence[Any]) -> np.ndarray:
    """The result of a reduction: by rows."""
    return out if out.flags.c_contiguous else out.copy("C")


def as_made(out: np.ndarray, operands: Sequence[Any]) -> np.ndarray:
    """The result of any other op."""
    return out


def in_common_order(out: np.ndarray, operands: Sequence[Any]) -> np.ndarray:
    """The elementwise result of arrays and numbers as PyTorch lays it out: numpy's is by rows where operands differ."""
    if out.flags.c_contiguous and all(map(goes_by_rows, operands)):
        return out
    arrays = [x for x in operands if isinstance(x, np.ndarray) and x.ndim]
    strides = dense_strides(out.shape, common_order(arrays, out.shape), out.itemsize)
    if out.strides == strides:
        return out
    laid = np.ndarray(out.shape, out.dtype, strides=strides)
    laid[...] = out
    return laid
