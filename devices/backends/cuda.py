"""``tracegrad.backends.cuda``: not there. Its switches can be set; results do not depend on them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ...tracing.blocks import Block
from ...tracing.settings import Setting
from ..answers import answering
from .flags import Switches

is_built = answering("is_built", False, "False.")
is_flash_attention_available = answering("is_flash_attention_available", False, "False.")
is_ck_sdpa_available = answering("is_ck_sdpa_available", False, "False.")
can_use_flash_attention, can_use_efficient_attention, can_use_cudnn_attention = (
    answering(name, False, "False.")
    for name in ("can_use_flash_attention", "can_use_efficient_attention", "can_use_cudnn_attention")
)

matmul = Switches(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False,
    fp32_precision="none",
)
_sdp = {
    kind: Setting(f"the switch of {kind} attention", kind != "reduction")
    for kind in ("flash", "math", "mem_efficient", "cudnn", "reduction")
}


def _switch(kind: str, name: str, title: str) -> tuple[Callable[[], bool], Callable[[bool], None]]:
    def asked() -> bool:
        return _sdp[kind].get()

    def enable(enabled: bool) -> None:
        _sdp[kind].set(bool(enabled))

    asked.__name__, enable.__name__ = title, name
    asked.__doc__ = f"Whether {kind} attention is switched on; attention is computed in one way here."
    enable.__doc__ = f"Switch {kind} attention on or off; attention is computed in one way here."
    return asked, enable


flash_sdp_enabled, enable_flash_sdp = _switch("flash", "enable_flash_sdp", "flash_sdp_enabled")
math_sdp_enabled, enable_math_sdp = _switch("math", "enable_math_sdp", "math_sdp_enabled")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch(
    "mem_efficient", "enable_mem_efficient_sdp", "mem_efficient_sdp_enabled"
)
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn", "enable_cudnn_sdp", "cudnn_sdp_enabled")
fp16_bf16_reduction_math_sdp_allowed, allow_fp16_bf16_reduction_math_sdp = _switch(
    "reduction", "allow_fp16_bf16_reduction_math_sdp", "fp16_bf16_reduction_math_sdp_allowed"
)


def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Block:
    """A block with other switches of attention, which is computed in one way here."""
    return _Kernels(
        {"flash": enable_flash, "math": enable_math, "mem_efficient": enable_mem_efficient, "cudnn": enable_cudnn}
    )


class _Kernels(Block):
    """The switches of attention."""

    def __init__(self, wanted: dict[str, bool]) -> None:
        self.wanted = wanted

    def now(self) -> dict[str, bool]:
        return {kind: _sdp[kind].now() for kind in self.wanted}

    def put(self, state: dict[str, bool]) -> None:
        for kind, value in state.items():
            _sdp[kind].put(value)


class _LinalgBackend(enum.Enum):
    Default, Cusolver, Magma = range(3)

    def __repr__(self) -> str:
        return f"<_LinalgBackend.{self.name}: {self.value}>"


class _BlasBackend(enum.Enum):
    Default, Cublas, Cublaslt, Ck = range(4)

    def __repr__(self) -> str:
        return f"<_BlasBackend.{self.name}: {self.value}>"


def preferred_linalg_library(backend: Any = None) -> _LinalgBackend:
    """PyTorch's default, whatever is asked for: there is no such library."""
    return _LinalgBackend.Default


def preferred_blas_library(backend: Any = None) -> _BlasBackend:
    """PyTorch's default, whatever is asked for: there is no such library."""
    return _BlasBackend.Cublas


def preferred_rocm_fa_library(backend: Any = None) -> _BlasBackend:
    """PyTorch's default, whatever is asked for: there is no such library."""
    return _BlasBackend.Default


class cuFFTPlanCacheManager:
    """Plans of transforms on devices: none are kept."""

    def __getitem__(self, device: Any) -> Any:
        raise RuntimeError(f"cufft_plan_cache: expected 0 <= device index < 0, but got device with index {device}")


cufft_plan_cache = cuFFTPlanCacheManager()
