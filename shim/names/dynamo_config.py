"""``torch._dynamo.config``: settings of PyTorch's compiler that programs set. They have no effect."""

from __future__ import annotations

suppress_errors = verbose = capture_scalar_outputs = capture_dynamic_output_shape_ops = False
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
assume_static_by_default = automatic_dynamic_shapes = optimize_ddp = guard_nn_modules = True
dynamic_shapes = error_on_recompile = specialize_int = allow_unspec_int_on_nn_module = False
log_level: int | None = None

__all__ = [
    "accumulated_cache_size_limit",
    "accumulated_recompile_limit",
    "allow_unspec_int_on_nn_module",
    "assume_static_by_default",
    "automatic_dynamic_shapes",
    "cache_size_limit",
    "capture_dynamic_output_shape_ops",
    "capture_scalar_outputs",
    "dynamic_shapes",
    "error_on_recompile",
    "guard_nn_modules",
    "log_level",
    "optimize_ddp",
    "recompile_limit",
    "specialize_int",
    "suppress_errors",
    "verbose",
]
