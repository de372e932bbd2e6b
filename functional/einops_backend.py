"""einops over tensors: a backend of its own, declared when einops is imported, before or after this package.

einops looks for a tensor's backend among the subclasses of its `AbstractBackend`, so that declaring one is all that
there is to do. Nothing here imports einops.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

from ..tensors.creation import arange, from_numpy
from ..tensors.tensor import Tensor
from . import joining, shapes
from .einsum import einsum

_BACKENDS = "einops._backends"
_PACKAGE = __name__.partition(".")[0]


class _Operations:
    """What einops asks of a backend, in PyTorch's operations."""

    framework_name = _PACKAGE

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Any:
        made = from_numpy(x)
        return made.requires_grad_() if self.is_float_type(made) else made

    def to_numpy(self, x: Any) -> Any:
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Any:
        return arange(start, stop)

    def reduce(self, x: Any, operation: str, reduced_axes: Any) -> Any:
        name = {"min": "amin", "max": "amax"}.get(operation, operation)
        if name in ("amin", "amax", "sum", "mean"):
            return getattr(x, name)(dim=tuple(reduced_axes))
        for axis in sorted(reduced_axes, reverse=True):
            x = getattr(x, name)(dim=axis)
        return x

    def transpose(self, x: Any, axes: Any) -> Any:
        return x.permute(tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: Any) -> Any:
        return joining.stack(tensors)

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
        repeats = [-1] * n_axes
        for position, length in pos2len.items():
            x = self.add_axis(x, position)
            repeats[position] = length
        return x.expand(repeats)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return shapes.unsqueeze(x, new_position)

    def tile(self, x: Any, repeats: Any) -> Any:
        return x.repeat(repeats)

    def concat(self, tensors: Any, axis: int) -> Any:
        return joining.cat(tensors, dim=axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(x.dtype.is_floating_point)

    def einsum(self, pattern: str, *x: Any) -> Any:
        return einsum(pattern, *x)


def declare(backends: Any) -> None:
    """Declare the backend in einops' module of them."""
    backends.TracegradBackend = type("TracegradBackend", (_Operations, backends.AbstractBackend), {})


class _Loader(importlib.abc.Loader):
    """Loads einops' backends as usual, and declares one more."""

    def __init__(self, usual: Any) -> None:
        self._usual = usual

    def create_module(self, spec: Any) -> ModuleType | None:
        made: ModuleType | None = self._usual.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._usual.exec_module(module)
        declare(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Answers for one module only, once."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != _BACKENDS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def install() -> None:
    """Declare the backend now if einops is there already, else when it is imported."""
    if _BACKENDS in sys.modules:
        declare(sys.modules[_BACKENDS])
    else:
        sys.meta_path.insert(0, _Finder())
