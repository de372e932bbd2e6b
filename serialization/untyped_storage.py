"""Memory in a row without a type: what stands behind tensors, as PyTorch's files know it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops.array import Buffer, eager
from ..ops.complex_numbers.conjugated import memory_behind
from ..ops.exposure import tell_reader
from ..ops.memory import aligned_empty
from ..ops.types import DType, dtype_of
from ..tensors.device import CPU, device, require_cpu
from ..tensors.foreign.moved_memory import Move, holders, move
from ..tensors.shared_memory import mapping_of, new_mapping
from ..tensors.tensor import Tensor


class UntypedStorage:
    """Bytes in a row. ``UntypedStorage(n)`` are n new ones; `tensor.untyped_storage()` is the memory of a tensor.

    >>> import tracegrad as tg
    >>> storage = tg.arange(3, dtype=tg.uint8).untyped_storage()
    >>> storage.nbytes(), storage.tolist()
    (3, [0, 1, 2])
    """

    is_cuda = is_sparse = is_hpu = False

    def __init__(self, size: Any = 0, *, device: Any = None) -> None:
        require_cpu(device)
        if isinstance(size, np.ndarray):
            self._bytes = size
        elif isinstance(size, int):
            self._bytes = np.zeros(size, np.uint8)
        else:
            self._bytes = np.array(list(size), np.uint8)
        self._buffers: dict[DType, Buffer] = {}
        self.changed: dict[Any, UntypedStorage] = {}  # what files say is this one conjugated or negated

    @classmethod
    def of(cls, tensor: Tensor) -> UntypedStorage:
        """The memory behind `tensor`, from its first byte to its last."""
        shown = memory_behind(eager().read(tensor.detach(), "untyped_storage()"), tensor.buffer)
        tell_reader(tensor.buffer)
        memory = extent(shown, tensor.buffer.whole)
        made = cls(memory.view(np.uint8))
        if memory.size and np.may_share_memory(memory, shown):
            made._buffers[dtype_of(memory)] = tensor.buffer
        return made

    @staticmethod
    def from_file(filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """A file's first bytes, mapped; writes reach the file if `shared`, and stay here otherwise."""
        return mapped(filename, shared, nbytes)

    # ------------------------------------------------------------------------------------------------------- facts

    @property
    def device(self) -> device:
        return CPU

    @property
    def filename(self) -> str | None:
        """The file that is mapped, if one is."""
        memory: Any = self._bytes
        while memory is not None and not isinstance(memory, np.memmap):
            memory = getattr(memory, "base", None)
        name = getattr(memory, "filename", None)
        return None if name is None else os.fspath(name)

    def nbytes(self) -> int:
        """How many bytes there are."""
        return int(self._bytes.size)

    size = __len__ = nbytes

    def element_size(self) -> int:
        """1."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return int(self._bytes.ctypes.data)

    def is_shared(self) -> bool:
        """Whether other processes see it, see `share_memory_`."""
        return mapping_of(self._bytes) is not None

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes, and the tensors that show them, to memory that other processes see; returns the storage."""
        if not self.is_shared():
            move([self._bytes], new_mapping)
        return self

    def _moved(self, move: Move) -> None:
        self._bytes = move.array(self._bytes)
        self._buffers = {dtype: move.buffer(buffer) for dtype, buffer in self._buffers.items()}

    def is_pinned(self, device: Any = "cuda") -> bool:
        """False."""
        return False

    def get_device(self) -> int:
        """-1: the CPU."""
        return -1

    # ----------------------------------------------------------------------------------------------------- contents

    @property
    def bytes(self) -> np.ndarray:
        """The memory itself."""
        return self._bytes

    def buffer(self, dtype: DType) -> tuple[np.ndarray, Buffer | None]:
        """All of it as elements of `dtype`, in a row, and the buffer that tensors of this type show, if any does."""
        return self._bytes.view(dtype.numpy), self._buffers.get(dtype)

    def show(self, dtype: DType, buffer: Buffer) -> None:
        """Let tensors of `dtype` show `buffer` from now on."""
        self._buffers[dtype] = buffer

    def __getitem__(self, key: Any) -> Any:
        part = self._bytes[key]
        return type(self)(part) if isinstance(key, slice) else int(part)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._bytes[key] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self._bytes.tolist())

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return list(self)

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        self._bytes[...] = value
        return self

    def copy_(self, source: Any, non_blocking: Any = None) -> UntypedStorage:
        """Copy the bytes of another storage."""
        self._bytes[...] = source.untyped()._bytes
        return self

    def clone(self) -> UntypedStorage:
        """A copy."""
        return type(self)(self._bytes.copy())

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        return memo.setdefault(id(self), self.clone())

    def __reduce__(self) -> Any:
        return _from_bytes, (self._bytes.tobytes(),)

    def cpu(self) -> UntypedStorage:
        """Itself."""
        return self

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """AssertionError: there is no CUDA."""
        require_cpu("cuda" if device is None or isinstance(device, int) else device)
        return self

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """Itself for the CPU, an error for any other device."""
        require_cpu(device)
        return self

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self)
        return f"{lines}[torch.storage.UntypedStorage(device=cpu) of size {self.nbytes()}]"


holders[UntypedStorage] = lambda storage: storage.bytes, UntypedStorage._moved


def _from_bytes(data: bytes) -> UntypedStorage:
    return UntypedStorage(copied(data))


def copied(data: Any) -> np.ndarray:
    """Bytes in memory of their own, aligned."""
    given = np.frombuffer(data, np.uint8)
    memory = aligned_empty(given.shape, given.dtype)
    np.copyto(memory, given)
    return memory


def mapped(path: Any, shared: bool, nbytes: int) -> UntypedStorage:
    """The first bytes of a file, mapped."""
    if nbytes == 0:
        return UntypedStorage(0)
    return UntypedStorage(np.memmap(path, np.uint8, "r+" if shared else "c", shape=(nbytes,)))


def extent(shown: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The memory of `whole` in a row, of the type of `shown`, from its first element to its last, gaps included.

    A copy of `shown` in the order of rows where the memory does not show as PyTorch's storages do: strides that are
    negative or no multiples of an element, and values that lie elsewhere.
    """
    if whole.dtype == shown.dtype and _is_regular(whole) and _is_regular(shown):
        count = (
            1 + sum((n - 1) * stride for n, stride in zip(whole.shape, whole.strides, strict=True)) // whole.itemsize
        )
        memory = np.lib.stride_tricks.as_strided(whole, (count,) if whole.size else (0,), (whole.itemsize,))
        if not shown.size or _lies_in(shown, memory):
            return memory
    if whole.dtype != shown.dtype and whole.flags.c_contiguous and whole.nbytes % shown.itemsize == 0:
        memory = whole.reshape(-1).view(shown.dtype)
        if _is_regular(shown) and _lies_in(shown, memory):
            return memory
    return np.array(shown, order="C").reshape(-1)


def _is_regular(array: np.ndarray) -> bool:
    return all(stride >= 0 and stride % array.itemsize == 0 for stride in array.strides)


def _lies_in(shown: np.ndarray, memory: np.ndarray) -> bool:
    offset = shown.ctypes.data - memory.ctypes.data
    last = offset + sum((n - 1) * stride for n, stride in zip(shown.shape, shown.strides, strict=True))
    return offset >= 0 and offset % memory.itemsize == 0 and last < memory.nbytes
