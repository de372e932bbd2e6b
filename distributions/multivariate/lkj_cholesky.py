"""``LKJCholesky``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.elementwise.gamma import mvlgamma
from ...functional.joining import cat
from ...functional.reductions import norm
from ...functional.selecting import where
from ...functional.shaping.diagonals import diag_embed, tril
from ...ops.elementary import log, sqrt
from ...ops.elementwise.special import lgamma
from ...tape.grad_mode import no_grad
from ...tensors import random as draws
from ...tensors.creation import arange
from ...tensors.limits import finfo
from ...tensors.tensor import Size
from .. import constraints
from ..continuous.beta import Beta
from ..distribution import Distribution
from ..utils import broadcast_all

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class LKJCholesky(Distribution):
    """Cholesky factors of ``dim x dim`` correlation matrices R; densities go with ``det(R)**(concentration - 1)``.

    Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines and extended onion method",
    2009; samples by the onion method. ValueError for a `dim` below 2.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.LKJCholesky(2, 1.0).log_prob(tg.eye(2))
        tensor(-0.6931)
    """

    arg_constraints: Any = {"concentration": constraints.positive}
    concentration: Any
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        places: Any = arange(dim - 1, dtype=self.concentration.dtype)
        offset = cat([places[:1], places])
        of_rest = (self.concentration + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * offset
        self._beta = Beta(offset + 0.5, of_rest)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        super()._expand_into(new, batch_shape)
        new._beta = self._beta.expand((*batch_shape, self.dim))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Each row is a point on a sphere whose radius is the root of a beta number."""
        with no_grad():
            radii = sqrt(self._beta.sample(sample_shape)).unsqueeze(-1)
            normals = tril(draws.randn(self._extended_shape(sample_shape), self.concentration.dtype), -1)
            is_first = (arange(self.dim) == 0).unsqueeze(-1)
            rows = where(is_first, 0.0, radii * (normals / norm(normals, dim=-1, keepdim=True)))
            left = (1 - (rows**2).sum(-1)).clamp(min=finfo(rows.dtype).tiny)
            return rows + diag_embed(sqrt(left))

    def _log_density(self, value: Tensor) -> Tensor:
        dim, diagonal = self.dim, value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        below = arange(dim - 2, -1, -1, dtype=self.concentration.dtype)  # how many rows there are below each
        exponents = 2 * (self.concentration - 1).unsqueeze(-1) + below
        return (exponents * log(diagonal)).sum(-1) - self._log_constant()

    def _log_constant(self) -> Any:
        """The logarithm of the integral of ``prod(diagonal**exponents)``."""
        free = self.dim - 1
        alpha = self.concentration + 0.5 * free
        return 0.5 * free * math.log(math.pi) + mvlgamma(alpha - 0.5, free) - lgamma(alpha) * free
