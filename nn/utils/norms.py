"""Norms of weights: of slices, and the largest singular value by a power iteration."""

from __future__ import annotations

from typing import Any

from ...functional.reductions import norm
from ...functional.shapes import permute, reshape
from ...ops.arithmetic import maximum
from ..convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d


def norm_except(weight: Any, dim: int) -> Any:
    """The 2-norm of each slice along `dim`, which stays as an axis among axes of extent 1; of all for -1 (0-d)."""
    if dim == -1:
        return norm(weight)
    others = [axis for axis in range(weight.ndim) if axis != dim % weight.ndim]
    return norm(weight, 2, others, keepdim=True) if others else weight.abs()


def matrix_of(weight: Any, dim: int) -> Any:
    """The weight with one row for each index along `dim`."""
    if dim:
        weight = permute(weight, (dim, *[axis for axis in range(weight.ndim) if axis != dim]))
    return reshape(weight, (weight.shape[0], -1))


def normalized(vector: Any, eps: float) -> Any:
    """The vector over its length, or over `eps` where it is shorter."""
    return vector / maximum(norm(vector), eps)


def start_vectors(matrix: Any, eps: float) -> tuple[Any, Any]:
    """Random vectors of length 1 for the left and the right side, drawn in this order."""
    rows, columns = matrix.shape
    return tuple(normalized(matrix.new_empty(n).normal_(0, 1), eps) for n in (rows, columns))


def spectral_dim(module: Any) -> int:
    """Which axis of the module's weight counts outputs."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
