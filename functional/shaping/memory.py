"""The storages behind tensors."""

from __future__ import annotations

from ...ops.complex_numbers.conjugated import memory_behind
from ...ops.exposure import tell_reader
from ...serialization.storages import TypedStorage, storage_of
from ...serialization.untyped_storage import UntypedStorage
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_once
from ...tracing.watch import forbid


def data_ptr(input: Tensor) -> int:
    """The address of the first element in memory. A compiled function must not ask for it.

    >>> import tracegrad as tg
    >>> tg.ones(2).data_ptr() > 0
    True
    """
    forbid("data_ptr()", "Read it outside.")
    input._look("data_ptr()")  # what is written there must not be computed afterwards
    tell_reader(input.buffer)
    return int(memory_behind(input.ndarray, input.buffer).ctypes.data)


def untyped_storage(input: Tensor) -> UntypedStorage:
    """The bytes of the whole memory behind the tensor, which views share.

    >>> import tracegrad as tg
    >>> tg.ones(3)[1:].untyped_storage().nbytes()
    12
    """
    return UntypedStorage.of(input)


def storage(input: Tensor) -> TypedStorage:
    """The elements of the whole memory behind the tensor, in a row.

    >>> import tracegrad as tg
    >>> tg.arange(3)[1:].storage().tolist()
    [0, 1, 2]
    """
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly. To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()"
    )
    return storage_of(input)
