"""Names in files of earlier versions, and in PyTorch's: a file holds the path that a class had where it was saved."""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any

from .torch_names import FOUND
from .torch_paths import here, is_of_torch

#: Where modules were that classes and functions in saved files come from.
_MOVED = {
    "tracegrad.autograd.device": "tracegrad.tensors.device",
    "tracegrad.autograd.generator": "tracegrad.tensors.generator",
    "tracegrad.autograd.saved": "tracegrad.serialization.saved",
    "tracegrad.autograd.tensor": "tracegrad.tensors.tensor",
}


def current_module(module: str) -> str:
    """The path that `module` of a saved file has today."""
    return _MOVED.get(module, module)


@lru_cache(maxsize=8)
def unpickler_of(pickle_module: Any = pickle) -> Any:
    """The module's Unpickler, which finds here what PyTorch or an earlier version saved."""

    base: Any = getattr(pickle_module, "Unpickler", pickle.Unpickler)  # cloudpickle reads with pickle's

    class Unpickler(base):
        def __init__(self, *arguments: Any, storages: Any = None, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self._storages = storages

        def find_class(self, module: str, name: str) -> Any:
            known = FOUND.get(f"{module}.{name}")
            if known is not None:
                return known
            if is_of_torch(module):
                return here(module, name)
            return super().find_class(current_module(module), name)

        def persistent_load(self, given: Any) -> Any:
            if self._storages is None:
                raise pickle.UnpicklingError(
                    "A load persistent id instruction was encountered, but no storages are here"
                )
            return self._storages(given)

    return Unpickler
