"""Forms of matrices that derivatives are written in: adjoint, triangles,"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.comparison import where
from ...ops.complex_numbers import parts
from ...ops.core import current
from ...ops.identity import lay
from ...ops.products import transposed
from ...ops.sources import zeros as zeros_of
from ...ops.types import Type, bool_
from ...tensors.creation import eye
from ..shaping.diagonals import diag_embed, tril, triu
from ..shaping.diagonals import diagonal as diagonal_of
from .checks import is_complex

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def conj(x: Tensor) -> Tensor:
    """The complex conjugate; real numbers as they are."""
    return parts.conj(x)


def mH(x: Tensor) -> Tensor:
    """The matrices transposed and conjugated."""
    return conj(transposed(x))


def mT(x: Tensor) -> Tensor:
    """The matrices transposed."""
    return transposed(x)


def by_columns(x: Tensor) -> Tensor:
    """A copy of the matrices that lies in memory by columns, as what LAPACK writes."""
    ndim = x.ndarray.ndim
    return lay(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def real(x: Tensor) -> Tensor:
    """The real part; real numbers as they are."""
    return x.real if is_complex(x) else x


def diagonal(x: Tensor) -> Tensor:
    """The main diagonals of matrices."""
    return diagonal_of(x, 0, -2, -1)


def diagonals(x: Tensor) -> Tensor:
    """Diagonal matrices."""
    return diag_embed(x)


def column(x: Tensor) -> Tensor:
    """Vectors as columns; a scale for rows."""
    return x.unsqueeze(-1)


def row(x: Tensor) -> Tensor:
    """Vectors as rows; a scale for columns."""
    return x.unsqueeze(-2)


def identity_like(x: Tensor) -> Tensor:
    """The identity with as many rows as the matrices `x`, in their type."""
    return eye(x.ndarray.shape[-2], dtype=x.dtype)


def zeros(x: Tensor, *shape: int) -> Tensor:
    """Zeros in the type of `x`."""
    return zeros_of(Type(x.dtype, shape))


def unaffected(value: Any, x: Tensor) -> Tensor:
    """`value`, as a function of `x` whose derivative is 0; both of one type."""
    return where(current().constant(False, bool_), x, value)


def plus(a: Any, b: Any) -> Any:
    """The sum of what is there: None stands for nothing."""
    if a is None or b is None:
        return b if a is None else a
    return a + b


def lower(x: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangles."""
    return tril(x, diagonal)


def upper(x: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangles."""
    return triu(x, diagonal)
