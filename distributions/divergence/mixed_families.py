"""Divergences of distributions of two families, by one rule: minus p's entropy, minus the mean of ``log q`` under p.

The logarithm of q's density is a sum of few functions of x: x itself, its square, its logarithm, an exponential. So
each q names the means that it needs, and each p knows them. Where p has values that q has not it is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...functional.arithmetic import xlogy
from ...functional.selecting import where
from ...ops.elementary import erf, exp, log, log1p
from ...ops.elementwise.special import digamma, lgamma
from ...tensors.creation import full
from ..continuous.beta import Beta
from ..continuous.continuous_bernoulli import ContinuousBernoulli
from ..continuous.exponential import Exponential
from ..continuous.extreme_values import EULER, Gumbel
from ..continuous.gamma import Gamma
from ..continuous.laplace import Laplace
from ..continuous.normal import Normal
from ..continuous.pareto import Pareto
from ..continuous.uniform import Uniform
from ..discrete.bernoulli import Bernoulli, Binomial
from ..discrete.poisson import Poisson
from .registry import register_kl

INF = math.inf
Of = Callable[[Any], Any]


def _mean_of_log_below(x: Any) -> Any:
    """The integral of log from 0 to x."""
    return xlogy(x, x) - x


def _mean_of_log_uniform(p: Any) -> Any:
    return (_mean_of_log_below(p.high) - _mean_of_log_below(p.low)) / (p.high - p.low)


def _mean_of_log_of_rest_uniform(p: Any) -> Any:
    return (_mean_of_log_below(1 - p.low) - _mean_of_log_below(1 - p.high)) / (p.high - p.low)


#: Mean and variance of Pareto's numbers by their formulas, which `_LEAST_ALPHA` says where to read.
_MEAN: dict[type, Of] = {Pareto: lambda p: p.alpha * p.scale / (p.alpha - 1)}
_VARIANCE: dict[type, Of] = {Pareto: lambda p: p.scale.pow(2) * p.alpha / ((p.alpha - 1).pow(2) * (p.alpha - 2))}
#: Up to which alpha the mean that q needs is infinite.
_LEAST_ALPHA: dict[type, float] = {Exponential: 1.0, Gamma: 1.0, Normal: 2.0}
#: The mean of ``log x``.
_LOG: dict[type, Of] = {
    Beta: lambda p: digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0),
    Exponential: lambda p: -EULER - log(p.rate),
    Gamma: lambda p: digamma(p.concentration) - log(p.rate),
    Pareto: lambda p: log(p.scale) + p.alpha.reciprocal(),
    Uniform: _mean_of_log_uniform,
}
#: The mean of ``exp(-t x)``.
_LAPLACE: dict[type, Callable[[Any, Any], Any]] = {
    Exponential: lambda p, t: p.rate / (p.rate + t),
    Gamma: lambda p, t: (1 + t / p.rate).pow(-p.concentration),
    Normal: lambda p, t: exp(-t * p.loc + 0.5 * (t * p.scale).pow(2)),
    Uniform: lambda p, t: (exp(-t * p.low) - exp(-t * p.high)) / (t * (p.high - p.low)),
}
#: The least and the largest value.
_BOUNDS: dict[type, Callable[[Any], tuple[Any, Any]]] = {
    Beta: lambda p: (0.0, 1.0),
    ContinuousBernoulli: lambda p: (0.0, 1.0),
    Exponential: lambda p: (0.0, INF),
    Gamma: lambda p: (0.0, INF),
    Gumbel: lambda p: (-INF, INF),
    Laplace: lambda p: (-INF, INF),
    Normal: lambda p: (-INF, INF),
    Pareto: lambda p: (p.scale, INF),
    Uniform: lambda p: (p.low, p.high),
}


def _log_of(kind: type, p: Any) -> Any:
    return _LOG[kind](p)


def _mean(kind: type, p: Any) -> Any:
    return _MEAN[kind](p) if kind in _MEAN else p.mean


def _variance(kind: type, p: Any) -> Any:
    return _VARIANCE[kind](p) if kind in _VARIANCE else p.variance


# --------------------------------------------------------------------------------- the mean of log q(x), with x from p


def _of_beta(kind: type, p: Any, q: Any) -> Any:
    of_powers = (q.concentration1 - 1) * _log_of(kind, p) + (q.concentration0 - 1) * _mean_of_log_of_rest_uniform(p)
    constant = lgamma(q.concentration1) + lgamma(q.concentration0) - lgamma(q.concentration1 + q.concentration0)
    return of_powers - constant


def _of_continuous_bernoulli(kind: type, p: Any, q: Any) -> Any:
    return _mean(kind, p) * q.logits + log1p(-q.probs) + q._log_constant()


def _of_exponential(kind: type, p: Any, q: Any) -> Any:
    return log(q.rate) - q.rate * _mean(kind, p)


def _of_gamma(kind: type, p: Any, q: Any) -> Any:
    c = q.concentration
    return (c - 1) * _log_of(kind, p) - q.rate * _mean(kind, p) + c * log(q.rate) - lgamma(c)


def _of_gumbel(kind: type, p: Any, q: Any) -> Any:
    shrunk = _LAPLACE[kind](p, q.scale.reciprocal())
    return (q.loc - _mean(kind, p)) / q.scale - shrunk * exp(q.loc / q.scale) - log(q.scale)


def _of_laplace(kind: type, p: Any, q: Any) -> Any:
    """Of normal p: ``|x - loc|`` is a folded normal number."""
    off = (p.loc - q.loc) / p.scale
    distance = p.scale * (math.sqrt(2 / math.pi) * exp(-0.5 * off.pow(2)) + off * erf(off * math.sqrt(0.5)))
    return -distance / q.scale - log(2 * q.scale)


def _of_normal(kind: type, p: Any, q: Any) -> Any:
    squares = _variance(kind, p) + (_mean(kind, p) - q.loc).pow(2)
    return -0.5 * squares / q.scale.pow(2) - log(q.scale) - 0.5 * math.log(2 * math.pi)


def _of_pareto(kind: type, p: Any, q: Any) -> Any:
    return log(q.alpha) + q.alpha * log(q.scale) - (q.alpha + 1) * _log_of(kind, p)


def _of_uniform(kind: type, p: Any, q: Any) -> Any:
    return -log(q.high - q.low)


_MEANS: dict[type, Callable[[type, Any, Any], Any]] = {
    Beta: _of_beta,
    ContinuousBernoulli: _of_continuous_bernoulli,
    Exponential: _of_exponential,
    Gamma: _of_gamma,
    Gumbel: _of_gumbel,
    Laplace: _of_laplace,
    Normal: _of_normal,
    Pareto: _of_pareto,
    Uniform: _of_uniform,
}


def _infinite(p: Any, q: Any) -> Any:
    return full(p.batch_shape, INF, dtype=p.mean.dtype)


def _register(kind_p: type, kind_q: type) -> None:
    """Register what the tables say of a pair. Bounds that are numbers are compared once and for all."""

    def divergence(p: Any, q: Any) -> Any:
        value = -p.entropy() - _MEANS[kind_q](kind_p, p, q)
        (low_p, high_p), (low_q, high_q) = _BOUNDS[kind_p](p), _BOUNDS[kind_q](q)
        for below, above in ((low_q, low_p), (high_p, high_q)):
            if not (isinstance(below, float) and isinstance(above, float)):
                value = where(below > above, INF, value)
        if kind_p is Pareto and kind_q in _LEAST_ALPHA:
            value = where(p.alpha <= _LEAST_ALPHA[kind_q], INF, value)
        return value

    register_kl(kind_p, kind_q)(divergence)


#: Pairs whose supports overlap, but for parameters that decide it.
_FINITE: dict[type, tuple[type, ...]] = {
    Beta: (ContinuousBernoulli, Exponential, Gamma, Normal, Uniform),
    ContinuousBernoulli: (Exponential, Normal, Uniform),
    Exponential: (Gamma, Gumbel, Normal),
    Gamma: (Exponential, Gumbel, Normal),
    Gumbel: (Normal,),
    Laplace: (Normal,),
    Normal: (Gumbel, Laplace),
    Pareto: (Exponential, Gamma, Normal),
    Uniform: (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Normal, Pareto),
}
#: Pairs of which p has values that q can never have.
_INFINITE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
for _kind_p, _kinds in _FINITE.items():
    for _kind_q in _kinds:
        _register(_kind_p, _kind_q)
for _kind_p, _kinds in _INFINITE.items():
    for _kind_q in _kinds:
        register_kl(_kind_p, _kind_q)(_infinite)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * log(q.rate) - q.rate)
