"""``tracegrad.utils.benchmark``: how long statements take."""

from __future__ import annotations

from .timer import Measurement, Timer, timer

__all__ = ["Measurement", "Timer", "timer"]
