"""``tracegrad.linalg``."""

from __future__ import annotations

from typing import Any

from ..tensors.operands import overridable
from .linear_algebra import vecdot
from .reductions import norm as _norm

__all__ = ["norm", "vecdot", "vector_norm"]


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The `ord`-norm of the elements over `dim`."""
    return _norm(x, ord, dim, keepdim)


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    """The root of the sum of squares, or with `ord` the vector norm over `dim`.

    NotImplementedError for matrix norms other than Frobenius'.
    """
    matrix = ord not in (None, "fro") and (A.ndim == 2 if dim is None else isinstance(dim, tuple) and len(dim) == 2)
    if matrix:
        raise NotImplementedError(f"linalg.norm(ord={ord!r}) of a matrix is not there yet; use ord='fro'")
    return _norm(A, 2 if ord in (None, "fro") else ord, dim, keepdim)


norm, vector_norm = (overridable(f, f"tracegrad.linalg.{f.__name__}") for f in (norm, vector_norm))
