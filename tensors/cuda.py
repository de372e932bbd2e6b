"""``tracegrad.cuda``: what portable programs ask before they choose a device. There is none."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: no device draws numbers."""


def manual_seed_all(seed: int) -> None:
    """Nothing: no device draws numbers."""


def synchronize(device: Any = None) -> None:
    """Nothing to wait for."""


def empty_cache() -> None:
    """Nothing to free."""
