"""Divergences of two distributions of one family: Gil, Alajaji and Linder, "Rényi divergence measures for commonly
used univariate continuous distributions", 2013, and what follows from the densities."""

from __future__ import annotations

import math
from typing import Any

from ...functional.activations import softplus
from ...functional.selecting import where
from ...ops.arithmetic import abs as absolute
from ...ops.elementary import exp, log, log1p
from ...ops.elementwise.special import digamma, lgamma
from ..compound.independent import Independent
from ..compound.transformed import TransformedDistribution
from ..continuous.beta import Beta
from ..continuous.cauchy import Cauchy
from ..continuous.continuous_bernoulli import ContinuousBernoulli
from ..continuous.exponential import Exponential
from ..continuous.extreme_values import EULER, Gumbel
from ..continuous.gamma import Gamma
from ..continuous.laplace import Laplace
from ..continuous.normal import HalfNormal, Normal
from ..continuous.pareto import Pareto
from ..continuous.uniform import Uniform
from ..discrete.bernoulli import Bernoulli, Binomial, Geometric
from ..discrete.categorical import Categorical, OneHotCategorical
from ..discrete.poisson import Poisson
from ..multivariate.dirichlet import Dirichlet
from ..utils import sum_rightmost
from .registry import kl_divergence, register_kl

INF = math.inf


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    ones = where(p.probs == 0, 0.0, where(q.probs == 0, INF, ones))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return ones + where(p.probs == 1, 0.0, where(q.probs == 1, INF, zeros))


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    of_trial = p.probs * (p.logits - q.logits) + log1p(-p.probs) - log1p(-q.probs)
    return where(p.total_count > q.total_count, INF, p.total_count * of_trial)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    of_each = p.probs * (p.logits - q.logits)
    return where(p.probs == 0, 0.0, where(q.probs == 0, INF, of_each)).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    of_p, of_q = (d._log_constant() + log1p(-d.probs) for d in (p, q))
    return p.mean * (p.logits - q.logits) + of_p - of_q


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    total = p.concentration.sum(-1)
    of_totals = lgamma(total) - lgamma(q.concentration.sum(-1))
    of_each = lgamma(p.concentration) - lgamma(q.concentration)
    slopes = digamma(p.concentration) - digamma(total).unsqueeze(-1)
    return of_totals - of_each.sum(-1) + ((p.concentration - q.concentration) * slopes).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -log(ratio) + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    of_rates = q.concentration * log(p.rate / q.rate) + (q.rate - p.rate) * (p.concentration / p.rate)
    of_constants = lgamma(q.concentration) - lgamma(p.concentration)
    return of_rates + of_constants + (p.concentration - q.concentration) * digamma(p.concentration)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -log(ratio) + shift + ratio * EULER + exp(lgamma(1 + ratio) - shift) - (1 + EULER)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, absolute(p.loc - q.loc)
    return -log(ratio) + distance / q.scale + ratio * exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - log(ratio))


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    divergence = q.alpha * log(p.scale / q.scale) - log(ratio) + ratio - 1
    return where(p.scale < q.scale, INF, divergence)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (log(p.rate) - log(q.rate)) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    return where((q.low > p.low) | (q.high < p.high), INF, log((q.high - q.low) / (p.high - p.low)))


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    """Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions"."""
    numerator = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return log(numerator) - log(4 * p.scale * q.scale)
