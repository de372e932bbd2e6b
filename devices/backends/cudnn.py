"""``tracegrad.backends.cudnn``: not there. Its switches can be set; results do not depend on them."""

from __future__ import annotations

from typing import Any

from ...ops.types import float16, float32, float64
from ..answers import answering
from .flags import Switches, functions_for

CUDNN_TENSOR_DTYPES = {float16, float32, float64}

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True
fp32_precision = "none"
depthwise_kernel = "auto"
conv, rnn = Switches(fp32_precision="tf32"), Switches(fp32_precision="tf32")

is_available = answering("is_available", False, "False.")
version = answering("version", None, "None: it is not there.")
is_acceptable = answering("is_acceptable", False, "False: no tensor is on such a device.")
set_flags, flags = functions_for(
    globals(), enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True,
    fp32_precision="none", depthwise_kernel="auto",
)  # fmt: skip


def init() -> bool:
    """False: there is nothing to begin."""
    return False


def is_depthwise_acceptable(tensor: Any) -> bool:
    """False: no tensor is on such a device."""
    return False
