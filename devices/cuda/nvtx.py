"""``tracegrad.cuda.nvtx``: marks for a profiler of devices that are not there. RuntimeError, as in PyTorch."""

from __future__ import annotations

from ..answers import refusing

_MESSAGE = "NVTX functions not installed. Are you sure you have a CUDA build? There is none of tracegrad: leave it out"

range_push, range_pop, mark, range_start, range_end = (
    refusing(name, RuntimeError, _MESSAGE) for name in ("range_push", "range_pop", "mark", "range_start", "range_end")
)
