"""``torch._inductor.config``: settings of PyTorch's code generator that programs set. They have no effect."""

from __future__ import annotations

from types import SimpleNamespace

fallback_random = max_autotune = max_autotune_gemm = coordinate_descent_tuning = epilogue_fusion = debug = False
fx_graph_cache = force_fuse_int_mm_with_mul = use_mixed_mm = freezing = cpp_wrapper = False
cpp, triton = SimpleNamespace(threads=-1, simdlen=None), SimpleNamespace(cudagraphs=False, unique_kernel_names=False)

__all__ = [
    "coordinate_descent_tuning",
    "cpp",
    "cpp_wrapper",
    "debug",
    "epilogue_fusion",
    "fallback_random",
    "force_fuse_int_mm_with_mul",
    "freezing",
    "fx_graph_cache",
    "max_autotune",
    "max_autotune_gemm",
    "triton",
    "use_mixed_mm",
]
