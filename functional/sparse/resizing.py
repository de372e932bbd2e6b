"""Other sizes for sparse tensors, in place: the places and values stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ...tensors.creation import zeros
from ...tensors.tensor import Size
from ...tracing.watch import forbid
from .sparse_tensor import SparseTensor, operation

_OPTIONS = (
    "You could try the following options:\n"
    "1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.\n"
    "2. If you need to resize this tensor, you have the following options:\n"
    "    1. For both sparse and dense dimensions, keep the number of them constant and the size of them non-shrinking, "
    "and then try the same call again.\n"
    "    2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor."
)


@operation("sparse_resize_")
def sparse_resize_(self: SparseTensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> SparseTensor:
    """Become as large as `size` says, of `sparse_dim` sparse and `dense_dim` dense axes; returns the tensor.

    With values in it a tensor keeps its numbers of axes, sparse axes only grow, and dense ones stay as they are:
    RuntimeError, and NotImplementedError for dense axes that would grow.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse()
    >>> x.sparse_resize_((3, 2), 2, 0).to_dense()
    tensor([[1., 0.],
            [0., 1.],
            [0., 0.]])
    """
    forbid("sparse_resize_() of a sparse tensor", "Make a new one of the indices and values.")
    shape = Size(size)
    if sparse_dim + dense_dim != len(shape):
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({sparse_dim}) + dense_dim ({dense_dim}), but got {len(shape)}"
        )
    if self._nnz():
        _require_growth(self, shape, sparse_dim, dense_dim)
    elif tuple(shape) != tuple(self.shape) or sparse_dim != self.sparse_dim():
        return sparse_resize_and_clear_(self, shape, sparse_dim, dense_dim)
    self.shape = shape
    return self


@operation("sparse_resize_and_clear_")
def sparse_resize_and_clear_(self: SparseTensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> SparseTensor:
    """Become an empty tensor of these sizes; returns the tensor.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().sparse_resize_and_clear_((3, 2), 2, 0)._nnz()
    0
    """
    forbid("sparse_resize_and_clear_() of a sparse tensor", "Make a new one of the indices and values.")
    shape = Size(size)
    places = zeros(sparse_dim, 0, dtype=self.places.dtype)
    empty = SparseTensor(places, zeros(0, *shape[sparse_dim:], dtype=self.dtype), shape, coalesced=True)
    self.shape = shape
    return self.become(empty)


@operation("resize_as_", "resize_as_sparse_")
def resize_as_(self: SparseTensor, the_template: SparseTensor, *, memory_format: None = None) -> SparseTensor:
    """`sparse_resize_` to the sizes of another sparse tensor; RuntimeError for a dense one.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().resize_as_(tg.eye(3).to_sparse()).to_dense()
    tensor([[1., 0., 0.],
            [0., 1., 0.],
            [0., 0., 0.]])
    """
    if not isinstance(the_template, SparseTensor):
        raise RuntimeError("resize_as_(): the tensor and its template must both be sparse or both be dense.")
    return sparse_resize_(self, the_template.shape, the_template.sparse_dim(), the_template.dense_dim())


def _require_growth(x: SparseTensor, shape: Size, sparse_dim: int, dense_dim: int) -> None:
    """RuntimeError unless values that are there still have their places."""
    for kind, now, then in (("sparse", x.sparse_dim(), sparse_dim), ("dense", x.dense_dim(), dense_dim)):
        if now != then:
            _refuse(f"changing the number of {kind} dimensions (from {now} to {then}) on a non-empty sparse tensor")
    for kind, now, then in (
        ("sparse", x.shape[:sparse_dim], shape[:sparse_dim]),
        ("dense", x.shape[sparse_dim:], shape[sparse_dim:]),
    ):
        if any(there < here for here, there in zip(now, then, strict=True)):
            sizes = f"(from {list(now)} to {list(then)})"
            _refuse(f"shrinking the size of {kind} dimensions {sizes} on a non-empty sparse tensor")
    if tuple(x.shape[sparse_dim:]) != tuple(shape[sparse_dim:]):
        raise NotImplementedError("sparse_resize_(): dense axes of a tensor with values cannot grow in tracegrad.")


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(f"{what} is not supported.\n{_OPTIONS}")
