"""``step.profile()``: where the time of a compiled step goes, kernel by kernel."""

from __future__ import annotations

from .measure import profile
from .report import Profile, Row

__all__ = ["Profile", "Row", "profile"]
