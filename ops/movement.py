"""Movement: output elements are input elements at other places. Shapes are tuples of ints, axes are non-negative."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import memory
from .core import Movement, Number, at_once, bind, current, define
from .identity import copy, lay
from .layouts.orders import dense_strides, kept_order, suggested_order
from .sources import zeros
from .types import Type

Shape = tuple[int, ...]


def _reshaped(x: Type, shape: Shape) -> Type:
    out = Type(x.dtype, shape)
    if out.size != x.size:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {x.size}")
    return out


reshape_primitive = define(
    "reshape",
    ("x",),
    type=_reshaped,
    eval=lambda x, shape: x.reshape(shape),
    lower=Movement("reshape", view=True),
    vjp={"x": lambda g, x_type: reshape(g, x_type.shape)},
    backward_name="ViewBackward0",
)


def shape_of(x: Any) -> Shape:
    """The shape of an operand; of an array without making its type, which costs as much as a short op."""
    array = getattr(x, "ndarray", None)
    return current().type_of(x).shape if array is None else array.shape


def reshape(x: Any, shape: Shape) -> Any:
    """The same elements in row-major order under another shape (no -1 here)."""
    return bind(reshape_primitive, x, shape=shape)


def _transposed(x: Type, permutation: Shape) -> Type:
    if sorted(permutation) != list(range(x.ndim)):
        raise RuntimeError(f"permute(dims): {permutation} is no order of the {x.ndim} axes of {x}")
    return Type(x.dtype, tuple(x.shape[axis] for axis in permutation))


@functools.lru_cache(maxsize=1024)
def _inverse(permutation: Shape) -> Shape:
    return tuple(int(i) for i in np.argsort(permutation))


transpose_primitive = define(
    "transpose",
    ("x",),
    type=_transposed,
    eval=lambda x, permutation: x.transpose(permutation),
    lower=Movement("transpose", view=True),
    vjp={"x": lambda g, permutation: transpose(g, _inverse(permutation))},
    backward_name="PermuteBackward0",
)


def transpose(x: Any, permutation: Shape) -> Any:
    """Axis i of the result is axis ``permutation[i]`` of x."""
    return bind(transpose_primitive, x, permutation=permutation)


def broadcast_along(x: Any, axes: Shape, shape: Shape) -> Any:
    """Undo a fold: put the folded `axes` back with extent 1 and broadcast to `shape`."""
    kept = tuple([1 if axis in axes else extent for axis, extent in enumerate(shape)])
    if (interpreter := at_once(x)) is not None and x.ndarray.size == math.prod(kept):  # `reshape` says of others why
        return interpreter.literal(_repeated(x.ndarray.reshape(kept), shape))
    return broadcast(reshape(x, kept), shape)


def _broadcast(x: Type, shape: Shape) -> Type:
    added = len(shape) - x.ndim
    if added < 0:
        raise RuntimeError(
            f"the number of sizes provided ({len(shape)}) must be greater or equal to the number of dimensions "
            f"in the tensor ({x.ndim})"
        )
    for axis, extent in zip(range(len(shape) - 1, added - 1, -1), reversed(x.shape), strict=True):
        wanted = shape[axis]
        if extent not in (1, wanted):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({extent}) "
                f"at non-singleton dimension {axis}.  Target sizes: {list(shape)}.  Tensor sizes: {list(x.shape)}"
            )
    return Type(x.dtype, shape)


def _stretched(x: np.ndarray, shape: Shape) -> np.ndarray:
    """``np.broadcast_to``, without what that asks first: it takes twice as long."""
    view: np.ndarray = np.nditer((x,), _FLAGS, _READ, itershape=shape, order="C").itviews[0]
    return view


_FLAGS: Any = ["multi_index", "refs_ok", "zerosize_ok"]
_READ: Any = ["readonly"]


def _repeated(x: np.ndarray, shape: Shape) -> np.ndarray:
    """numpy's view, but axes that stay at one element keep their stride, and new ones of one have a row's, as in
    PyTorch; a part of it that shows no element twice can be written (`array.require_writable`)."""
    out = _stretched(x, shape)
    writeable = x.flags.writeable
    if 1 not in shape or not out.size:
        if writeable:
            out.flags.writeable = True
        return out
    added, strides = len(shape) - x.ndim, list(out.strides)
    for axis in range(len(shape) - 1, -1, -1):
        if shape[axis] != 1:
            continue
        if axis >= added:
            strides[axis] = x.strides[axis - added]
        else:
            strides[axis] = shape[axis + 1] * strides[axis + 1] if axis + 1 < len(shape) else x.itemsize
    return as_strided(x, shape, strides, writeable=writeable)


broadcast_primitive = define(
    "broadcast",
    ("x",),
    type=_broadcast,
    eval=_repeated,
    lower=Movement("broadcast", view=True),
    # The cotangent is summed back to x's shape by the central rule for broadcasting (vjp.py).
    vjp={"x": lambda g: g},
    backward_name="ExpandBackward0",
)


def broadcast(x: Any, shape: Shape) -> Any:
    """x repeated along axes of extent 1 and new leading axes."""
    return bind(broadcast_primitive, x, shape=shape)


# ------------------------------------------------------------------------------------------------------ parts


def _slices(starts: Shape, stops: Shape, steps: Shape) -> tuple[Any, ...]:
    # The ellipsis makes a view of an array without axes, which numpy would give as a number.
    return (..., *map(builtins.slice, starts, stops, steps))


def _stops(starts: Shape, steps: Shape, shape: Shape) -> Shape:
    """Where a region of `shape` ends that begins at `starts` and strides by `steps`."""
    return tuple(
        start + (extent - 1) * step + 1 if extent else start
        for start, step, extent in zip(starts, steps, shape, strict=True)
    )


def _sliced(x: Type, starts: Shape, stops: Shape, steps: Shape) -> Type:
    regions = zip(x.shape, starts, stops, steps, strict=True)
    if not all(0 <= start <= stop <= extent and step > 0 for extent, start, stop, step in regions):
        raise IndexError(f"slice {starts}:{stops}:{steps} does not lie inside {x}")
    return Type(x.dtype, tuple(-(-(b - a) // step) for a, b, step in zip(starts, stops, steps, strict=True)))


slice_primitive = define(
    "slice",
    ("x",),
    type=_sliced,
    eval=lambda x, starts, stops, steps: x[_slices(starts, stops, steps)],
    lower=Movement("slice", view=True),
    vjp={"x": lambda g, x_type, starts, steps: among_zeros(g, x_type, starts, steps, shape_of(g))},
)


def among_zeros(g: Any, x_type: Type, starts: Shape, steps: Shape, shape: Shape) -> Any:
    """Zeros, but for a region of that `shape`, which has the elements of `g`."""
    if (interpreter := at_once(g)) is not None:
        out = np.zeros(x_type.shape, x_type.dtype.numpy)
        out[_slices(starts, _stops(starts, steps, shape), steps)] = g.ndarray.reshape(shape)
        return interpreter.literal(out)
    return update_slice(zeros(x_type), g if shape_of(g) == shape else reshape(g, shape), starts, steps)


def slice(x: Any, starts: Shape, stops: Shape, steps: Shape) -> Any:
    """``x[starts:stops:steps]`` along every axis; steps are positive, stops are inside x."""
    return bind(slice_primitive, x, starts=starts, stops=stops, steps=steps)


def _updated(x: Type, update: Type, starts: Shape, steps: Shape) -> Type:
    if update.dtype is not x.dtype:
        raise TypeError(f"update_slice writes {update} into {x}: cast one of them first")
    _sliced(x, starts, _stops(starts, steps, update.shape), steps)
    return x


def _update(x: np.ndarray, update: np.ndarray, starts: Shape, steps: Shape) -> np.ndarray:
    out = np.array(x, order="K")
    out[_slices(starts, _stops(starts, steps, update.shape), steps)] = update
    return out


update_slice_primitive = define(
    "update_slice",
    ("x", "update"),
    type=_updated,
    eval=_update,
    lower=Movement("update_slice"),
    vjp={
        "x": lambda g, update_type, starts, steps: update_slice(g, zeros(update_type), starts, steps),
        "update": lambda g, update_type, starts, steps: slice(
            g, starts, _stops(starts, steps, update_type.shape), steps
        ),
    },
    backward_name="SliceScatterBackward0",
)


def update_slice(x: Any, update: Any, starts: Shape, steps: Shape) -> Any:
    """x with the region that begins at `starts` and strides by `steps` replaced by `update`."""
    return bind(update_slice_primitive, x, update, starts=starts, steps=steps)


# ------------------------------------------------------------------------------------- where gradients lie


def _by_rows(g: Any) -> Any:
    array = getattr(g, "ndarray", None)
    return g if array is not None and array.flags.c_contiguous else copy(g)


by_rows_primitive = define(
    "by_rows",
    ("x",),
    type=lambda x: x,
    eval=lambda x: x.view(),
    lower=Movement("reshape", view=True),
    vjp={"x": lambda g: _by_rows(g)},
    backward_name="ViewBackward0",
)


def by_rows(x: Any) -> Any:
    """x, whose gradient lies row by row: for functions that turn axes, where PyTorch's derivative is one kernel."""
    return bind(by_rows_primitive, x) if getattr(x, "requires_grad", False) else x


# ----------------------------------------------------------------------------------------------------- copies


flip_primitive = define(
    "flip",
    ("x",),
    type=lambda x, axes: x,
    eval=lambda x, axes: np.flip(x, axes).copy("K"),
    lower=Movement("flip"),
    vjp={"x": lambda g, axes: flip(g, axes)},
)


def flip(x: Any, axes: Shape) -> Any:
    """x with the order along `axes` reversed."""
    return bind(flip_primitive, x, axes=axes)


def _padded(x: Type, low: Shape, high: Shape, value: Number) -> Type:
    return Type(x.dtype, tuple(a + extent + b for a, extent, b in zip(low, x.shape, high, strict=True)))


def _pad(x: np.ndarray, low: Shape, high: Shape, value: Number) -> np.ndarray:
    shape = tuple(a + extent + b for a, extent, b in zip(low, x.shape, high, strict=True))
    order = suggested_order(x)
    if order is None:
        out = np.full(shape, value, x.dtype)
    else:
        out = np.ndarray(shape, x.dtype, strides=dense_strides(shape, order, x.itemsize))
        out.fill(value)
    out[tuple(np.s_[a : a + extent] for a, extent in zip(low, x.shape, strict=True))] = x
    return out


def _unpad(g: Any, x_type: Type, low: Shape) -> Any:
    stops = tuple(a + extent for a, extent in zip(low, x_type.shape, strict=True))
    part = slice(g, low, stops, (1,) * x_type.ndim)
    if x_type.ndim < 2:
        return part
    array = getattr(g, "ndarray", None)
    return copy(part) if array is None or array.flags.c_contiguous else lay(part, kept_order(array))


pad_primitive = define(
    "pad",
    ("x",),
    type=_padded,
    eval=_pad,
    lower=Movement("pad"),
    vjp={"x": lambda g, x_type, low: _unpad(g, x_type, low)},
    backward_name="ConstantPadNdBackward0",
)


def pad(x: Any, low: Shape, high: Shape, value: Number = 0) -> Any:
    """x with `low` and `high` elements of `value` before and behind it, along every axis."""
    return bind(pad_primitive, x, low=low, high=high, value=value)


def _concatenated(*xs: Type, axis: int, extents: Shape) -> Type:
    first = xs[0]
    for number, x in enumerate(xs):
        if x.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for other, (expected, extent) in enumerate(zip(first.shape, x.shape, strict=True)):
            if other != axis and extent != expected:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. "
                    f"Expected size {expected} but got size {extent} for tensor number {number} in the list."
                )
    return Type(first.dtype, (*first.shape[:axis], sum(extents), *first.shape[axis + 1 :]))


def _part(g: Any, index: int, axis: int, extents: Shape) -> Any:
    """The part of `g` that belongs to operand `index`."""
    shape = shape_of(g)
    start, behind = sum(extents[:index]), (0,) * (len(shape) - axis - 1)
    stops = (*shape[:axis], start + extents[index], *shape[axis + 1 :])
    return slice(g, (*(0,) * axis, start, *behind), stops, (1,) * len(shape))


def _put_together(*xs: np.ndarray, axis: int, extents: Shape) -> np.ndarray:
    """Row by row; images with channels last stay so, as in PyTorch."""
    out = np.concatenate(xs, axis)
    if out.flags.c_contiguous:
        return out
    if out.ndim in (4, 5) and out.transpose((0, *range(2, out.ndim), 1)).flags.c_contiguous:
        return out
    return memory.by_rows(out)


concatenate_primitive = define(
    "concatenate",
    ("*xs",),
    type=_concatenated,
    eval=_put_together,
    lower=Movement("concatenate"),
    # `extents`, the operands' sizes along the axis, spare the rule their types.
    vjp={"xs": lambda g, index, axis, extents: _part(g, index, axis, extents)},
    backward_name="CatBackward0",
)


def concatenate(xs: Sequence[Any], axis: int) -> Any:
    """The operands, of one type, one behind the other along `axis`.

    RuntimeError where they do not fit together.
    """
    extents = tuple([shape[axis] if axis < len(shape := shape_of(x)) else 0 for x in xs])
    return bind(concatenate_primitive, *xs, axis=axis, extents=extents)
