"""Folds in plain eager mode as numpy's own call and one node. Each gives None where it takes the ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.array import quietly
from ...ops.core import Primitive, at_once, switch
from ...ops.indexing import elements, gather_primitive, scatter_add
from ...ops.movement import broadcast_along, reshape
from ...ops.reductions import sum_primitive
from ...ops.sources import zeros
from ...ops.types import Type
from ...tape.direct import FLOAT32, FLOAT64, INT64
from ...tape.grad_mode import switches
from ...tape.moved import MovedNode
from ...tape.placed import PlacedNode
from ...tape.saved import packing
from ...tape.tangents import levels
from ...tensors.arguments import Shape, axes_of
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import make


def _array_of(x: Any, *others: np.dtype) -> np.ndarray | None:
    """The array of a plain tensor of floating-point numbers, or of type `others`, where nobody puts off or records
    what is done."""
    if switch.stack or type(x) not in PLAIN_TENSORS:
        return None
    array: np.ndarray = x.ndarray
    dtype = array.dtype
    return array if dtype is FLOAT32 or dtype is FLOAT64 or dtype in others else None


def is_only_computed(x: Any) -> bool:
    """Whether a plain tensor is computed with in plain eager mode, and no gradient is wanted."""
    return not switch.stack and type(x) in PLAIN_TENSORS and not (switches.enabled and x.requires_grad)


def sum_at_once(x: Any, dim: Any, keepdim: bool) -> Any:
    """The sum over the axes `dim`."""
    array = _array_of(x)
    if array is None:
        return None
    shape = array.shape
    axes = axes_of(dim, len(shape))
    value = quietly(sum_primitive.evaluate, array, axes=axes)
    value = value if type(value) is np.ndarray else np.asarray(value)
    out = make(_with_axes(value, shape, axes) if keepdim else value)
    if switches.enabled and x.requires_grad:
        title = "SumBackward0" if dim is None else "SumBackward1"
        out._node = MovedNode.made(title, sum_primitive, (x,), out, (0,), _spread, axes, shape)
    return out


def _with_axes(value: np.ndarray, shape: Shape, axes: Shape) -> np.ndarray:
    return value.reshape([1 if axis in axes else n for axis, n in enumerate(shape)])


def _spread(g: Any, wanted: Sequence[bool], axes: Shape, shape: Shape) -> list[Any]:
    return [broadcast_along(g, axes, shape)]


def extreme_at_once(find: Primitive, title: str, x: Any, axis: int, keepdim: bool) -> tuple[Any, Any] | None:
    """The extremes along `axis`, which is one of `x`, and the positions at which `find` sees them."""
    array = _array_of(x, INT64)
    if array is None or not array.size or not array.flags.c_contiguous:
        return None
    tracked = switches.enabled and x.requires_grad
    if tracked and (packing.hooks or levels.open is not None):
        return None
    places = np.expand_dims(find.evaluate(array, axis=axis), axis)
    values = array[elements(array, places, axis)]
    values = values if values.flags.c_contiguous else values.copy("C")
    shape = places.shape if keepdim else (*places.shape[:axis], *places.shape[axis + 1 :])
    out, indices = make(values.reshape(shape)), make(places.reshape(shape))
    if tracked:
        facts = axis, x.type_
        out._node = PlacedNode.at((indices,), title, gather_primitive, (x,), out, (0,), _at_extremes, *facts)
    return out, indices


def _at_extremes(g: Any, wanted: Sequence[bool], indices: Sequence[Any], axis: int, of: Type) -> list[Any]:
    """Zeros, but for the cotangents where the extremes stand."""
    index, shape = indices[0], (*of.shape[:axis], 1, *of.shape[axis + 1 :])
    interpreter = at_once(g)
    if interpreter is None:
        return [scatter_add(zeros(of), reshape(index, shape), reshape(g, shape), axis)]
    out = np.zeros(of.shape, of.dtype.numpy)
    out[elements(out, index.ndarray.reshape(shape), axis)] = g.ndarray.reshape(shape)
    return [interpreter.literal(out)]
