"""Names of the module ``torch`` itself that mean something else than tracegrad's."""

from __future__ import annotations

from typing import Any

from ...devices.cuda import OutOfMemoryError
from .compiling import compile
from .version import __version__

__all__ = ["OutOfMemoryError", "__version__", "_assert", "compile", "is_vulkan_available"]


def _assert(condition: Any, message: Any) -> None:
    """``assert condition, message``, as a call."""
    assert condition, message


def is_vulkan_available() -> bool:
    """False."""
    return False
