"""Movement: output elements are input elements at other places. Shapes are tuples of ints, axes are non-negative."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Movement, bind, define
from .types import Type

Shape = tuple[int, ...]


def _retyped(x: Type, shape: Shape) -> Type:
    return Type(x.dtype, shape)


reshape_primitive = define(
    "reshape",
    ("x",),
    type=_retyped,
    eval=np.reshape,
    lower=Movement("reshape", view=True),
    vjp={"x": lambda g, x_type: reshape(g, x_type.shape)},
    backward_name="ViewBackward0",
)


def reshape(x: Any, shape: Shape) -> Any:
    """The same elements in row-major order under another shape (no -1 here)."""
    return bind(reshape_primitive, x, shape=shape)


def _transposed(x: Type, permutation: Shape) -> Type:
    return Type(x.dtype, tuple(x.shape[axis] for axis in permutation))


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
    kept = tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    return broadcast(reshape(x, kept), shape)


broadcast_primitive = define(
    "broadcast",
    ("x",),
    type=_retyped,
    eval=lambda x, shape: np.broadcast_to(x, shape),
    lower=Movement("broadcast", view=True),
    # The cotangent is summed back to x's shape by the central rule for broadcasting (vjp.py).
    vjp={"x": lambda g: g},
    backward_name="ExpandBackward0",
)


def broadcast(x: Any, shape: Shape) -> Any:
    """x repeated along axes of extent 1 and new leading axes."""
    return bind(broadcast_primitive, x, shape=shape)
