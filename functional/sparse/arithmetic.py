"""Arithmetic of sparse tensors with numbers, with each other and with dense ones, and sums of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import elementary
from ...ops.types import NUMBERS
from ...tensors.creation import from_numpy, zeros
from ...tensors.tensor import Tensor
from .. import arithmetic as dense_ops
from ..joining import cat as cat_dense
from ..places.index_writes import index_add
from ..places.scattering import index_reduce
from ..reductions import in_dtype
from .sparse_tensor import SparseTensor, operation, unsupported
from .structure import (
    at_rows,
    coalesce,
    numbers_of,
    positions,
    sparse_sizes,
    stack_rows,
    to_dense,
    with_values,
    wrapped,
)

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import Axes, Number


_SCALARS = (*NUMBERS, np.generic)


def _is_number(value: Any) -> bool:
    return isinstance(value, _SCALARS) or (isinstance(value, Tensor) and value.ndim == 0)


@operation("add", "__add__", "__radd__")
def add(self: Any, other: Any, *, alpha: Number = 1) -> Any:
    """``self + alpha * other``: sparse for two sparse tensors, dense for a dense and a sparse one.

    RuntimeError for a dense tensor behind a sparse one, and for other shapes.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> (x + x).values()
    tensor([4., 6.])
    """
    if not isinstance(self, SparseTensor):
        if _is_number(self):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        return dense_ops.add(self, to_dense(other), alpha=alpha)
    if not isinstance(other, SparseTensor):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if self.shape != other.shape or self.sparse_dim() != other.sparse_dim():
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(self.shape)} while other has "
            f"size {list(other.shape)} (sparse tensors are not broadcast)"
        )
    scaled = other.stored if alpha == 1 else other.stored * alpha
    values = cat_dense([self.stored, scaled], 0)
    joined = SparseTensor(cat_dense([self.places, other.places], 1), values, self.shape)
    return coalesce(joined) if self.coalesced and other.coalesced else joined


@operation("sub", "__sub__", "subtract")
def sub(self: Any, other: Any, *, alpha: Number = 1) -> Any:
    """``self - alpha * other``, as `add` has it.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> (x - x).to_dense().sum()
    tensor(0.)
    """
    return add(self, other, alpha=-alpha)


@operation("mul", "__mul__", "__rmul__", "multiply")
def mul(self: Any, other: Any) -> Any:
    """Times a number, or element by element with a sparse or dense tensor: sparse, at the places of the sparse ones.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> (x * 10).values()
    tensor([20., 30.])
    """
    if not isinstance(self, SparseTensor):
        self, other = other, self
    if _is_number(other):
        return with_values(self, self.stored * other)
    if isinstance(other, SparseTensor):
        return _common(self, other)
    if self.dense_dim() or other.ndim > self.ndim:
        raise unsupported("mul of a hybrid tensor and a dense one")
    return with_values(self, self.stored * at_rows(other.expand(*self.shape).reshape(-1), positions(self)))


def _common(first: SparseTensor, second: SparseTensor) -> SparseTensor:
    """The product at the places that both have."""
    if first.shape != second.shape:
        raise RuntimeError(
            f"mul operands have incompatible sizes: {list(first.shape)} and {list(second.shape)}; sparse tensors are "
            "not broadcast"
        )
    first, second = coalesce(first), coalesce(second)
    here, there = (numbers_of(positions(x), "a product of sparse tensors") for x in (first, second))
    _, mine, theirs = np.intersect1d(here, there, assume_unique=True, return_indices=True)
    rows, others = from_numpy(mine.astype(np.int64)), from_numpy(theirs.astype(np.int64))
    values = at_rows(first.stored, rows) * at_rows(second.stored, others)
    return SparseTensor(first.places.index_select(1, rows), values, first.shape, coalesced=True)


@operation("div", "__truediv__", "divide", "true_divide")
def div(
    self: SparseTensor | Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None
) -> SparseTensor:
    """Divided by a number or a 0-d tensor. RuntimeError for anything else.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> (x / 2).values()
    tensor([1.0000, 1.5000])
    """
    if not isinstance(self, SparseTensor) or not _is_number(other):
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor. Use to_dense() first.")
    return with_values(self, dense_ops.div(self.stored, other, rounding_mode=rounding_mode))


def _is_above_zero(value: Any) -> bool:
    scalar = isinstance(value, _SCALARS)
    return scalar and bool(np.greater(value, 0))


@operation("pow", "__pow__")
def pow(self: SparseTensor, exponent: Number) -> SparseTensor:
    """The values to a power above 0, for which 0 stays 0. NotImplementedError for others.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> (x**2).values()
    tensor([4., 9.])
    """
    if not isinstance(self, SparseTensor) or not _is_above_zero(exponent):
        raise unsupported("pow")
    self = coalesce(self)
    return with_values(self, self.stored**exponent)


@operation("sum")
def sum(input: SparseTensor, dim: Axes | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Any:
    """The sum of all values (a dense number), or along axes: sparse unless no sparse axis is left.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.sum()
    tensor(5.)
    """
    if dtype is None and not (input.is_floating_point() or input.is_complex()):
        dtype = input.places.dtype
    x = input if dtype is None else with_values(input, in_dtype(input.stored, dtype))
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    axes = {wrapped(axis, x.ndim) for axis in dims}
    if dim is None or len(axes) == x.ndim:
        return x.stored.sum()
    if keepdim:
        raise unsupported("sum with keepdim=True")
    inner = [axis - x.sparse_dim() + 1 for axis in axes if axis >= x.sparse_dim()]
    values = x.stored.sum(inner) if inner else x.stored
    kept = [axis for axis in range(x.sparse_dim()) if axis not in axes]
    sizes = [extent for axis, extent in enumerate(x.shape) if axis not in axes]
    if not kept:
        return values.sum(0)
    if len(kept) == x.sparse_dim():
        return SparseTensor(x.places, values, sizes, x.coalesced)
    rows = x.places.unbind(0)
    return coalesce(SparseTensor(stack_rows([rows[axis] for axis in kept]), values, sizes))


@operation("norm")
def norm(
    input: SparseTensor, p: float | str = "fro", dim: None = None, keepdim: bool = False, dtype: DType | None = None
) -> Tensor:
    """The `p`-norm of the values, all together, 0-d. NotImplementedError for axes.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.norm()
    tensor(3.6056)
    """
    if dim is not None:
        raise unsupported("norm along axes")
    return coalesce(input).stored.reshape(-1).norm(2 if p == "fro" else p)


@operation("softmax")
def softmax(input: SparseTensor, dim: int, dtype: DType | None = None) -> SparseTensor:
    """Softmax along a sparse axis over the places that there are: others count as minus infinity.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.softmax(1).values()
    tensor([1., 1.])
    """
    return _softmax(input, dim, dtype)


@operation("log_softmax")
def log_softmax(input: SparseTensor, dim: int, dtype: DType | None = None) -> SparseTensor:
    """The logarithm of `softmax`.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.log_softmax(1).values()
    tensor([0., 0.])
    """
    return _softmax(input, dim, dtype, logarithm=True)


def _softmax(input: SparseTensor, dim: int, dtype: Any, logarithm: bool = False) -> SparseTensor:
    x = coalesce(input)
    x = x if dtype is None else with_values(x, in_dtype(x.stored, dtype))
    axis = wrapped(dim, x.ndim)
    if axis >= x.sparse_dim():
        raise unsupported("softmax along a dense axis")
    places = numbers_of(x.places, "softmax of a sparse tensor")
    sizes = [extent for at, extent in enumerate(sparse_sizes(x)) if at != axis]
    rest = np.delete(places, axis, 0)
    flat = np.ravel_multi_index(tuple(rest), sizes) if sizes else np.zeros(places.shape[1], np.int64)
    found, inverse = np.unique(flat, return_inverse=True)
    groups, shape = from_numpy(inverse.astype(np.int64)), (len(found), *x.stored.shape[1:])
    detached = x.stored.detach()
    largest = index_reduce(zeros(shape, dtype=x.dtype), 0, groups, detached, "amax", include_self=False)
    shifted = x.stored - at_rows(largest, groups)
    powers = elementary.exp(shifted)
    totals = at_rows(index_add(zeros(shape, dtype=x.dtype), 0, groups, powers), groups)
    return with_values(x, shifted - elementary.log(totals) if logarithm else powers / totals)
