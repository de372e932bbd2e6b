"""Values in the form in which an index writes them."""

from __future__ import annotations

from itertools import dropwhile
from typing import Any

from ...ops import movement
from ...ops.pointwise import converted
from ...ops.sources import full
from ...ops.types import bool_, broadcast_shapes, uint8
from ..arguments import Shape
from ..calling.assigned import check_filled_in, is_filled_in
from ..creation import tensor
from ..data import fitting
from ..index_plan import Picking, Plan
from ..tensor import Tensor


def source_of(value: Any, picking: Picking, dtype: Any) -> Any:
    """`value` in the shape in which it is written: the index's axes first."""
    rest = [n for a, n in enumerate(picking.extents) if a not in picking.axes]
    index_shape = picking.index.ndarray.shape
    result = (*rest[: picking.place], *index_shape, *rest[picking.place :])
    check_put(value, dtype)
    value = value if isinstance(value, Tensor) else full((), fitting(value, dtype), dtype)
    value = without_leading_ones(converted(value, dtype), len(result))
    if common_shape(value.ndarray.shape, result) != result:
        if picking.index.ndarray.size and not all(picking.extents[axis] for axis in picking.axes):
            raise IndexError("index is out of bounds for dimension with size 0")
        sizes = list(dropwhile(lambda extent: extent == 1, value.ndarray.shape))
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {sizes} cannot be broadcast to indexing result of "
            f"shape {list(result)}"
        )
    value = value if value.ndarray.shape == result else movement.broadcast(value, result)
    axes = range(picking.place, picking.place + len(index_shape))
    front = (*axes, *(a for a in range(len(result)) if a not in axes))
    return movement.transpose(value, front) if picking.place else value


def check_put(value: Any, dtype: Any) -> None:
    """RuntimeError unless `value` is a number, or a tensor of the type of what it is written to."""
    if isinstance(value, Tensor) and value.dtype is not dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {dtype.title} for the destination and "
            f"{value.dtype.title} for the source. Convert the source, e.g. with .to(x.dtype)."
        )


def without_leading_ones(value: Any, ndim: int) -> Any:
    """`value` as a tensor of at most `ndim` axes, if those in front are of extent 1; a number as it is."""
    if isinstance(value, (bool, int, float)):
        return value
    value = value if isinstance(value, Tensor) else tensor(value)
    shape = value.ndarray.shape
    extra = len(shape) - ndim
    return value if extra <= 0 or any(n != 1 for n in shape[:extra]) else movement.reshape(value, shape[extra:])


def common_shape(*shapes: Shape) -> Shape | None:
    """What the shapes are broadcast to, None where they do not fit."""
    try:
        return broadcast_shapes(*shapes)
    except RuntimeError:
        return None


def as_put(plan: Plan, key: Any, value: Any, dtype: Any) -> Any:
    """`value` as it is written where nothing but numbers or one mask pick: converted, a single one at a mask."""
    is_filled = plan.fills() and is_filled_in(bool_, value)
    if is_filled:
        types = [getattr(item, "dtype", None) for item in (key if isinstance(key, tuple) else (key,))]
        check_filled_in(uint8 if uint8 in types else bool_, value, dtype)
    return converted(value, dtype) if isinstance(value, Tensor) and (is_filled or plan.selects()) else value
