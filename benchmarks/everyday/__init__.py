"""Training steps as people write them: each once, for PyTorch and for tracegrad, eager and compiled.

The modules next to this one fill `PATTERNS`; `checks.py` compares the ways of running a pattern, ``python -m
benchmarks.everyday`` times them.
"""

from . import (  # noqa: F401  they register their patterns
    agents,
    bookkeeping,
    feeding,
    keeping,
    loops,
    objectives,
    optimizing,
    storing,
    updating,
)
from .setting import PATTERNS, Pattern, Run, Setting, Sizes

__all__ = ["PATTERNS", "Pattern", "Run", "Setting", "Sizes"]
