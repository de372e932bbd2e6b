"""``tracegrad.utils.deterministic``: a switch of PyTorch's; new memory is filled with zeros here in any case."""

from __future__ import annotations

fill_uninitialized_memory = True
