"""Divergences of normal vectors, whose covariances may be of low rank."""

from __future__ import annotations

import functools
import operator
from typing import Any

from ...functional.linear_algebra import matmul
from ...functional.matrices.triangular import solve_triangular
from ...functional.shaping.diagonals import diag_embed
from ...ops.elementary import rsqrt, sqrt
from ..multivariate.lowrank_multivariate_normal import LowRankMultivariateNormal
from ..multivariate.matrices import half_log_det
from ..multivariate.multivariate_normal import MultivariateNormal
from .registry import register_kl


def _factors(p: Any) -> list[Any]:
    """Matrices F with the covariance ``sum(F @ F.T)``."""
    if isinstance(p, LowRankMultivariateNormal):
        return [p._unbroadcasted_cov_factor, diag_embed(sqrt(p._unbroadcasted_cov_diag))]
    return [p._unbroadcasted_scale_tril]


def _half_log_det(p: Any) -> Any:
    return p._half_log_det() if isinstance(p, LowRankMultivariateNormal) else half_log_det(p._unbroadcasted_scale_tril)


def _squares(x: Any) -> Any:
    return x.pow(2).sum((-2, -1))


def _trace(p: Any, q: Any) -> Any:
    """The trace of ``q^-1 p`` of the covariances."""
    if isinstance(q, LowRankMultivariateNormal):
        roots, along = rsqrt(q._unbroadcasted_cov_diag).unsqueeze(-1), q._along_factor()
        parts = [_squares(roots * factor) - _squares(matmul(along, factor)) for factor in _factors(p)]
    else:
        triangle = q._unbroadcasted_scale_tril
        parts = [_squares(solve_triangular(triangle, factor, upper=False)) for factor in _factors(p)]
    return functools.reduce(operator.add, parts)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, MultivariateNormal)
def _normal_vectors(p: Any, q: Any) -> Any:
    """``log |q|/|p| + trace(q^-1 p) + distance - n``, all halved."""
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {_kinds(p, q)} with different event shapes cannot be computed")
    gap = _trace(p, q) + q._squared_distance(q.loc - p.loc) - p.event_shape[0]
    return _half_log_det(q) - _half_log_det(p) + 0.5 * gap


def _kinds(p: Any, q: Any) -> str:
    low, full = (isinstance(x, LowRankMultivariateNormal) for x in (p, q))
    if low and full:
        return "Low Rank Multivariate Normals"
    return "(Low Rank) Multivariate Normals" if low or full else "Multivariate Normals"
