"""How tensors travel between processes: as the descriptor of the file that their memory is mapped from."""

from __future__ import annotations

import os
from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from ...serialization.untyped_storage import UntypedStorage
from ...tensors.shared_memory import Memory, SharedMapping, array_in, mapping_of, share


def shown(sent: Any, length: int, offset: int, shape: Any, strides: Any, dtype: Any) -> np.ndarray:
    """The elements in the memory that the sender shares."""
    descriptor = sent.detach()
    try:
        mapping = SharedMapping.of(descriptor, length)
    except BaseException:
        os.close(descriptor)
        raise
    return array_in(mapping, offset, shape, strides, dtype)


def _place(holder: Any, array: np.ndarray) -> Any:
    """Where `array` lies in the shared memory of `holder`, for `shown`."""
    mapping: Any = mapping_of(holder)
    offset = array.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data if array.size else 0
    return shown, (reduction.DupFd(mapping.descriptor), len(mapping), offset, array.shape, array.strides, array.dtype)


def _send_memory(memory: Memory) -> Any:
    if memory.tensor.requires_grad and not memory.tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries. If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    share([memory.tensor])
    return _place(memory.tensor, memory.tensor.ndarray)


def _send_storage(storage: UntypedStorage) -> Any:
    storage.share_memory_()
    return _storage, _place(storage.bytes, storage.bytes)


def _storage(function: Any, place: tuple[Any, ...]) -> UntypedStorage:
    return UntypedStorage(function(*place))


def send_by_descriptor(tensor: Any) -> Any:
    """What a queue, a pipe or a process's arguments hold of a tensor; its memory becomes shared.

    RuntimeError, when it is sent, for a tensor with a history that requires a gradient, as in PyTorch.
    """
    return tensor.__reduce_ex__(2)


def init_reductions() -> None:
    """Let Python's queues, pipes and processes send the memory of tensors of all classes, and storages; done at import.

    >>> import tracegrad as tg
    >>> tg.multiprocessing.init_reductions()
    """
    ForkingPickler.register(Memory, _send_memory)
    ForkingPickler.register(UntypedStorage, _send_storage)
