"""``tracegrad.backends.opt_einsum``: a switch of the order of products in `einsum`."""

from __future__ import annotations

from ..answers import answering

enabled = True
strategy: str | None = "auto"

is_available = answering("is_available", True, "True.")
