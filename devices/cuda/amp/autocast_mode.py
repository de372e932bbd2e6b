"""``tracegrad.cuda.amp.autocast_mode``: deprecated names of `tracegrad.amp`."""

from __future__ import annotations

import functools
from typing import Any

from ....ops.types import DType, float16
from ....tracing.user_warning import warn_user
from ...amp import autocast_mode
from ...answers import deprecated

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(autocast_mode.autocast):
    """Deprecated: ``tg.amp.autocast("cuda", ...)``, which warns and has no effect."""

    def __init__(self, enabled: bool = True, dtype: DType = float16, cache_enabled: bool = True) -> None:
        warn_user(
            "`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` "
            "instead.",
            FutureWarning,
        )
        super().__init__("cuda", dtype, enabled, cache_enabled)


custom_fwd: Any = deprecated("torch.cuda.amp.custom_fwd(args...)", "torch.amp.custom_fwd(args..., device_type='cuda')")(
    functools.partial(autocast_mode.custom_fwd, device_type="cuda")
)
custom_bwd: Any = deprecated("torch.cuda.amp.custom_bwd(args...)", "torch.amp.custom_bwd(args..., device_type='cuda')")(
    functools.partial(autocast_mode.custom_bwd, device_type="cuda")
)
custom_fwd.__name__ = custom_fwd.__qualname__ = "custom_fwd"
custom_bwd.__name__ = custom_bwd.__qualname__ = "custom_bwd"
