"""Kullback-Leibler divergences of all pairs that PyTorch has, with gradients."""

import warnings

import numpy as np

from .distributions import Scope, derivatives

#: Distributions by class, two of each with a batch of 3; the second is what q is.
OPERANDS = {
    "Bernoulli": ("D.Bernoulli(p(0.3, 0.9, 0.5))", "D.Bernoulli(p(0.4, 0.2, 0.7))"),
    "Beta": ("D.Beta(p(0.7, 2.5, 1.0), p(1.2, 3.5, 1.0))", "D.Beta(p(1.7, 0.5, 1.0), p(1.1, 2.5, 2.0))"),
    "Binomial": ("D.Binomial(c(4.0, 5.0, 3.0), p(0.3, 0.9, 0.5))", "D.Binomial(c(4.0, 3.0, 3.0), p(0.4, 0.2, 0.7))"),
    "Categorical": (
        "D.Categorical(p([0.1, 0.3, 0.6], [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]))",
        "D.Categorical(p([0.2, 0.3, 0.5], [1.0, 1.0, 1.0], [1.0, 3.0, 1.0]))",
    ),
    "ContinuousBernoulli": ("D.ContinuousBernoulli(p(0.3, 0.9, 0.2))", "D.ContinuousBernoulli(p(0.4, 0.2, 0.7))"),
    "Dirichlet": (
        "D.Dirichlet(p([0.7, 1.3, 0.6], [2.0, 3.0, 1.0], [1.0, 1.0, 1.0]))",
        "D.Dirichlet(p([1.7, 1.1, 0.6], [1.0, 2.0, 1.0], [1.0, 2.0, 1.0]))",
    ),
    "Exponential": ("D.Exponential(p(0.7, 2.5, 1.0))", "D.Exponential(p(1.2, 3.5, 1.5))"),
    "Gamma": ("D.Gamma(p(0.7, 2.5, 1.0), p(1.2, 0.5, 2.0))", "D.Gamma(p(1.7, 0.5, 1.0), p(1.1, 2.5, 2.0))"),
    "Gumbel": ("D.Gumbel(p(0.3, -1.0, 0.0), p(1.2, 0.5, 2.0))", "D.Gumbel(p(0.7, 0.5, 1.0), p(1.1, 2.5, 2.0))"),
    "Geometric": ("D.Geometric(p(0.3, 0.9, 0.5))", "D.Geometric(p(0.4, 0.2, 0.7))"),
    "HalfNormal": ("D.HalfNormal(p(0.7, 2.5, 1.0))", "D.HalfNormal(p(1.2, 3.5, 1.5))"),
    "Laplace": ("D.Laplace(p(0.3, -1.0, 0.0), p(1.2, 0.5, 2.0))", "D.Laplace(p(0.7, 0.5, 1.0), p(1.1, 2.5, 2.0))"),
    "Normal": ("D.Normal(p(0.3, -1.0, 0.0), p(1.2, 0.5, 2.0))", "D.Normal(p(0.7, 0.5, 1.0), p(1.1, 2.5, 2.0))"),
    "LogNormal": ("D.LogNormal(p(0.3, -1.0, 0.0), p(1.2, 0.5, 2.0))", "D.LogNormal(p(0.7, 0.5, 1.0), p(1.1, 2.5, 2.0))"),
    "OneHotCategorical": (
        "D.OneHotCategorical(p([0.1, 0.3, 0.6], [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]))",
        "D.OneHotCategorical(p([0.2, 0.3, 0.5], [1.0, 1.0, 1.0], [1.0, 3.0, 1.0]))",
    ),
    "Pareto": ("D.Pareto(p(0.4, 1.5, 0.7), p(2.5, 3.5, 0.8))", "D.Pareto(p(0.3, 0.5, 0.8), p(1.5, 2.5, 1.8))"),
    "Poisson": ("D.Poisson(p(0.7, 2.5, 1.0))", "D.Poisson(p(1.2, 3.5, 1.5))"),
    "Uniform": ("D.Uniform(p(0.2, 0.3, -1.0), p(0.5, 3.0, 0.9))", "D.Uniform(p(0.1, -1.0, -0.5), p(0.7, 4.0, 2.0))"),
    "Cauchy": ("D.Cauchy(p(0.3, -1.0, 0.0), p(1.2, 0.5, 2.0))", "D.Cauchy(p(0.7, 0.5, 1.0), p(1.1, 2.5, 2.0))"),
    "Independent": (
        "D.Independent(D.Normal(p([0.3, -1.0], [0.1, 0.0], [1.0, 2.0]), p(1.2, 0.5)), 1)",
        "D.Independent(D.Normal(p([0.7, 1.0], [0.3, 0.5], [1.0, 1.0]), p(1.1, 2.5)), 1)",
    ),
    "Chi2": ("D.Chi2(p(0.7, 2.5, 1.0))", "D.Chi2(p(1.2, 3.5, 1.5))"),
    "MultivariateNormal": (
        "D.MultivariateNormal(p([0.3, -1.0, 0.2], [0.1, 0.0, 1.0]), p([2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]))",
        "D.MultivariateNormal(p(0.7, 1.0, 0.5), scale_tril=p([1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.1, 0.2, 0.5]))",
    ),
    "LowRankMultivariateNormal": (
        "D.LowRankMultivariateNormal(p([0.3, -1.0, 0.2], [0.1, 0.0, 1.0]), p([2.0], [0.5], [1.0]), p(0.3, 0.4, 0.5))",
        "D.LowRankMultivariateNormal(p(0.7, 1.0, 0.5), p([1.0, 0.1], [0.5, 1.0], [0.1, -0.3]), p(1.3, 0.7, 0.5))",
    ),
    "Wishart": (
        # PyTorch sums over the batch's axes
        "D.Wishart(p(3.5)[0], p([2.0, 0.5], [0.5, 1.0]))", "D.Wishart(p(4.5)[0], p([1.0, 0.1], [0.1, 1.5]))",
    ),
}  # fmt: skip
CONTINUOUS = "Beta ContinuousBernoulli Exponential Gamma Gumbel Laplace Normal Pareto Uniform".split()


def pairs():
    """(p, q), by class: of one family, of two continuous ones, of counts, and of normal vectors."""
    same = [(name, name) for name in OPERANDS if name != "LogNormal"]
    vectors = ["MultivariateNormal", "LowRankMultivariateNormal"]
    others = [("LogNormal", "LogNormal"), ("Bernoulli", "Poisson"), ("Poisson", "Bernoulli"), ("Poisson", "Binomial")]
    mixed = [(p, q) for group in (CONTINUOUS, vectors) for p in group for q in group if p != q]
    return [*same, *others, *mixed, ("Chi2", "Exponential")]


def between(tg, p, q):
    """The divergence with first derivatives, or the kind of the error."""
    scope = Scope(tg)
    first, second = eval(OPERANDS[p][0], scope), eval(OPERANDS[q][1], scope)
    try:
        value = tg.distributions.kl_divergence(first, second)
    except NotImplementedError:
        return {"absent": np.array(True)}
    found = {"value": value.detach()}
    finite = value[tg.isfinite(value)]
    if value.requires_grad and finite.numel():
        found |= {k: g for k, g in derivatives(tg, finite, scope.parameters, "of").items() if " dd" not in k}
    return found


def make(tg):
    """All arrays, by ``p q/what``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {f"{p} {q}/{key}": np.asarray(x) for p, q in pairs() for key, x in between(tg, p, q).items()}
    return found
