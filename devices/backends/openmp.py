"""``tracegrad.backends.openmp``: threads share the work of large kernels."""

from __future__ import annotations

from ..answers import answering

is_available = answering("is_available", True, "True: compiled steps use threads, see `set_num_threads`.")
