"""The storages behind tensors."""

from __future__ import annotations

from ...serialization.storages import TypedStorage, storage_of
from ...serialization.untyped_storage import UntypedStorage
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_once


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
