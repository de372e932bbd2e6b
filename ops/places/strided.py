"""Views that show elements several times: windows along an axis, and any strides over memory in a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .. import reductions as folds
from ..core import Movement, bind, define
from ..indexing import index_add
from ..movement import transpose
from ..sources import full, iota, zeros
from ..types import Type, int64
from ..windows import spread

Shape = tuple[int, ...]

# ---------------------------------------------------------------------------------------------------------- strides


def _strided_type(x: Type, shape: Shape, strides: Shape, offset: int) -> Type:
    last = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if x.ndim != 1 or min((offset, *strides), default=0) < 0 or (0 not in shape and last >= x.shape[0]):
        raise RuntimeError(f"strides {strides} from {offset} on for shape {shape} do not lie inside {x}")
    return Type(x.dtype, shape)


def _strided(x: np.ndarray, shape: Shape, strides: Shape, offset: int) -> np.ndarray:
    if x.ndim != 1:
        raise ValueError("memory in a row is wanted")  # the type rule has the words
    return as_strided(x[offset:] if 0 not in shape else x[:0], shape, [step * x.strides[0] for step in strides])


strided_primitive = define(
    "strided",
    ("x",),
    type=_strided_type,
    eval=_strided,
    lower=Movement("strided", view=True),
    vjp={
        "x": lambda g, x_type, shape, strides, offset: index_add(
            zeros(x_type), strided_places(shape, strides, offset), g
        )
    },
    backward_name="AsStridedBackward0",
)


def strided(x: Any, shape: Shape, strides: Shape, offset: int) -> Any:
    """``out[i, j] = x[offset + i * strides[0] + j * strides[1]]`` for a vector x: a view, which must lie inside it."""
    return bind(strided_primitive, x, shape=shape, strides=strides, offset=offset)


def strided_places(shape: Shape, strides: Shape, offset: int) -> Any:
    """For each element of `strided` its place in the vector."""
    places: Any = full(shape, offset, int64)
    for axis, step in enumerate(strides):
        places = places + iota(shape, axis, int64) * step
    return places


# ---------------------------------------------------------------------------------------------------------- windows


def _unfolded_type(x: Type, axis: int, size: int, step: int) -> Type:
    count = (x.shape[axis] - size) // step + 1
    return Type(x.dtype, (*x.shape[:axis], count, *x.shape[axis + 1 :], size))


def _unfolded(x: np.ndarray, axis: int, size: int, step: int) -> np.ndarray:
    count = (x.shape[axis] - size) // step + 1
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :], size)
    along = x.strides[axis]
    return as_strided(x, shape, (*x.strides[:axis], along * step, *x.strides[axis + 1 :], along))


def _folded(g: Any, x_type: Type, axis: int, size: int, step: int) -> Any:
    """What windows took, added up at its places."""
    ndim = x_type.ndim
    others = tuple(a for a in range(ndim) if a != axis)
    back = spread(transpose(g, (*others, ndim, axis)), (x_type.shape[axis],), (step,), (1,), (0,))
    added = folds.sum(back, (ndim - 1,))
    return transpose(added, (*range(axis), ndim - 1, *range(axis, ndim - 1)))


unfold_primitive = define(
    "unfold",
    ("x",),
    type=_unfolded_type,
    eval=_unfolded,
    lower=Movement("unfold", view=True),
    vjp={"x": _folded},
)


def unfold(x: Any, axis: int, size: int, step: int) -> Any:
    """``out[.., w, .., k] = x[.., w * step + k, ..]``: a view of all windows along `axis`, which is not shorter."""
    return bind(unfold_primitive, x, axis=axis, size=size, step=step)
