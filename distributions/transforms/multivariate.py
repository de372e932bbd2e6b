"""Transforms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.activations import logsigmoid, softplus
from ...functional.linear_algebra import matmul
from ...functional.matrices.triangular import cholesky
from ...functional.selecting import cumprod, cumsum
from ...functional.shaping.diagonals import diag_embed, tril
from ...functional.spatial.padding import pad
from ...ops.elementary import exp, log, log1p, sqrt
from ...ops.trigonometry import tanh
from ...tensors.creation import eye, tensor
from ...tensors.limits import finfo
from .. import constraints
from ..utils import tril_matrix_to_vec, vec_to_tril_matrix
from .base import SameForAll, Transform
from .elementwise import clipped_sigmoid

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _require_axes(shape: Any, count: int) -> None:
    if len(shape) < count:
        raise ValueError("Too few dimensions on input")


class SoftmaxTransform(SameForAll):
    """``y = softmax(x)`` over the last axis. One degree of freedom is lost; ``inv`` is ``log``.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.SoftmaxTransform()(tg.zeros(2))
        tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        weights = exp(x - x.amax(-1, True))
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(y)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        _require_axes(shape, 1)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        _require_axes(shape, 1)
        return shape


def _rest_of_places(x: Any, count: int) -> Any:
    """``log(count), ..., log(1 + ...)``: how many places a stick is still to be shared among, at each break."""
    return tensor([math.log(count - i) for i in range(x.shape[-1])], dtype=x.dtype)


class StickBreakingTransform(SameForAll):
    """``R^(K-1)`` onto the simplex of K numbers: each x decides which share of what is left is broken off.

    As in Stan's reference manual, "unit simplex"; shifted so that 0 becomes equal shares.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.StickBreakingTransform()(tg.zeros(1))
        tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        share = clipped_sigmoid(x - _rest_of_places(x, x.shape[-1]))
        left = cumprod(1 - share, -1)
        return pad(share, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        broken = y[..., :-1]
        left = (1 - cumsum(broken, -1)).clamp(min=finfo(y.dtype).tiny)
        return log(broken) - log(left) + _rest_of_places(broken, broken.shape[-1])

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - _rest_of_places(x, x.shape[-1])
        return (-x + logsigmoid(x) + log(y[..., :-1])).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        _require_axes(shape, 1)
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        _require_axes(shape, 1)
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(SameForAll):
    """A matrix to its lower triangle with the diagonal's exponential.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.LowerCholeskyTransform()(tg.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return tril(x, -1) + diag_embed(exp(x.diagonal(dim1=-2, dim2=-1)))

    def _inverse(self, y: Tensor) -> Tensor:
        return tril(y, -1) + diag_embed(log(y.diagonal(dim1=-2, dim2=-1)))


class PositiveDefiniteTransform(SameForAll):
    """A matrix to ``L @ L.T`` of the L that `LowerCholeskyTransform` makes of it.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.PositiveDefiniteTransform()(tg.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        triangle = LowerCholeskyTransform()(x)
        return matmul(triangle, triangle.transpose(-2, -1))

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(Transform):
    """A vector of ``n (n - 1) / 2`` numbers to the Cholesky factor of an ``n x n`` correlation matrix.

    Partial correlations ``tanh(x)`` below the diagonal, each row a stick of length 1 that they break: Lewandowski,
    Kurowicka and Joe, "Generating random correlation matrices based on vines and extended onion method", 2009, and
    Stan's reference manual, "Cholesky factors of correlation matrices".

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.transforms.CorrCholeskyTransform()(tg.zeros(1))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        correlations = vec_to_tril_matrix(tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = cumprod(sqrt(1 - correlations**2), -1)
        with_diagonal = correlations + eye(correlations.shape[-1], dtype=x.dtype)
        return with_diagonal * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad((1 - cumsum(y * y, -1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / sqrt(tril_matrix_to_vec(left, diag=-1))
        return (log1p(t) - log1p(-t)) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = tril_matrix_to_vec(1 - cumsum(y * y, -1), diag=-2)
        of_sticks = 0.5 * log(left).sum(-1)
        return of_sticks - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        _require_axes(shape, 1)
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        _require_axes(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)
