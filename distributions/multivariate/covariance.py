"""A covariance matrix that may be given as itself, as its inverse, or as its Cholesky factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...functional.linear_algebra import matmul
from ...functional.matrices.triangular import cholesky
from ..distribution import Distribution
from ..utils import lazy_property
from .matrices import inverse_of_product, transposed, triangle_of_precision

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

_NAMES = ("covariance_matrix", "precision_matrix", "scale_tril")


class WithCovariance(Distribution):
    """Base of distributions with a matrix ``[..., n, n]``; the forms that were not given are computed when asked for.

    ``_unbroadcasted_scale_tril`` is the Cholesky factor with a batch of its own.
    """

    _unbroadcasted_scale_tril: Any

    def _factorise(self, name: str, matrix: Any) -> None:
        """Compute the factor of the matrix that was given, which has been checked by now."""
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = triangle_of_precision(matrix)

    def _whole(self, matrix: Any) -> Any:
        """A matrix for each element of the batch."""
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangle L with ``covariance_matrix = L @ L.T``."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        triangle = self._unbroadcasted_scale_tril
        return self._whole(matmul(triangle, transposed(triangle)))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._whole(inverse_of_product(self._unbroadcasted_scale_tril))


def only_one(**matrices: Any) -> tuple[str, Any]:
    """The name and value of the matrix that is given. ValueError unless it is one, with two axes or more."""
    given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(given) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return given[0]
