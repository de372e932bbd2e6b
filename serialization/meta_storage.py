"""Storages on the device meta: a length, and no bytes. ``load(file, map_location="meta")`` puts storages there."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..ops.array import Buffer
from ..ops.types import DType
from ..tensors.device import device
from .untyped_storage import UntypedStorage


class MetaStorage(UntypedStorage):
    """An `UntypedStorage` of `count` bytes that are nowhere: tensors over it have a layout alone."""

    def __init__(self, count: int) -> None:
        super().__init__(0)
        self._count = count

    @property
    def device(self) -> device:
        return device("meta")

    def nbytes(self) -> int:
        return self._count

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """0."""
        return 0

    def _refuse(self) -> NoReturn:
        raise NotImplementedError("Not available for 'meta' device type: the storage has a length, and no bytes.")

    @property
    def bytes(self) -> np.ndarray:
        """NotImplementedError: there are none."""
        self._refuse()

    def buffer(self, dtype: DType) -> tuple[np.ndarray, Buffer | None]:
        """NotImplementedError: there are no elements."""
        self._refuse()

    def __getitem__(self, key: Any) -> Any:
        return MetaStorage(len(range(*key.indices(self._count)))) if isinstance(key, slice) else self._refuse()

    def __setitem__(self, key: Any, value: Any) -> None:
        self._refuse()

    def __iter__(self) -> NoReturn:
        self._refuse()

    def fill_(self, value: int) -> UntypedStorage:
        """Itself: there is nothing to set."""
        return self

    def copy_(self, source: Any, non_blocking: Any = None) -> UntypedStorage:
        """Itself: there is nothing to write to."""
        return self

    def clone(self) -> UntypedStorage:
        """Another one of the length."""
        return MetaStorage(self._count)

    __copy__ = clone

    def cpu(self) -> UntypedStorage:
        """NotImplementedError: there are no bytes to copy."""
        self._refuse()

    def __reduce__(self) -> Any:
        return MetaStorage, (self._count,)

    def __repr__(self) -> str:
        return f"...\n[torch.storage.UntypedStorage(device=meta) of size {self._count}]"
