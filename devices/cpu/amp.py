"""``tracegrad.cpu.amp``: deprecated names of `tracegrad.amp`."""

from __future__ import annotations

from ...ops.types import DType, bfloat16
from ...tracing.user_warning import warn_user
from ..amp import autocast_mode, grad_scaler

__all__ = ["GradScaler", "autocast"]


def _warn(name: str) -> None:
    warn_user(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cpu', args...)` instead.",
        FutureWarning,
    )


class autocast(autocast_mode.autocast):
    """Deprecated: ``tg.amp.autocast("cpu", ...)``."""

    def __init__(self, enabled: bool = True, dtype: DType = bfloat16, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """Deprecated: ``tg.amp.GradScaler("cpu", ...)``."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
