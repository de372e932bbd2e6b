"""``tracegrad.version``: what the package was built for. No devices."""

from __future__ import annotations

__version__ = "0.1.0"
debug = False
git_version = "unknown"
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
rocm: str | None = None
