"""``tracegrad.linalg``: PyTorch's ``torch.linalg`` by numpy's LAPACK.

Each function takes batches: leading axes are many matrices. What is no matrix product is numpy's work also in compiled
functions, which are re-recorded around it (`autograd/numpy_function.py`).
"""

from __future__ import annotations

from types import FunctionType

from ...tensors.autocasting import full_precision
from ...tensors.operands import overridable
from ..linear_algebra import matmul
from .checks import LinAlgError
from .determinants import det, slogdet
from .lu import lu, lu_factor, lu_factor_ex, lu_solve
from .norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from .orthogonal import householder_product, qr
from .powers import matrix_exp, matrix_power, multi_dot
from .solving import inv, inv_ex, lstsq, pinv, solve, solve_ex, tensorinv, tensorsolve
from .spectral import eig, eigh, eigvals, eigvalsh, svd, svdvals
from .symmetric_indefinite import ldl_factor, ldl_factor_ex, ldl_solve
from .triangular import cholesky, cholesky_ex, solve_triangular
from .vectors import cross, diagonal, vander, vecdot

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor",
    "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot",
    "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv",
    "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

#: What computes in float32 under autocast.
_FULL_PRECISION = frozenset(
    "cholesky cholesky_ex cond eig eigh eigvals eigvalsh householder_product inv inv_ex lstsq matrix_rank qr solve svd "
    "svdvals tensorinv tensorsolve".split()
)

globals().update(
    {
        name: overridable(full_precision(function) if name in _FULL_PRECISION else function, f"tracegrad.linalg.{name}")
        for name, function in list(globals().items())
        if name in __all__ and isinstance(function, FunctionType)
    }
)
