"""Storages with a type: ``TypedStorage``, and a class for each element type, which files name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.types import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from ..tensors.device import device, require_cpu
from ..tensors.tensor import Tensor
from .untyped_storage import UntypedStorage

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike, Number


class TypedStorage:
    """Elements of one type in a row, over an `UntypedStorage`.

    >>> import tracegrad as tg
    >>> tg.ones(2).storage().tolist()
    [1.0, 1.0]
    """

    dtype: DType = float32
    is_cuda = is_sparse = False

    def __init__(
        self,
        *args: Any,
        wrap_storage: Any = None,
        dtype: DType | None = None,
        device: DeviceLike | None = None,
        _internal: Any = None,
    ) -> None:
        require_cpu(device)
        if dtype is not None:
            self.dtype = dtype
        if wrap_storage is not None and not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
        if wrap_storage is None:
            given = args[0] if args else 0
            values = np.zeros(given, self.dtype.numpy) if isinstance(given, int) else np.array(given, self.dtype.numpy)
            wrap_storage = UntypedStorage(values.view(np.uint8))
        self._untyped_storage = wrap_storage

    @property
    def device(self) -> device:
        """Where the memory is: on the CPU, or nowhere, which is the device meta.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.device
        device(type='cpu')
        """
        return self._untyped_storage.device

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes, without a type.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.untyped().nbytes()
        8
        """
        return self._untyped_storage

    def _values(self) -> np.ndarray:
        return self._untyped_storage.buffer(self.dtype)[0]

    def size(self) -> int:
        """How many elements there are; ``len(storage)`` is the same.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.size()
        2
        """
        return self.nbytes() // self.element_size()

    __len__ = _size = size

    def nbytes(self) -> int:
        """How many bytes there are.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.nbytes()
        8
        """
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """How many bytes one element takes.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.element_size()
        4
        """
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element in memory.

        >>> import tracegrad as tg
        >>> x = tg.ones(2)
        >>> x.storage().data_ptr() == x.data_ptr()
        True
        """
        return self._untyped_storage.data_ptr()

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._values()[key].item()

    def __setitem__(self, key: Any, value: Any) -> None:
        self._values()[key] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values().tolist())

    def tolist(self) -> list[Any]:
        """The elements as Python's numbers.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.tolist()
        [1.0, 2.0]
        """
        return list(self)

    def fill_(self, value: Number) -> TypedStorage:
        """Set every element to `value`, in place; returns the storage. Tensors over the memory show it.

        >>> import tracegrad as tg
        >>> x = tg.ones(2)
        >>> _ = x.storage().fill_(3)
        >>> x
        tensor([3., 3.])
        """
        self._values()[...] = value
        return self

    def clone(self) -> TypedStorage:
        """A storage with memory of its own that holds the same elements.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.clone().fill_(0).tolist(), storage.tolist()
        ([0.0, 0.0], [1.0, 2.0])
        """
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        return memo.setdefault(id(self), self.clone())

    def __reduce__(self) -> Any:
        return _typed, (self._untyped_storage, self.dtype)

    def cpu(self) -> TypedStorage:
        """Itself: everything is on the CPU.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.cpu() is storage
        True
        """
        return self

    def cuda(self, device: DeviceLike | None = None, non_blocking: bool = False) -> TypedStorage:
        """AssertionError, as in a CPU build of PyTorch: there is no other device.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.cuda()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        AssertionError: Torch not compiled with CUDA enabled...
        """
        self._untyped_storage.cuda(device)
        return self

    def pickle_storage_type(self) -> str:
        """The name of the class that stands for the element type in files.

        >>> import tracegrad as tg
        >>> storage = tg.FloatStorage([1, 2])
        >>> storage.pickle_storage_type()
        'FloatStorage'
        """
        return CLASS_OF[self.dtype].__name__

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self)
        kind = f"torch.storage.TypedStorage(dtype=torch.{self.dtype.name}, device=cpu)"
        return f"{lines}[{kind} of size {self.size()}]"


def _typed(storage: UntypedStorage, dtype: DType) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=dtype)


class _OfOneType(TypedStorage):
    """``FloatStorage`` and the like."""

    def __new__(cls, *args: Any, wrap_storage: Any = None, **options: Any) -> Any:
        return super().__new__(cls)


class BoolStorage(_OfOneType):
    """`TypedStorage` of bool, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.BoolStorage([1, 0]).tolist()
    [True, False]
    """

    dtype = bool_


class ByteStorage(_OfOneType):
    """`TypedStorage` of uint8, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.ByteStorage([1, 0]).tolist()
    [1, 0]
    """

    dtype = uint8


class CharStorage(_OfOneType):
    """`TypedStorage` of int8, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.CharStorage([1, 0]).tolist()
    [1, 0]
    """

    dtype = int8


class ShortStorage(_OfOneType):
    """`TypedStorage` of int16, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.ShortStorage([1, 0]).tolist()
    [1, 0]
    """

    dtype = int16


class IntStorage(_OfOneType):
    """`TypedStorage` of int32, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.IntStorage([1, 0]).tolist()
    [1, 0]
    """

    dtype = int32


class LongStorage(_OfOneType):
    """`TypedStorage` of int64, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.LongStorage([1, 0]).tolist()
    [1, 0]
    """

    dtype = int64


class HalfStorage(_OfOneType):
    """`TypedStorage` of float16, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.HalfStorage([1, 0]).tolist()
    [1.0, 0.0]
    """

    dtype = float16


class BFloat16Storage(_OfOneType):
    """`TypedStorage` of bfloat16, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.BFloat16Storage([1, 0]).tolist()
    [1.0, 0.0]
    """

    dtype = bfloat16


class FloatStorage(_OfOneType):
    """`TypedStorage` of float32, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.FloatStorage([1, 0]).tolist()
    [1.0, 0.0]
    """

    dtype = float32


class DoubleStorage(_OfOneType):
    """`TypedStorage` of float64, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.DoubleStorage([1, 0]).tolist()
    [1.0, 0.0]
    """

    dtype = float64


class ComplexFloatStorage(_OfOneType):
    """`TypedStorage` of complex64, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.ComplexFloatStorage([1, 0]).tolist()
    [(1+0j), 0j]
    """

    dtype = complex64


class ComplexDoubleStorage(_OfOneType):
    """`TypedStorage` of complex128, of a number of elements or of a list of them.

    >>> import tracegrad as tg
    >>> tg.ComplexDoubleStorage([1, 0]).tolist()
    [(1+0j), 0j]
    """

    dtype = complex128


#: The class that stands for an element type in a file.
CLASS_OF: dict[DType, type[TypedStorage]] = {kind.dtype: kind for kind in _OfOneType.__subclasses__()}


def is_storage(obj: object) -> bool:
    """Whether `obj` is a storage, with or without a type.

    >>> import tracegrad as tg
    >>> tg.is_storage(tg.ones(2).storage()), tg.is_storage(tg.ones(2))
    (True, False)
    """
    return isinstance(obj, (TypedStorage, UntypedStorage))


def storage_of(tensor: Tensor) -> TypedStorage:
    """The memory behind `tensor`, with its type."""
    return TypedStorage(wrap_storage=UntypedStorage.of(tensor), dtype=tensor.dtype)
