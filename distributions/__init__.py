"""``tracegrad.distributions``: probability distributions, with samples, densities and divergences.

All of a distribution's formulas are differentiable, in eager mode and in compiled functions; parameters and values are
checked in both (`Distribution`).
"""

# ruff: noqa: F401 (modules are part of the offer)

from __future__ import annotations

import sys

from . import constraint_registry, constraints, exponential_family, transforms, utils
from . import divergence as kl
from .compound import independent, transformed
from .compound import mixture as mixture_same_family
from .compound.independent import Independent
from .compound.mixture import MixtureSameFamily
from .compound.transformed import TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .continuous import beta as _beta
from .continuous import cauchy, continuous_bernoulli, exponential, extreme_values, laplace, relaxed, uniform, von_mises
from .continuous import gamma as _gamma
from .continuous import normal as _normal
from .continuous import pareto as _pareto
from .continuous import student_t as _student_t
from .continuous.beta import Beta, Kumaraswamy
from .continuous.cauchy import Cauchy, HalfCauchy
from .continuous.continuous_bernoulli import ContinuousBernoulli
from .continuous.exponential import Exponential
from .continuous.extreme_values import Gumbel, Weibull
from .continuous.gamma import Chi2, FisherSnedecor, Gamma, InverseGamma
from .continuous.laplace import Laplace
from .continuous.normal import HalfNormal, LogNormal, Normal
from .continuous.pareto import GeneralizedPareto, Pareto
from .continuous.relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from .continuous.student_t import StudentT
from .continuous.uniform import Uniform
from .continuous.von_mises import VonMises
from .discrete import bernoulli as _bernoulli
from .discrete import categorical as _categorical
from .discrete import poisson as _poisson
from .discrete.bernoulli import Bernoulli, Binomial, Geometric, NegativeBinomial
from .discrete.categorical import Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from .discrete.poisson import Poisson
from .distribution import Distribution
from .divergence import kl_divergence, register_kl
from .exponential_family import ExponentialFamily
from .multivariate import dirichlet, lkj_cholesky, logistic_normal, lowrank_multivariate_normal, wishart
from .multivariate import multivariate_normal as _multivariate_normal
from .multivariate.dirichlet import Dirichlet
from .multivariate.lkj_cholesky import LKJCholesky
from .multivariate.logistic_normal import LogisticNormal
from .multivariate.lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate.multivariate_normal import MultivariateNormal
from .multivariate.wishart import Wishart
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "ContinuousBernoulli", "CorrCholeskyTransform", "CumulativeDistributionTransform", "Dirichlet",
    "Distribution", "ExpTransform", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto",
    "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "IndependentTransform", "InverseGamma",
    "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal",
    "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "PositiveDefiniteTransform",
    "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReshapeTransform", "SigmoidTransform",
    "SoftmaxTransform", "SoftplusTransform", "StackTransform", "StickBreakingTransform", "StudentT", "TanhTransform",
    "Transform", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to",
    "identity_transform", "kl_divergence", "register_kl", "transform_to",
]  # fmt: skip

#: Where PyTorch's modules are looked for: ``from tracegrad.distributions.normal import Normal``.
_MODULES = {
    _bernoulli: "bernoulli geometric binomial negative_binomial",
    _beta: "beta kumaraswamy",
    _categorical: "categorical one_hot_categorical multinomial",
    _gamma: "gamma chi2 inverse_gamma fishersnedecor",
    _multivariate_normal: "multivariate_normal",
    _normal: "normal half_normal log_normal",
    _pareto: "pareto generalized_pareto",
    _poisson: "poisson",
    _student_t: "studentT",
    cauchy: "cauchy half_cauchy",
    continuous_bernoulli: "continuous_bernoulli",
    dirichlet: "dirichlet",
    exponential: "exponential",
    extreme_values: "gumbel weibull",
    independent: "independent",
    exponential_family: "exp_family",
    kl: "kl",
    laplace: "laplace",
    lkj_cholesky: "lkj_cholesky",
    logistic_normal: "logistic_normal",
    lowrank_multivariate_normal: "lowrank_multivariate_normal",
    mixture_same_family: "mixture_same_family",
    relaxed: "relaxed_bernoulli relaxed_categorical",
    transformed: "transformed_distribution",
    uniform: "uniform",
    von_mises: "von_mises",
    wishart: "wishart",
}
for _module, _names in _MODULES.items():
    for _name in _names.split():
        globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _module
