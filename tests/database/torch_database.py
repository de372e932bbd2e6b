"""PyTorch's operator database. Its test files name expecttest's TestCase, which nothing here uses."""

from __future__ import annotations

import sys
import types
import unittest

try:
    import expecttest  # noqa: F401
except ImportError:
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    sys.modules["expecttest"] = stand_in

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.opinfo.core import (  # noqa: E402
    BinaryUfuncInfo,
    OpInfo,
    ReductionOpInfo,
    SampleInput,
    ShapeFuncInfo,
    UnaryUfuncInfo,
)

__all__ = ["BinaryUfuncInfo", "OpInfo", "ReductionOpInfo", "SampleInput", "ShapeFuncInfo", "UnaryUfuncInfo", "op_db"]
