"""Where the values of sparse tensors stand: coalescing, dense form, axes, rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import eager
from ...tensors.creation import from_numpy, full, zeros
from ...tensors.tensor import Tensor
from ..conversions import type as tensor_type
from ..joining import cat as cat_dense
from ..places.index_writes import index_add
from ..reductions import in_dtype
from ..selecting import index_select as rows_of
from .sparse_tensor import SparseTensor, operation, unsupported

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike, DTypeLike


def wrapped(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError if there is no such axis."""
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim


def sparse_sizes(x: SparseTensor) -> tuple[int, ...]:
    """The extents that the places count in."""
    return tuple(x.shape[: x.sparse_dim()])


def positions(x: SparseTensor) -> Tensor:
    """Each place as one number, in row-major order."""
    flat = full((x._nnz(),), 0, dtype=x.places.dtype)
    for row, extent in zip(x.places.unbind(0), sparse_sizes(x), strict=True):
        flat = flat * extent + row
    return flat


def at_rows(dense: Any, rows: Any) -> Any:
    """Rows of a tensor by their numbers, along its first axis."""
    return rows_of(dense, 0, rows)


def with_values(x: SparseTensor, values: Any) -> SparseTensor:
    """The same places with other values."""
    return SparseTensor(x.places, values, x.shape, x.coalesced)


def numbers_of(indices: Tensor, purpose: str) -> np.ndarray:
    """The numbers of places, which decide how many there are: a recording refuses to look."""
    return eager().read(indices.detach(), purpose)


@operation("coalesce")
def coalesce(self: SparseTensor) -> SparseTensor:
    """Each place once and in order, with the sum of its values; the tensor itself if it is so already.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> tg.sparse_coo_tensor([[1, 1]], [2.0, 3.0], (2,)).coalesce().values()
    tensor([5.])
    """
    if self.coalesced:
        return self
    places = numbers_of(self.places, "coalesce()")
    extents = sparse_sizes(self)
    flat = np.ravel_multi_index(tuple(places), extents) if extents else np.zeros(places.shape[1], np.int64)
    distinct, target = np.unique(flat, return_inverse=True)
    empty = zeros(len(distinct), *self.stored.shape[1:], dtype=self.dtype)
    values = index_add(empty, 0, from_numpy(target.astype(np.int64)), self.stored)
    found = np.array(np.unravel_index(distinct, extents), np.int64).reshape(len(extents), -1)
    return SparseTensor(from_numpy(found), values, self.shape, coalesced=True)


@operation("to_dense")
def to_dense(self: SparseTensor, dtype: DType | None = None, *, masked_grad: bool = True) -> Tensor:
    """The dense tensor, converted to `dtype` if that is given; values at one place are added up.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.to_dense()
    tensor([[0., 2.],
            [0., 3.]])
    """
    sizes, dense = sparse_sizes(self), tuple(self.shape[self.sparse_dim() :])
    flat = zeros(math.prod(sizes), *dense, dtype=self.dtype)
    out = index_add(flat, 0, positions(self), self.stored).reshape(tuple(self.shape))
    return in_dtype(out, dtype)


@operation("to_sparse", "to_sparse_coo")
def to_sparse(self: SparseTensor, sparse_dim: int | None = None) -> SparseTensor:
    """The tensor itself, which is sparse. NotImplementedError for another number of sparse axes.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.to_sparse() is x
    True
    """
    if sparse_dim not in (None, self.sparse_dim()):
        raise RuntimeError(f"to_sparse: conversion from {self.sparse_dim()} sparse axes to {sparse_dim} is not there")
    return self


@operation("transpose", "swapaxes", "swapdims")
def transpose(self: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Two sparse axes exchanged. IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.transpose(0, 1).to_dense()
    tensor([[0., 0.],
            [2., 3.]])
    """
    first, second = wrapped(dim0, self.ndim), wrapped(dim1, self.ndim)
    if first == second:
        return self
    if max(first, second) >= self.sparse_dim():
        raise unsupported("transpose of dense axes")
    order = list(range(self.sparse_dim()))
    order[first], order[second] = order[second], order[first]
    sizes = list(self.shape)
    sizes[first], sizes[second] = sizes[second], sizes[first]
    rows = self.places.unbind(0)
    return SparseTensor(stack_rows([rows[axis] for axis in order]), self.stored, sizes)


@operation("permute")
def permute(self: SparseTensor, *dims: Any) -> SparseTensor:
    """The sparse axes in the order `dims`; dense axes stay behind them. RuntimeError for what is no order of the axes.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.permute(1, 0).to_dense()
    tensor([[0., 0.],
            [2., 3.]])
    """
    given = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    order = [wrapped(dim, self.ndim) for dim in given]
    if sorted(order) != list(range(self.ndim)):
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(order)}"
            if len(order) != self.ndim
            else "permute(dims): duplicate dims are not allowed."
        )
    sparse = order[: self.sparse_dim()]
    if order[self.sparse_dim() :] != list(range(self.sparse_dim(), self.ndim)):
        raise unsupported("permute of dense axes")
    rows = self.places.unbind(0)
    return SparseTensor(stack_rows([rows[axis] for axis in sparse]), self.stored, [self.shape[axis] for axis in order])


@operation("t")
def t(self: SparseTensor) -> SparseTensor:
    """The transposed matrix; a vector as it is. RuntimeError for more axes.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.t().to_dense()
    tensor([[0., 0.],
            [2., 3.]])
    """
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but self is {self.ndim}D")
    return transpose(self, 0, 1) if self.ndim == 2 else self


SparseTensor.T = property(t)  # type: ignore[attr-defined]


def stack_rows(rows: Sequence[Any]) -> Any:
    """Rows of places as one tensor of them."""
    return cat_dense([row.reshape(1, -1) for row in rows], 0)


@operation("unsqueeze")
def unsqueeze(self: SparseTensor, dim: int) -> SparseTensor:
    """With a new sparse axis of extent 1 at `dim`.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.unsqueeze(0).shape
    tracegrad.Size([1, 2, 2])
    """
    at = wrapped(dim, self.ndim + 1)
    if at > self.sparse_dim():
        raise unsupported("unsqueeze of dense axes")
    rows = list(self.places.unbind(0))
    rows.insert(at, full((self._nnz(),), 0, dtype=self.places.dtype))
    sizes = list(self.shape)
    sizes.insert(at, 1)
    return SparseTensor(stack_rows(rows), self.stored, sizes, self.coalesced)


@operation("index_select")
def index_select(self: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    """The parts along a sparse axis that `index` (int64) names, in its order.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.index_select(0, tg.tensor([1])).to_dense()
    tensor([[0., 3.]])
    """
    axis = wrapped(dim, self.ndim)
    if axis >= self.sparse_dim():
        raise unsupported("index_select along a dense axis")
    rows, wanted = numbers_of(self.places, "index_select()"), numbers_of(index, "index_select()").reshape(-1)
    if wanted.size and not (-1 < wanted.min() and wanted.max() < self.shape[axis]):
        raise IndexError(f"index_select(): index out of range for dimension {axis} with size {self.shape[axis]}")
    target, source = np.nonzero(wanted[:, None] == rows[axis])
    chosen = rows[:, source].copy()
    chosen[axis] = target
    sizes = list(self.shape)
    sizes[axis] = len(wanted)
    return SparseTensor(from_numpy(chosen), at_rows(self.stored, from_numpy(source.astype(np.int64))), sizes)


@operation("select")
def select(self: SparseTensor, dim: int, index: int) -> Any:
    """What stands at one position of a sparse axis; dense where that is the only one. IndexError for one outside.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.select(0, 1).to_dense()
    tensor([0., 3.])
    """
    axis = wrapped(dim, self.ndim)
    if axis >= self.sparse_dim():
        raise unsupported("select along a dense axis")
    if not -self.shape[axis] <= index < self.shape[axis]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {axis}"
        )
    rows = numbers_of(self.places, "select()")
    source = np.nonzero(rows[axis] == index % self.shape[axis])[0]
    values = at_rows(self.stored, from_numpy(source.astype(np.int64)))
    if self.sparse_dim() == 1:
        return values.sum(0)
    sizes = [extent for at, extent in enumerate(self.shape) if at != axis]
    return SparseTensor(from_numpy(np.delete(rows[:, source], axis, 0)), values, sizes, self.coalesced)


@operation("__getitem__")
def getitem(self: SparseTensor, index: Any) -> Any:
    """``x[i]``, ``x[i, j]`` and ``x[:, j]``: a number or all, for each of the first axes."""
    found: Any = self
    axis = 0
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, slice) and item == slice(None):
            axis += 1
        elif not isinstance(item, int):
            raise unsupported("__getitem__ with anything but numbers and whole axes")
        else:
            found = found.select(axis, item)
    return found


@operation("cat", "concat", "concatenate")
def cat(tensors: Sequence[SparseTensor], dim: int = 0) -> SparseTensor:
    """Sparse tensors one behind the other along a sparse axis.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> tg.cat([x, x]).shape
    tracegrad.Size([4, 2])
    """
    if not all(isinstance(x, SparseTensor) for x in tensors):
        raise RuntimeError("cat(): expected all tensors to be sparse. Use to_dense() or to_sparse() first.")
    axis, offset, rows = wrapped(dim, tensors[0].ndim), 0, []
    for x in tensors:
        if axis >= x.sparse_dim() or x.ndim != tensors[0].ndim:
            raise unsupported("cat along a dense axis")
        shift = full((x.sparse_dim(), 1), 0, dtype=x.places.dtype)
        shift[axis] = offset
        rows.append(x.places + shift)
        offset += x.shape[axis]
    sizes = list(tensors[0].shape)
    sizes[axis] = offset
    return SparseTensor(cat_dense(rows, 1), cat_dense([x.stored for x in tensors], 0), sizes)


@operation("to")
def to(self: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    """The values converted, as `Tensor.to` does it; the tensor itself where nothing changes.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.to(tg.float64).dtype
    tracegrad.float64
    """
    args = tuple(arg.dtype if isinstance(arg, SparseTensor) else arg for arg in args)
    values = self.stored.to(*args, **kwargs)
    return self if values is self.stored else with_values(self, values)


def _conversion(name: str) -> None:
    def convert(self: SparseTensor) -> SparseTensor:
        values = getattr(self.stored, name)()
        return self if values is self.stored else with_values(self, values)

    convert.__name__ = name
    convert.__doc__ = f"""``{name}()`` of the values; the tensor itself where that is the same tensor.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse().{name}()
    >>> x.shape, x.dtype == tg.ones(1).{name}().dtype
    (tracegrad.Size([2, 2]), True)
    """
    operation(name)(convert)


for _name in "float double half bfloat16 int long short char byte bool cfloat cdouble detach clone cpu".split():
    _conversion(_name)


@operation("cuda")
def cuda(self: SparseTensor, device: DeviceLike | None = None) -> SparseTensor:
    """AssertionError, as in a CPU build of PyTorch: there is no other device than the CPU.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.cuda()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: Torch not compiled with CUDA enabled...
    """
    return with_values(self, self.stored.cuda(device))


@operation("type")
def type(self: SparseTensor, dtype: DTypeLike | str | None = None) -> Any:
    """The name of the tensor's type, or the tensor converted, as `Tensor.type` does it.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.type(tg.float64).dtype
    tracegrad.float64
    """
    if dtype is None:
        return tensor_type(self.stored).replace("tracegrad.", "tracegrad.sparse.")
    return with_values(self, self.stored.type(dtype))


@operation("zeros_like")
def zeros_like(self: SparseTensor, **options: Any) -> SparseTensor:
    """No places at all, in the same shape; options are those of `zeros`.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> tg.zeros_like(x).to_dense().sum()
    tensor(0.)
    """
    dense = tuple(self.shape[self.sparse_dim() :])
    return SparseTensor(
        zeros(self.sparse_dim(), 0, dtype=self.places.dtype), zeros(0, *dense, dtype=self.dtype), self.shape, True
    )


@operation("is_same_size")
def is_same_size(self: SparseTensor | Tensor, other: SparseTensor | Tensor) -> bool:
    """Whether the shapes are equal.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.is_same_size(tg.ones(2, 2))
    True
    """
    return tuple(self.shape) == tuple(other.shape)


@operation("stack")
def stack(tensors: Sequence[SparseTensor], dim: int = 0) -> SparseTensor:
    """Sparse tensors of one shape along a new sparse axis.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> tg.stack([x, x], 1).shape
    tracegrad.Size([2, 2, 2])
    """
    shapes = [tuple(x.shape) for x in tensors]
    if len(set(shapes)) > 1:
        other = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
        raise RuntimeError(
            f"stack expects each tensor to be equal size, but got {list(shapes[0])} at entry 0 and "
            f"{list(shapes[other])} at entry {other}"
        )
    return cat([unsqueeze(x, dim) for x in tensors], wrapped(dim, len(shapes[0]) + 1))
