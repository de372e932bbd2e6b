"""``tracegrad.sparse``: sparse tensors in coordinate form, under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..normalizing.softmax import log_softmax as dense_log_softmax
from ..normalizing.softmax import softmax as dense_softmax
from ..reductions import sum as dense_sum
from . import in_place, queries, rearranged, resizing  # noqa: F401  which give sparse tensors their methods
from .arithmetic import log_softmax as _log_softmax
from .arithmetic import softmax as _softmax
from .arithmetic import sum as _sum
from .construction import DoubleTensor, FloatTensor, IntTensor, LongTensor
from .products import addmm
from .products import sparse_mm as mm
from .sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import Axes
    from ...tensors.tensor import Tensor


__all__ = [
    "DoubleTensor", "FloatTensor", "IntTensor", "LongTensor", "addmm", "log_softmax", "mm", "softmax", "sum",
]  # fmt: skip


def sum(input: Tensor | SparseTensor, dim: Axes | None = None, dtype: DType | None = None) -> Any:
    """The sum of a sparse tensor: of all values (a dense number), or along `dim`, sparse if a sparse axis is left.

    >>> import tracegrad as tg
    >>> tg.sparse.sum(tg.eye(3).to_sparse())
    tensor(3.)
    """
    if isinstance(input, SparseTensor):
        return _sum(input, dim, dtype=dtype)
    return dense_sum(input, dtype=dtype) if dim is None else dense_sum(input, dim, dtype=dtype)


def softmax(input: Tensor | SparseTensor, dim: int, *, dtype: DType | None = None) -> Any:
    """Softmax along `dim` over the places that there are: others count as minus infinity. Of the places of `input`.

    A dense tensor has the softmax that it has elsewhere. `dtype` is what is computed in.

    >>> import tracegrad as tg
    >>> tg.sparse.softmax(tg.tensor([[0.0, 2.0, 2.0]]).to_sparse(), 1).values()
    tensor([0.5000, 0.5000])
    """
    if isinstance(input, SparseTensor):
        return _softmax(input, dim, dtype=dtype)
    return dense_softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor | SparseTensor, dim: int, *, dtype: DType | None = None) -> Any:
    """The logarithm of `softmax` along `dim`, over the places that there are. `dtype` is what is computed in.

    >>> import tracegrad as tg
    >>> tg.sparse.log_softmax(tg.tensor([[0.0, 2.0, 2.0]]).to_sparse(), 1).values()
    tensor([-0.6931, -0.6931])
    """
    if isinstance(input, SparseTensor):
        return _log_softmax(input, dim, dtype=dtype)
    return dense_log_softmax(input, dim, dtype=dtype)
