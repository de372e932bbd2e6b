"""Messages between a loader and its workers: pickles, with the memory of large tensors and arrays beside them.

Memory of 64 KiB and more goes into an anonymous file in memory (``memfd_create``), whose descriptor is sent along, so
that no worker waits until a large batch was read. The file has no name: nothing is left behind, whoever is killed; it
does not count against /dev/shm, and no descriptor stays open. Where there are no such files (outside Linux), memory is
sent with the pickle.
"""

from __future__ import annotations

import io
import os
import pickle
from multiprocessing import reduction
from typing import Any

import numpy as np

from ....ops.array import eager
from ....ops.memory import aligned_empty
from ....ops.types import dtype_named
from ....tensors.shared_memory import Memory
from ....tensors.tensor import Tensor, make, unrecorded

SMALLEST = 64 * 1024  # bytes for which a file is quicker
_BYTES = np.dtype(np.uint8)


class _Pickler(reduction.ForkingPickler):
    """multiprocessing's pickler, with tensors as their memory."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is Memory:  # of a tensor of another class
            return value.__reduce_ex__(5)
        return _reduced(value) if type(value) is Tensor and not vars(value) else NotImplemented


def _reduced(tensor: Tensor) -> Any:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    array = eager().read(tensor, "sending a tensor to another process")
    order = tuple(int(axis) for axis in np.argsort([-abs(stride) for stride in array.strides], kind="stable"))
    turned = array.transpose(order)
    data = np.ascontiguousarray(turned).reshape(-1).view(_BYTES) if array.size else np.empty(0, _BYTES)
    return rebuilt, (tensor.dtype.name, turned.shape, order, tensor.requires_grad, data)


def rebuilt(
    dtype: str, shape: tuple[int, ...], order: tuple[int, ...], requires_grad: bool, data: np.ndarray
) -> Tensor:
    """A tensor that shows `data`, with the axes from the largest stride to the smallest in `order`."""
    array = data.view(dtype_named(dtype).numpy).reshape(shape)
    made: Tensor = unrecorded(make, array.transpose(np.argsort(order)) if order else array)
    return made.requires_grad_() if requires_grad else made


def send(connection: Any, message: Any) -> None:
    """Send `message`. Nothing is sent if it cannot be pickled."""
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, True, buffers.append).dump(message)
    raw = [buffer.raw() for buffer in buffers]
    sizes = [len(view) for view in raw]
    descriptor = _stored(raw) if sum(sizes) >= SMALLEST else None
    inline = [] if descriptor is not None else [bytes(view) for view in raw]
    connection.send_bytes(pickle.dumps((stream.getvalue(), sizes, inline, descriptor is not None)))
    if descriptor is not None:
        try:
            reduction.send_handle(connection, descriptor, None)
        finally:
            os.close(descriptor)


def receive(connection: Any) -> Any:
    """The next message. EOFError or OSError if the other side is gone."""
    payload, sizes, inline, is_stored = pickle.loads(connection.recv_bytes())
    if is_stored:
        return pickle.loads(payload, buffers=_read(reduction.recv_handle(connection), sizes))
    return pickle.loads(payload, buffers=[_copied(data) for data in inline])


def _stored(raw: list[memoryview]) -> int | None:
    """A descriptor of a file with all that memory, one piece behind the other; None if there can be no file."""
    try:
        descriptor = os.memfd_create("tracegrad_batch")
    except (AttributeError, OSError):
        return None
    try:
        for view in raw:
            while len(view):
                view = view[os.write(descriptor, view) :]
    except OSError:  # no memory for it
        os.close(descriptor)
        return None
    return descriptor


def _read(descriptor: int, sizes: list[int]) -> list[np.ndarray]:
    """The file's memory in pieces of those sizes; each has memory of its own."""
    found, start = [], 0
    try:
        for size in sizes:
            memory = aligned_empty((size,), _BYTES)
            view = memory.data
            while len(view):
                done = os.preadv(descriptor, [view], start)
                view, start = view[done:], start + done
            found.append(memory)
    finally:
        os.close(descriptor)
    return found


def _copied(data: bytes) -> np.ndarray:
    memory = aligned_empty((len(data),), _BYTES)
    memory[:] = np.frombuffer(data, _BYTES)
    return memory
