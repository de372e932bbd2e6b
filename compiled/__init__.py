"""``tracegrad.compile``: recording functions over tensors, specialisations with their guards, and the call path."""

from __future__ import annotations

from ..tracing.eager_compiler import set_compiler
from . import fused
from .decorator import compile
from .deferral import deferred
from .function import CompiledFunction
from .verification.verify import VerificationError

set_compiler(compile, CompiledFunction)

__all__ = ["CompiledFunction", "VerificationError", "compile", "deferred", "fused"]
