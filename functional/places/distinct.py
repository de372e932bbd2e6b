"""Distinct values, and how often each occurs. How many there are is data: compiled calls are recorded around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ...ops import indexing
from ...ops.array import eager
from ...ops.pointwise import converted
from ...ops.sources import full, zeros
from ...ops.types import Type, bool_, float32, float64, int64
from ...tensors.arguments import axis_of
from ..checks.derivatives import refusing_derivatives

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

_Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # distinct values, where each element went, how often each occurs
_NONE = np.zeros(0, np.int64)


@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...


@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]: ...


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The distinct elements in ascending order (with `dim`, the distinct parts along it), also if not `sorted`.

    With `return_inverse` and `return_counts` a tuple: then come where each element went and how often each occurs.
    NaNs are distinct. The derivative is not implemented, as in PyTorch.

    >>> import tracegrad as tg
    >>> tg.unique(tg.tensor([2, 1, 2]), return_counts=True)
    (tensor([1, 2]), tensor([1, 2]))
    """
    found = _unique(eager().read(input.detach(), "unique()"), dim)
    operator = ("_unique2", "Unique2Backward0") if dim is None else ("unique_dim", "UniqueDimBackward0")
    return _wanted(input, operator, found, return_inverse, return_counts)


def _unique(values: np.ndarray, dim: int | None) -> _Found:
    if dim is None:
        found = np.unique(values, return_inverse=True, return_counts=True, equal_nan=False)
        return found[0], found[1].reshape(values.shape), found[2]
    axis = _selected_axis(values, dim)
    if not values.shape[axis]:
        return values, _NONE, _NONE
    values = values.reshape(1) if not values.ndim else values
    rows = np.ascontiguousarray(np.moveaxis(values, axis, 0)).reshape(values.shape[axis], -1)
    order = np.lexsort(rows.T[::-1])
    return _of_runs(values, axis, rows[order], order)


@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...


@overload
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]: ...


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """The elements without those that equal the one before them (with `dim`, the parts along it).

    With `return_inverse` and `return_counts` a tuple: then come where each element went and how long each run is.

    >>> import tracegrad as tg
    >>> tg.unique_consecutive(tg.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    found = _unique_consecutive(eager().read(input.detach(), "unique_consecutive()"), dim)
    operator = ("unique_consecutive", "UniqueConsecutiveBackward0")
    return _wanted(input, operator, found, return_inverse, return_counts)


def _unique_consecutive(values: np.ndarray, dim: int | None) -> _Found:
    if dim is None:
        flat = values.reshape(-1)
        return _of_runs(flat, 0, flat.reshape(-1, 1), np.arange(flat.size), values.shape)
    axis = _selected_axis(values, dim)
    if not values.shape[axis]:
        return values, _NONE, _NONE
    rows = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
    return _of_runs(values, axis, rows, np.arange(len(rows)))


def _selected_axis(values: np.ndarray, dim: int) -> int:
    axis = axis_of(dim, values.ndim)
    if values.size == 0 and (values.shape.count(0) > 1 or values.shape[axis]):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return axis


def _of_runs(
    values: np.ndarray, axis: int, rows: np.ndarray, order: np.ndarray, shape: tuple[int, ...] | None = None
) -> _Found:
    """What is left of `values` where `rows`, its parts in `order`, begin a run of equal ones."""
    begins = np.ones(len(rows), bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.cumsum(begins) - 1
    counts = np.diff(np.append(np.flatnonzero(begins), len(rows)))
    kept = np.moveaxis(np.take(np.moveaxis(values, axis, 0), order[begins], 0).copy("C"), 0, axis)
    return kept, inverse.reshape(len(rows) if shape is None else shape), counts


def _wanted(input: Any, operator: tuple[str, str], found: _Found, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    literal, (name, title) = eager().literal, operator
    # The parts that are kept lie one behind the other.
    out = [*refusing_derivatives(name, (literal(np.array(values, order="K")),), (input,), title)]
    out += [literal(np.asarray(inverse, np.int64))] * return_inverse
    out += [literal(np.asarray(counts, np.int64))] * return_counts
    return tuple(out) if len(out) > 1 else out[0]


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, ... occurs in a vector of integers, or with `weights` the sum of those at its places.

    The result has `minlength` elements at least, and is int64; with weights float64, or float32 if these are.
    RuntimeError for what is no vector of integers from 0 on and for weights that do not fit, NotImplementedError for
    other types. The derivative by the weights is not implemented, as in PyTorch.

    >>> import tracegrad as tg
    >>> tg.bincount(tg.tensor([1, 3, 1]))
    tensor([0, 2, 0, 1])
    """
    if input.dtype.is_floating_point or input.dtype is bool_:
        name = input.dtype.title
        raise NotImplementedError(
            f"\"bincount_cpu\" not implemented for '{name}'. Convert it first, e.g. with .long()."
        )
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, got {minlength}")
    if weights is not None and (input.ndarray.ndim != 1 or weights.ndarray.shape != input.ndarray.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    values = eager().read(input.detach(), "bincount()")
    if values.ndim != 1 or (values < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    count = max(minlength, int(values.max()) + 1 if values.size else 0)
    dtype = int64 if weights is None else float32 if weights.dtype is float32 else float64
    ones = full(values.shape, 1, int64) if weights is None else converted(weights.detach(), dtype)
    out = indexing.index_add(zeros(Type(dtype, (count,))), converted(input, int64), ones)
    return refusing_derivatives("bincount", (out,), (weights,))[0]
