"""`SparseTensor`: the values at some places of a tensor that is zero elsewhere, in PyTorch's coordinate form.

It is made of two tensors, so what is computed of it is computed of them: gradients reach the values, and a recording
sees gathers and sums at places. It is no subclass of Tensor. It takes part in functions by ``__torch_function__``:
those of `OPERATIONS` have a sparse form, all others are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ...tensors.device import CPU, device
from ...tensors.formatting import format_sparse
from ...tensors.layouts.formats import layout, sparse_coo
from ...tensors.size import Size
from ...tensors.tensor import Tensor

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tape.nodes import Node


F = TypeVar("F", bound=Callable[..., Any])

#: What functions and methods do where a sparse tensor is among their arguments, by name.
OPERATIONS: dict[str, Callable[..., Any]] = {}


def operation(*names: str) -> Callable[[F], F]:
    """Say that a function is the sparse form of those with `names`, and the methods of these names."""

    def register(function: F) -> F:
        for name in names:
            OPERATIONS[name] = function
            setattr(SparseTensor, name, function)
        return function

    return register


def unsupported(name: str) -> NotImplementedError:
    """What is raised for an operation without a sparse form, in PyTorch's words."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend: sparse tensors have no such "
        "operation in tracegrad. Use to_dense() first."
    )


#: Whether one was ever made: before that nobody has to look for them.
existence = SimpleNamespace(begun=False)


class SparseTensor:
    """``values[k]`` at ``indices[:, k]``, zero elsewhere. Made by `sparse_coo_tensor` and ``Tensor.to_sparse``.

    `indices` is an int64 tensor ``[sparse_dim, nnz]``; `values` is ``[nnz, *dense]``, and its leading axis stands for
    the first `sparse_dim` axes of `size`. Places may occur several times until `coalesce` adds them up. It is made by
    `sparse_coo_tensor` and ``to_sparse()``; functions without a sparse form raise NotImplementedError.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse()
    >>> x.indices(), x.values()
    (tensor([[0, 1],
            [0, 1]]), tensor([1., 1.]))
    """

    __slots__ = ("__weakref__", "coalesced", "places", "shape", "stored")
    #: Its Python is the library's: a recording may run it.
    is_of_library = True
    is_sparse, is_cuda, is_cpu, is_parameter = True, False, True, False
    places: Tensor
    stored: Tensor
    shape: Size
    coalesced: bool

    def __init__(self, indices: Tensor, values: Tensor, size: Iterable[int], coalesced: bool = False) -> None:
        existence.begun = True
        self.places, self.stored, self.shape = indices, values, Size(size)
        self.coalesced = coalesced or values.shape[0] < 2

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Iterable[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", str(func))
        form = OPERATIONS.get(name) or OPERATIONS.get(name.strip("_"))
        if form is None or (name.endswith("_") and not name.startswith("__")):
            raise unsupported(name)
        return form(*args, **(kwargs or {}))

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or not hasattr(Tensor, name):
            raise AttributeError(f"'SparseTensor' object has no attribute {name!r}", name=name, obj=self)
        if isinstance(getattr(Tensor, name), property):
            raise AttributeError(
                f"sparse tensors have no attribute {name!r}. Use to_dense() first.", name=name, obj=self
            )

        def refused(*args: Any, **kwargs: Any) -> Any:
            raise unsupported(name)

        return refused

    def __reduce__(self) -> Any:
        return SparseTensor, (self.places, self.stored, tuple(self.shape), self.coalesced)

    # ------------------------------------------------------------------------------------------------- description

    @property
    def dtype(self) -> DType:
        """The element type of the values.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.dtype
        tracegrad.float32
        """
        return self.stored.dtype

    @property
    def device(self) -> device:
        """Where the elements are: on the CPU.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.device
        device(type='cpu')
        """
        return CPU

    @property
    def layout(self) -> layout:
        """``tg.sparse_coo``: places and values.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.layout
        tracegrad.sparse_coo
        """
        return sparse_coo

    @property
    def ndim(self) -> int:
        """The number of axes, sparse and dense ones.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.ndim
        2
        """
        return len(self.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether operations on the values are recorded.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.requires_grad
        False
        """
        return self.stored.requires_grad

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation has made the values.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.is_leaf
        True
        """
        return self.stored.is_leaf

    @property
    def grad_fn(self) -> Node | None:
        """The node of the graph that has made the values, None for a leaf.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.grad_fn is None
        True
        """
        return self.stored.grad_fn

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient of a leaf, sparse, at the same places; None before the first backward pass.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> _ = x.requires_grad_()
        >>> tg.sparse.sum(x * 2).backward()
        >>> x.grad.values()
        tensor([2., 2.])
        """
        grad = self.stored.grad
        return None if grad is None else SparseTensor(self.places, grad, self.shape, self.coalesced)

    @grad.setter
    def grad(self, value: SparseTensor | None) -> None:
        self.stored.grad = None if value is None else value.stored

    @property
    def buffer(self) -> Any:
        """The memory of the values.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.buffer is x.values().buffer
        True
        """
        return self.stored.buffer

    def become(self, other: SparseTensor) -> SparseTensor:
        """Hold what `other` holds: how a gradient grows in place."""
        self.places, self.stored, self.coalesced = other.places, other.stored, other.coalesced
        return self

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Start (or stop) tracking this leaf, in place; returns it. RuntimeError for types without a gradient.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.requires_grad_().requires_grad
        True
        """
        self.stored.requires_grad_(requires_grad)
        return self

    def size(self, dim: int | None = None) -> Any:
        """The shape; with `dim` one extent of it. IndexError for an axis that is not there.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.size(), x.size(0)
        (tracegrad.Size([2, 2]), 2)
        """
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of axes, sparse and dense ones.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.dim()
        2
        """
        return len(self.shape)

    def numel(self) -> int:
        """How many elements the shape has, with those that are not stored.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.numel()
        4
        """
        return int(self.shape.numel())

    def sparse_dim(self) -> int:
        """How many of the axes the places count in: the first ones.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.sparse_dim()
        2
        """
        return int(self.places.shape[0])

    def dense_dim(self) -> int:
        """How many of the axes the values have: the last ones.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.dense_dim()
        0
        """
        return len(self.shape) - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Whether each place occurs once, in order.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.is_coalesced(), (x + x).is_coalesced()
        (True, True)
        """
        return self.coalesced

    def is_floating_point(self) -> bool:
        """Whether the values have a floating type.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.is_floating_point()
        True
        """
        return self.stored.is_floating_point()

    def is_complex(self) -> bool:
        """Whether the values have a complex type.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.is_complex()
        False
        """
        return self.stored.is_complex()

    def _nnz(self) -> int:
        return int(self.places.shape[1])

    def _indices(self) -> Tensor:
        return self.places

    def _values(self) -> Tensor:
        return self.stored.detach()

    def indices(self) -> Tensor:
        """The places, an int64 tensor ``[sparse_dim, nnz]``. RuntimeError unless they are coalesced.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.indices()
        tensor([[0, 1],
                [1, 1]])
        """
        self._require_coalesced("indices")
        return self.places

    def values(self) -> Tensor:
        """The values, ``[nnz, *dense]``, with their history. RuntimeError unless they are coalesced.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.values()
        tensor([2., 3.])
        """
        self._require_coalesced("values")
        return self.stored

    def _require_coalesced(self, what: str) -> None:
        if not self.coalesced:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    # ------------------------------------------------------------------------------------------- Python's protocols

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        raise unsupported("eq")

    def __ne__(self, other: object) -> Any:
        raise unsupported("ne")

    def item(self) -> Any:
        """The one element as a Python number; RuntimeError if there are several.

        >>> import tracegrad as tg
        >>> tg.tensor([2.0]).to_sparse().item()
        2.0
        """
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar. Use to_dense().")
        return self.stored.sum().item()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                "Boolean value of Tensor with more than one value is ambiguous. Look at its values(), e.g. by any()."
            )
        return bool(self.stored.sum() != 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.numpy()

    def numpy(self, *, force: bool = False) -> NoReturn:
        """TypeError: numpy has no sparse arrays. Take ``to_dense()`` first.

        >>> import tracegrad as tg
        >>> x = tg.tensor([[0.0, 2.0], [0.0, 3.0]]).to_sparse()
        >>> x.numpy()
        Traceback (most recent call last):
        TypeError: can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.
        """
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def __repr__(self) -> str:
        return format_sparse(self)
