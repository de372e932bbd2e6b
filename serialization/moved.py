"""Names in files of earlier versions: a file holds the module path that a class had when it was saved."""

import pickle
from typing import Any

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


class Unpickler(pickle.Unpickler):
    """pickle's, which finds what an earlier version saved."""

    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(current_module(module), name)
