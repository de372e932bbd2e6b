"""``tracegrad.nn.parallel``: modules that PyTorch runs on several devices; on the CPU they run their module."""

from __future__ import annotations

from .comm import gather, parallel_apply, replicate, scatter
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel

__all__ = [
    "DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter",
]  # fmt: skip
