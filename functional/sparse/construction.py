"""Making sparse tensors: from places and values, from dense tensors, by old constructors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import eager
from ...ops.types import DType, float32, float64, int32, int64
from ...tensors.arguments import sizes_of
from ...tensors.creation import from_numpy, tensor, zeros
from ...tensors.device import require_cpu
from ...tensors.layouts.formats import sparse_coo
from ...tensors.size import Size
from ...tensors.tensor import Tensor
from ...tracing.watch import watcher
from ..reductions import in_dtype
from .sparse_tensor import SparseTensor, operation, unsupported
from .structure import at_rows, positions, with_values

if TYPE_CHECKING:
    from ...tensors.calling.annotations import DeviceLike, Number, Sizes
    from ...tensors.layouts.formats import layout


def sparse_coo_tensor(
    indices: Tensor | np.ndarray | Sequence[object] | None = None,
    values: Tensor | np.ndarray | Sequence[object] | Number | None = None,
    size: Sizes | None = None,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:
    """A sparse tensor with ``values[k]`` at ``indices[:, k]``; ``sparse_coo_tensor(size)`` has no place at all.

    `indices` is ``[sparse_dim, nnz]``, `values` ``[nnz, *dense]``; `size` is the smallest that holds the places unless
    it is given. Values at the same place add up. Gradients reach `values` if it is a tensor that requires grad.
    RuntimeError for shapes that do not go together, and for places outside of `size` (PyTorch looks at them only with
    `check_invariants`).

    >>> import tracegrad as tg
    >>> x = tg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> x.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    require_cpu(device)
    if indices is None and size is None:
        raise TypeError("sparse_coo_tensor() takes indices and values, or a size")
    if values is None:
        sizes = sizes_of((indices,)) if size is None else sizes_of((size,))
        made = SparseTensor(zeros(len(sizes), 0, dtype=int64), zeros(0, dtype=dtype), sizes, True)
        return made.requires_grad_() if requires_grad else made
    places = in_dtype(_as_tensor(indices), int64)
    stored = in_dtype(_as_tensor(values), dtype)
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    _require_lengths(places, stored)
    sizes = tuple(_smallest(places, stored) if size is None else sizes_of((size,)))
    _require_room(places, stored, sizes)
    if requires_grad:
        stored = stored.detach().requires_grad_()
    return SparseTensor(places, stored, sizes, bool(is_coalesced))


def _as_tensor(data: Any) -> Any:
    return data if isinstance(data, Tensor) else tensor(data)


def _require_lengths(places: Tensor, stored: Tensor) -> None:
    length = stored.shape[0] if stored.ndim else 1
    if places.shape[1] != length or not stored.ndim:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz from values: "
            f"{length}"
        )


def _smallest(places: Tensor, stored: Tensor) -> list[int]:
    numbers = eager().read(places.detach(), "sparse_coo_tensor() without a size")
    if not numbers.shape[1]:
        return [*[0] * numbers.shape[0], *stored.shape[1:]]
    return [*(int(row.max()) + 1 for row in numbers), *stored.shape[1:]]


def _require_room(places: Tensor, stored: Tensor, sizes: Any) -> None:
    dense = stored.ndim - 1
    if len(sizes) != places.shape[0] + dense:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(sizes)}, "
            f"sparse_dim = {places.shape[0]}, dense_dim = {dense}"
        )
    if tuple(sizes[places.shape[0] :]) != tuple(stored.shape[1:]):
        raise RuntimeError(
            f"values has incorrect size, expected {sizes[places.shape[0] :]}, got {list(stored.shape[1:])}"
        )
    if watcher() is not None or not places.shape[1]:
        return  # a recording does not look: what uses the places checks them
    for axis, row in enumerate(eager().read(places.detach(), "sparse_coo_tensor()")):
        if row.min() < 0:
            raise RuntimeError(f"found negative index {row.min()} for dim {axis}")
        if row.max() >= sizes[axis]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {axis}, size is {sizes[axis]} but found index {row.max()}"
            )


def to_sparse(self: Tensor, sparse_dim: int | None = None, *, layout: layout | None = None) -> SparseTensor:
    """The elements that are not zero, and their places: a coalesced sparse tensor with gradients to this one.

    The first `sparse_dim` axes (default: all) are sparse, the others stay dense in the values.

    >>> import tracegrad as tg
    >>> tg.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    tensor(indices=tensor([[0],
                           [1]]),
           values=tensor([2.]),
           size=(2, 2), nnz=1, layout=tracegrad.sparse_coo)
    """
    if layout not in (None, sparse_coo):
        raise unsupported(f"to_sparse in the layout {layout!r}")
    count = self.ndim if sparse_dim is None else sparse_dim
    if not 0 < count <= self.ndim and self.ndim:
        raise IndexError(f"sparse_dim must be in [1, {self.ndim}], but got {sparse_dim}")
    values = eager().read(self.detach(), "to_sparse()")
    filled = (values != 0).reshape(*values.shape[:count], -1).any(-1)
    places = np.array(np.nonzero(filled), np.int64).reshape(count, -1)
    made = SparseTensor(from_numpy(places), zeros(places.shape[1]), self.shape, True)
    return with_values(made, at_rows(self.reshape(-1, *self.shape[count:]), positions(made)))


@operation("sparse_mask")
def sparse_mask(self: Tensor, mask: SparseTensor) -> SparseTensor:
    """The values of a dense tensor at the places of a sparse one of the same shape; their gradients go to this tensor.

    RuntimeError for a dense mask and for another shape.

    >>> import tracegrad as tg
    >>> tg.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(tg.eye(2).to_sparse()).values()
    tensor([1., 4.])
    """
    if not isinstance(mask, SparseTensor):
        raise RuntimeError("sparse_mask(): mask must be sparse. Use masked_fill() or multiplication for a dense mask.")
    if tuple(self.shape) != tuple(mask.shape):
        sizes = f"self has size {list(self.shape)} but mask has size {list(mask.shape)}"
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; {sizes}")
    return with_values(mask, at_rows(self.reshape(-1, *self.shape[mask.sparse_dim() :]), positions(mask)))


def _legacy(name: str, dtype: DType) -> Callable[..., SparseTensor]:
    def construct(*args: Any) -> SparseTensor:
        if len(args) >= 2 and isinstance(args[0], Tensor):
            indices, values, *size = args
            return sparse_coo_tensor(indices, in_dtype(values, dtype), *size)
        sizes = args[0] if args and isinstance(args[0], Size) else args or (0,)
        return sparse_coo_tensor(tuple(sizes), dtype=dtype)

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = f"""The old form of `sparse_coo_tensor` for {dtype.name}.

    It takes places, values and a size, or sizes alone, for a tensor without any place.

    >>> import tracegrad as tg
    >>> x = tg.sparse.{name}(tg.tensor([[0], [1]]), tg.tensor([3]), (2, 2))
    >>> x.dtype, x.to_dense().tolist() == [[0, 3], [0, 0]]
    (tracegrad.{dtype.name}, True)
    """
    return construct


FloatTensor, DoubleTensor = _legacy("FloatTensor", float32), _legacy("DoubleTensor", float64)
IntTensor, LongTensor = _legacy("IntTensor", int32), _legacy("LongTensor", int64)
