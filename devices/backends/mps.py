"""``tracegrad.backends.mps``: Apple's devices, of which there are none."""

from __future__ import annotations

from ..answers import answering, refusing

_MESSAGE = "Cannot execute isOnMacOSorNewer() without MPS backend: ask is_available() before"

is_available = answering("is_available", False, "False.")
is_built = answering("is_built", False, "False.")
is_macos13_or_newer = refusing("is_macos13_or_newer", RuntimeError, _MESSAGE)
is_macos_or_newer = refusing("is_macos_or_newer", RuntimeError, _MESSAGE)
