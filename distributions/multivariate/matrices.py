"""Linear algebra of batches of covariance matrices."""

from __future__ import annotations

import math
from typing import Any

from ...functional.joining import flip
from ...functional.linear_algebra import matmul
from ...functional.matrices.triangular import cholesky, solve_triangular
from ...ops.elementary import log
from ...ops.types import broadcast_shapes
from ...tensors.creation import eye


def transposed(x: Any) -> Any:
    """The matrices with rows and columns exchanged."""
    return x.transpose(-2, -1)


def times_vector(matrix: Any, vector: Any) -> Any:
    """``matrix @ vector`` for batches that broadcast."""
    return matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def half_log_det(triangle: Any) -> Any:
    """Half the logarithm of the determinant of ``triangle @ triangle.T``."""
    return log(triangle.diagonal(dim1=-2, dim2=-1)).sum(-1)


def squared_distance(triangle: Any, x: Any) -> Any:
    """``x.T (L L.T)^-1 x`` of vectors ``[..., n]`` and triangles L ``[..., n, n]`` whose batches broadcast.

    All vectors that meet one triangle are columns of one system.
    """
    if triangle.dim() == 2:
        columns = x.reshape(-1, x.shape[-1]).transpose(0, 1)
        return solve_triangular(triangle, columns, upper=False).pow(2).sum(0).reshape(x.shape[:-1])
    batch = broadcast_shapes(triangle.shape[:-2], x.shape[:-1])
    matrices = triangle.expand((*batch, *triangle.shape[-2:]))
    column = x.expand((*batch, x.shape[-1])).unsqueeze(-1)
    return solve_triangular(matrices, column, upper=False).squeeze(-1).pow(2).sum(-1)


def inverse_of_product(triangle: Any) -> Any:
    """``(L L.T)^-1``."""
    n = triangle.shape[-1]
    inverse = solve_triangular(triangle, eye(n, dtype=triangle.dtype).expand(triangle.shape), upper=False)
    return matmul(transposed(inverse), inverse)


def triangle_of_precision(precision: Any) -> Any:
    """L with ``(L L.T)^-1 = precision``: the reversed matrix has a Cholesky factor that, reversed, inverts ``L.T``."""
    reversed_factor = cholesky(flip(precision, (-2, -1)))
    inverse = transposed(flip(reversed_factor, (-2, -1)))
    n = precision.shape[-1]
    return solve_triangular(inverse, eye(n, dtype=precision.dtype).expand(inverse.shape), upper=False)


def log_normal_density(distance: Any, log_det_half: Any, n: int) -> Any:
    """The logarithm of a normal density of vectors of n numbers at a squared distance from the mean."""
    return -0.5 * (n * math.log(2 * math.pi) + distance) - log_det_half
