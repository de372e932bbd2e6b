"""``tracegrad.backends.quantized``: quantised types are not there; the switch can be read and set."""

from __future__ import annotations

engine = "none"
supported_engines = ["none"]
