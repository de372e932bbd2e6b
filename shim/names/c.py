"""``torch._C``: the parts that programs and packages name."""

from __future__ import annotations

from ...nn import functional as _nn
from ...tensors.tensor import Tensor as TensorBase

has_lapack, has_mkl, has_openmp, has_spectral, has_cuda, has_mps = True, False, True, True, False, False
_has_cuda = _has_mps = _has_mkldnn = False


def _log_api_usage_once(event: str) -> None:
    """Nothing: no use of the interface is counted."""


def _get_tracing_state() -> None:
    """None: nothing is being traced."""
    return None


def _is_tracing() -> bool:
    """False: nothing is being traced."""
    return False


def _jit_clear_class_registry() -> None:
    """Nothing: there is no registry of scripted classes."""


def _cuda_getDeviceCount() -> int:
    """0."""
    return 0


__all__ = [
    "TensorBase",
    "_cuda_getDeviceCount",
    "_get_tracing_state",
    "_has_cuda",
    "_has_mkldnn",
    "_has_mps",
    "_is_tracing",
    "_jit_clear_class_registry",
    "_log_api_usage_once",
    "_nn",
    "has_cuda",
    "has_lapack",
    "has_mkl",
    "has_mps",
    "has_openmp",
    "has_spectral",
]
