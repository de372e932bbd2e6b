"""Installing the finder, and taking it away."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from ..ops.callers.class_homes import show_as_defined
from ..ops.types import public_name
from .face import Face
from .finder import Finder
from .paths import PACKAGE
from .workers import follow, follow_no_more

_finder = Finder()
_ROOTS = ("torch", "torchvision", "functorch")


class installed:
    """What `install` returns: leaving its block takes the name ``torch`` away, unless it was there before."""

    def __init__(self) -> None:
        self._was_there = is_installed()
        _install()

    def __enter__(self) -> installed:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if not self._was_there:
            uninstall()


def install() -> installed:
    """Let ``import torch`` and every ``import torch.X`` of this process give tracegrad.

    Classes say that they are PyTorch's, as programs ask and print it (``<class 'torch.Tensor'>``), and pickles name
    them so; processes that ``multiprocessing`` or joblib start have the shim as well. `uninstall` undoes this.
    A second call changes nothing. ImportError if PyTorch itself has been imported already: there would be two kinds of
    tensors in one process.

    >>> import tracegrad.shim
    >>> with tracegrad.shim.install():
    ...     from torch.nn.modules.linear import Linear
    >>> import tracegrad
    >>> Linear is tracegrad.nn.Linear
    True
    """
    return installed()


def _install() -> None:
    if is_installed():
        return
    module: Any = sys.modules.get("torch")
    if module is not None and not isinstance(module, Face):
        raise ImportError(
            f"PyTorch {getattr(module, '__version__', '')} is imported already, so torch cannot be tracegrad in this "
            "process: call tracegrad.shim.install() before anything imports torch.",
            name="torch",
        )
    sys.meta_path.insert(0, _finder)
    public_name.package = "torch"
    follow(install)


def uninstall() -> None:
    """Give the name ``torch`` back to whatever else is installed. What was imported stays with who has it."""
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    public_name.package = PACKAGE
    show_as_defined()
    follow_no_more()
    for name in list(sys.modules):
        if name.partition(".")[0] in _ROOTS:
            del sys.modules[name]


def is_installed() -> bool:
    """Whether ``torch`` is tracegrad in this process."""
    return _finder in sys.meta_path
