"""Sparse tensors with their axes in other orders, in parts, and in the element types of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .of_values import conj
from .sparse_tensor import SparseTensor, operation
from .structure import permute, select, transpose, wrapped

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Axes
    from ...tensors.tensor import Tensor


@operation("movedim", "moveaxis")
def movedim(self: SparseTensor, source: Axes, destination: Axes) -> SparseTensor:
    """Sparse axes at other places; the others stay in order. IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> tg.equal(x.movedim(0, 1).to_dense(), x.t().to_dense())
    True
    """
    given = [[axes] if isinstance(axes, int) else list(axes) for axes in (source, destination)]
    sources, targets = ([wrapped(axis, self.ndim) for axis in axes] for axes in given)
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({sources} dims) should contain the same number of "
            f"dims as destination ({targets} dims)"
        )
    order = [axis for axis in range(self.ndim) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return permute(self, order)


@operation("adjoint")
def adjoint(self: SparseTensor) -> SparseTensor:
    """The conjugate of the matrix with its axes exchanged.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> tg.equal(x.adjoint().to_dense(), x.t().to_dense())
    True
    """
    return conj(transpose(self, -2, -1))


@operation("unbind")
def unbind(self: SparseTensor, dim: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, each without it.

    >>> import tracegrad as tg
    >>> first, second = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse().unbind()
    >>> second.to_dense()
    tensor([0., 3.])
    """
    return tuple(select(self, dim, i) for i in range(self.shape[wrapped(dim, self.ndim)]))


@operation("type_as")
def type_as(self: SparseTensor, other: SparseTensor | Tensor) -> SparseTensor:
    """The values in the element type of another sparse tensor. RuntimeError for a dense one of another type.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse()
    >>> x.type_as(x.double()).dtype
    tracegrad.float64
    """
    if not isinstance(other, SparseTensor) and other.dtype is not self.dtype:
        raise RuntimeError(
            "to(options) doesn't support converting to a different layout, but got self.layout being Sparse and "
            "options.layout set as Strided. Use .to(other.dtype)."
        )
    return self.to(other.dtype)
