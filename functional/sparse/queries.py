"""What programs ask of any tensor, answered for sparse ones; their memory is that of places and values."""

from __future__ import annotations

from typing import Any

from .sparse_tensor import SparseTensor, operation


def _of_values(name: str) -> None:
    def asked(self: SparseTensor) -> Any:
        return getattr(self.stored, name)()

    asked.__name__ = name
    asked.__doc__ = f"""What the values give for it.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse()
    >>> x.{name}() == x.values().{name}()
    True
    """
    operation(name)(asked)


for _name in "element_size get_device is_conj is_inference is_neg is_signed".split():
    _of_values(_name)


@operation("ndimension")
def ndimension(self: SparseTensor) -> int:
    """The number of axes, sparse and dense ones.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().ndimension()
    2
    """
    return self.ndim


@operation("nelement")
def nelement(self: SparseTensor) -> int:
    """How many elements the shape has, with those that are not stored.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().nelement()
    4
    """
    return self.numel()


@operation("is_contiguous")
def is_contiguous(self: SparseTensor, memory_format: Any = None) -> bool:
    """False, as in PyTorch: the elements do not lie in rows.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().is_contiguous()
    False
    """
    return False


@operation("storage_offset")
def storage_offset(self: SparseTensor) -> int:
    """0: there is no memory of all elements.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().storage_offset()
    0
    """
    return 0


@operation("stride")
def stride(self: SparseTensor, dim: int | None = None) -> Any:
    """0 along each axis, as in PyTorch: there is no memory of all elements. With `dim` that of one axis.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().stride()
    (0, 0)
    """
    return (0,) * self.ndim if dim is None else 0 * self.size(dim)


@operation("any")
def any(self: SparseTensor) -> Any:
    """Whether an element is not zero: a dense truth value.

    >>> import tracegrad as tg
    >>> tg.eye(2).to_sparse().any()
    tensor(True)
    """
    return self.stored.any()
