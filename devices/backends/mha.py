"""``tracegrad.backends.mha``: a switch of attention's fast path, which gives the same numbers."""

from __future__ import annotations

from ...tracing.settings import Setting

_fastpath = Setting("the switch of attention's fast path", True)


def get_fastpath_enabled() -> bool:
    """Whether the switch is on."""
    return _fastpath.get()


def set_fastpath_enabled(value: bool) -> None:
    """Set the switch; results do not depend on it."""
    _fastpath.set(bool(value))
