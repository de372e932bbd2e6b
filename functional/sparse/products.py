"""Products with sparse matrices: rows of the dense factor, gathered, scaled and added up at places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...tensors.creation import from_numpy, zeros
from .. import linear_algebra
from ..places.index_writes import index_add
from .sparse_tensor import SparseTensor, operation, unsupported
from .structure import at_rows, coalesce, numbers_of, stack_rows, t

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _require_matrices(first: Any, second: Any, name: str) -> None:
    for position, x in enumerate((first, second)):
        if x.ndim != 2 or (isinstance(x, SparseTensor) and x.dense_dim()):
            raise RuntimeError(f"{name}: Expected 2D tensors, but argument {position + 1} is {x.ndim}D")
    if first.shape[1] != second.shape[0]:
        raise RuntimeError(
            f"{name}: Argument #3 (dense): Expected dim 0 size {first.shape[1]}, got {second.shape[0]}. The inner "
            "extents of a product must be equal."
        )
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {first.dtype.c_name} != {second.dtype.c_name}. "
            "Convert one of them."
        )


@operation("mm", "spmm")
def mm(input: Tensor | SparseTensor, mat2: Tensor | SparseTensor) -> Any:
    """The product of two matrices, at least one of which is sparse; sparse if both are.

    RuntimeError for shapes and types that do not go together. Gradients reach values and dense matrices.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.mm(tg.ones(2, 1))
    tensor([[2.],
            [3.]])
    """
    _require_matrices(input, mat2, "addmm")
    if not isinstance(input, SparseTensor):
        other: Any = mat2  # the sparse one
        return mm(t(other), input.t()).t()
    if isinstance(mat2, SparseTensor):
        return _sparse_product(input, mat2)
    rows, columns = input.places.unbind(0)
    terms = input.stored.unsqueeze(1) * at_rows(mat2, columns)
    return index_add(zeros(input.shape[0], mat2.shape[1], dtype=input.dtype), 0, rows, terms)


def _sparse_product(first: SparseTensor, second: SparseTensor) -> SparseTensor:
    """Each value of `first` meets the row of `second` that its column names."""
    second = coalesce(second)
    rows, inner = numbers_of(first.places, "a product of sparse matrices")
    other_rows, columns = numbers_of(second.places, "a product of sparse matrices")
    starts = np.searchsorted(other_rows, inner)
    counts = np.searchsorted(other_rows, inner, "right") - starts
    mine = np.repeat(np.arange(len(inner)), counts)
    ends = np.cumsum(counts)
    theirs = np.arange(len(mine)) - np.repeat(ends - counts, counts) + np.repeat(starts, counts)
    values = at_rows(first.stored, from_numpy(mine)) * at_rows(second.stored, from_numpy(theirs))
    places = stack_rows([from_numpy(rows[mine]), from_numpy(columns[theirs])])
    return coalesce(SparseTensor(places, values, (first.shape[0], second.shape[1])))


@operation("mv")
def mv(input: SparseTensor, vec: Tensor) -> Tensor:
    """A sparse matrix times a dense vector. NotImplementedError for a sparse vector.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x.mv(tg.ones(2))
    tensor([2., 3.])
    """
    if not isinstance(input, SparseTensor) or isinstance(vec, SparseTensor):
        raise unsupported("mv")
    return mm(input, vec.unsqueeze(1)).squeeze(1)


@operation("matmul", "__matmul__", "__rmatmul__")
def matmul(input: Any, other: Any) -> Any:
    """``input @ other``: `mm`, or `mv` for a vector.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> x @ tg.ones(2)
    tensor([2., 3.])
    """
    if input.ndim == 1 and other.ndim == 2:
        return mv(t(other), input)
    return mv(input, other) if other.ndim == 1 else mm(input, other)


SparseTensor.__rmatmul__ = lambda self, other: matmul(other, self)  # type: ignore[attr-defined]


@operation("addmm")
def addmm(
    input: Tensor | SparseTensor,
    mat1: Tensor | SparseTensor,
    mat2: Tensor | SparseTensor,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)`` of matrices, sparse or dense; dense if `input` is.

    RuntimeError for shapes and types that do not go together.

    >>> import tracegrad as tg
    >>> tg.sparse.addmm(tg.ones(2, 1), tg.eye(2).to_sparse(), tg.tensor([[1.0], [2.0]]))
    tensor([[2.],
            [3.]])
    """
    product = mm(mat1, mat2) if isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor) else mat1 @ mat2
    scaled = product if alpha == 1 else product * alpha
    given: Any = input
    return (given if beta == 1 else given * beta) + scaled


@operation("linear")
def linear(input: SparseTensor | Tensor, weight: SparseTensor | Tensor, bias: Tensor | None = None) -> Any:
    """``input @ weight.T + bias``, one of the factors sparse.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> tg.nn.functional.linear(x, tg.ones(1, 2))
    tensor([[2.],
            [3.]])
    """
    out = matmul(input, weight.t())
    return out if bias is None else out + bias


def sparse_mm(input: Tensor | SparseTensor, mat2: Tensor | SparseTensor, reduce: str | None = None) -> Any:
    """``sparse.mm(input, mat2)``: the product of two matrices, sparse if both are; of two dense ones as `mm` has it.

    RuntimeError for shapes and types that do not go together, NotImplementedError for `reduce`, which is for PyTorch's
    other layouts. Gradients reach values and dense matrices.

    >>> import tracegrad as tg
    >>> tg.sparse.mm(tg.eye(2).to_sparse(), tg.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    if reduce is not None:
        raise unsupported(f"sparse.mm with reduce={reduce!r}")
    if isinstance(input, SparseTensor) or isinstance(mat2, SparseTensor):
        return mm(input, mat2)
    return linear_algebra.mm(input, mat2)


def spmm(input: Tensor | SparseTensor, mat2: Tensor | SparseTensor) -> Tensor | SparseTensor:
    """The product of a sparse and a dense matrix, dense; of two dense ones as `mm` has it.

    RuntimeError for shapes and types that do not go together.

    >>> import tracegrad as tg
    >>> tg.spmm(tg.eye(2).to_sparse(), tg.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    return sparse_mm(input, mat2)
