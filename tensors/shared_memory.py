"""Memory that processes share: an anonymous file, mapped by each of them.

The file has no name, so that nothing is left behind when the last process ends. Processes that were forked have the
mapping already; others get the file's descriptor (`devices/multiprocessing`).
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.array import Array, eager
from ..ops.complex_numbers.conjugated import memory_behind
from ..ops.exposure import expose
from ..tracing.watch import forbid
from .data import refuse_recording
from .foreign.moved_memory import move, owner_of

if TYPE_CHECKING:
    from .tensor import Tensor


class SharedMapping(mmap.mmap):
    """A shared mapping that keeps its file's descriptor."""

    descriptor: int

    @classmethod
    def of(cls, descriptor: int, length: int) -> SharedMapping:
        """The file of `descriptor`, which it closes at its end. A file is mapped once in a process: tensors that show
        the same elements show the same memory here, too."""
        status = os.fstat(descriptor)
        file = status.st_dev, status.st_ino
        mapping = _mappings.get(file)
        if mapping is not None:
            if descriptor != mapping.descriptor:  # a spawned process gets one descriptor for all that it is sent of it
                os.close(descriptor)
            return mapping
        mapping = cls(descriptor, length)
        mapping.descriptor = descriptor
        return _mappings.setdefault(file, mapping)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:  # globals are gone as Python ends
        descriptor = getattr(self, "descriptor", -1)
        if descriptor >= 0:
            close(descriptor)


#: Those that are alive, by device and inode of their files.
_mappings: weakref.WeakValueDictionary[tuple[int, int], SharedMapping] = weakref.WeakValueDictionary()


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tracegrad", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def new_mapping(length: int) -> SharedMapping:
    """New memory of that many bytes. RuntimeError if there is none."""
    if sys.platform == "win32":
        raise RuntimeError("share_memory_() is not there on Windows: send numpy arrays between processes")
    descriptor = _anonymous_file()
    try:
        os.ftruncate(descriptor, max(length, 1))
    except OSError as error:
        os.close(descriptor)
        why = f"{length} bytes could not be had ({error})"
        raise RuntimeError(f"share_memory_(): {why}: free memory, or share less") from None
    return SharedMapping.of(descriptor, max(length, 1))


def mapping_of(x: Any) -> SharedMapping | None:
    """The shared mapping that the elements of a tensor, an array or a storage lie in."""
    owner: Any = owner_of(x.ndarray if isinstance(x, Array) else x).base
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.obj if isinstance(owner, memoryview) else owner.base
    return owner if isinstance(owner, SharedMapping) else None


def is_shared(input: Tensor) -> bool:
    """Whether the elements lie in memory that processes share, see `share_memory_`. A compiled function must not ask.

    >>> import tracegrad as tg
    >>> tg.ones(2).is_shared(), tg.ones(2).share_memory_().is_shared()
    (False, True)
    """
    forbid("is_shared()", "Read it outside.")
    return mapping_of(input) is not None


def array_in(mapping: SharedMapping, offset: int, shape: Any, strides: Any, dtype: Any) -> np.ndarray:
    """The elements that lie in a mapping from byte `offset` on, which other processes read and write at any time."""
    whole = np.frombuffer(mapping, np.uint8)
    array = np.ndarray(shape, dtype, whole.data, offset, strides)
    expose(array)
    return array


def share_memory_(self: Tensor) -> Tensor:
    """Move the elements to memory that other processes see, too: forked ones, and those that a queue or
    `multiprocessing.Process` sends the tensor to. What one process writes in place, all see.

    Returns the tensor; nothing happens if it is shared already. All tensors that show the same memory (views, aliases,
    what it is a view of) move along, as in PyTorch; a numpy array that was made of one stays at the old memory.

    >>> import tracegrad as tg
    >>> x = tg.ones(3)
    >>> view = x[1:].share_memory_()
    >>> x.is_shared(), view.is_shared()
    (True, True)
    """
    share([self])
    return self


def share(tensors: Iterable[Tensor]) -> None:
    """Move the memory of all of `tensors` that is not shared yet: `share_memory_` of each, at once."""
    own = [tensor for tensor in tensors if mapping_of(tensor) is None]
    if own:
        refuse_recording("share_memory_()")
        arrays = [memory_behind(eager().read(tensor, "share_memory_()"), tensor.buffer) for tensor in own]
        move(arrays, new_mapping)
        for tensor in own:
            expose(tensor.ndarray)


class Memory:
    """The elements of a tensor as a pickle holds them: copied, unless the pickle is one that processes send each other,
    for which `devices/multiprocessing` has another form."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.array(eager().read(self.tensor, "pickling"), order="C").__reduce_ex__(protocol)
