"""``tracegrad.backends.cpu``."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """``"DEFAULT"``: compiled steps use what the C compiler finds."""
    return "DEFAULT"
