"""``tracegrad.backends.mkl``: there by name, so that programs take their usual way."""

from __future__ import annotations

from ..answers import answering

VERBOSE_OFF, VERBOSE_ON = range(2)

is_available = answering("is_available", True, "True: products are fast without it.")
