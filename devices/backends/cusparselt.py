"""``tracegrad.backends.cusparselt``: not there."""

from __future__ import annotations

from ..answers import answering

is_available = answering("is_available", False, "False.")
