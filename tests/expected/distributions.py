"""Distributions and what they answer: densities, derivatives, moments, quantiles, samples from a seed, texts of errors."""

import warnings

import numpy as np

#: A distribution (``p`` makes a parameter, ``c`` a tensor without gradient), and values at which it is asked.
UNIVARIATE = {
    "Normal": ("D.Normal(p(0.3, -1.0), p(1.2, 0.5))", "c([0.5, -0.7], [2.0, 0.1])"),
    "HalfNormal": ("D.HalfNormal(p(1.2, 0.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "LogNormal": ("D.LogNormal(p(0.3, -1.0), p(1.2, 0.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "Cauchy": ("D.Cauchy(p(0.3, -1.0), p(1.2, 0.5))", "c([0.5, -0.7], [2.0, 0.1])"),
    "HalfCauchy": ("D.HalfCauchy(p(1.2, 0.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "Laplace": ("D.Laplace(p(0.3, -1.0), p(1.2, 0.5))", "c([0.5, -0.7], [2.0, 0.1])"),
    "Exponential": ("D.Exponential(p(1.2, 0.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "Uniform": ("D.Uniform(p(-1.0, 0.5), p(3.0, 0.9))", "c([0.5, 0.7], [2.0, 0.6])"),
    "Gumbel": ("D.Gumbel(p(0.3, -1.0), p(1.2, 0.5))", "c([0.5, -0.7], [2.0, 0.1])"),
    "Weibull": ("D.Weibull(p(1.2, 0.5), p(0.8, 2.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "Pareto": ("D.Pareto(p(0.4, 0.05), p(1.5, 3.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "GeneralizedPareto": ("D.GeneralizedPareto(p(0.1, 0.0), p(1.2, 0.5), p(0.3, -0.2))", "c([0.5, 0.7], [2.0, 0.1])"),
    "Gamma": ("D.Gamma(p(0.7, 2.5), p(1.2, 0.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "Chi2": ("D.Chi2(p(0.7, 3.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "InverseGamma": ("D.InverseGamma(p(1.7, 2.5), p(1.2, 0.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "FisherSnedecor": ("D.FisherSnedecor(p(2.7, 3.5), p(5.2, 2.5))", "c([0.5, 0.7], [2.0, 0.1])"),
    "Beta": ("D.Beta(p(0.7, 2.5), p(1.2, 3.5))", "c([0.5, 0.7], [0.2, 0.1])"),
    "Kumaraswamy": ("D.Kumaraswamy(p(1.7, 2.5), p(1.2, 3.5))", "c([0.5, 0.7], [0.2, 0.1])"),
    "StudentT": ("D.StudentT(p(1.7, 3.5), p(0.3, -1.0), p(1.2, 0.5))", "c([0.5, -0.7], [2.0, 0.1])"),
    "VonMises": ("D.VonMises(p(0.3, -1.0), p(1.2, 8.0))", "c([0.5, -0.7], [2.0, 0.1])"),
    "ContinuousBernoulli": ("D.ContinuousBernoulli(p(0.3, 0.9))", "c([0.5, 0.7], [0.2, 0.1])"),
    "ContinuousBernoulli of logits": ("D.ContinuousBernoulli(logits=p(0.3, -1.0))", "c([0.5, 0.7], [0.2, 0.1])"),
    "ContinuousBernoulli near 1/2": ("D.ContinuousBernoulli(p(0.5004, 0.4996))", "c([0.5, 0.7], [0.2, 0.1])"),
    "RelaxedBernoulli": ("D.RelaxedBernoulli(p(0.7)[0], p(0.3, 0.9))", "c([0.5, 0.7], [0.2, 0.1])"),
    "LogitRelaxedBernoulli": (
        "D.relaxed_bernoulli.LogitRelaxedBernoulli(p(0.7)[0], logits=p(0.3, 0.9))", "c([0.5, -0.7], [0.2, 0.1])",
    ),
    "Bernoulli": ("D.Bernoulli(p(0.3, 0.9))", "c([1.0, 0.0], [0.0, 1.0])"),
    "Bernoulli of logits": ("D.Bernoulli(logits=p(0.3, -1.9))", "c([1.0, 0.0], [0.0, 1.0])"),
    "Geometric": ("D.Geometric(p(0.3, 0.9))", "c([1.0, 0.0], [5.0, 1.0])"),
    "Geometric of logits": ("D.Geometric(logits=p(0.3, -1.9))", "c([1.0, 0.0], [5.0, 1.0])"),
    "Binomial": ("D.Binomial(4, p(0.3, 0.9))", "c([1.0, 0.0], [4.0, 3.0])"),
    "Binomial of logits": ("D.Binomial(c(4.0, 6.0), logits=p(0.3, -1.9))", "c([1.0, 0.0], [4.0, 3.0])"),
    "NegativeBinomial": ("D.NegativeBinomial(p(4.0, 2.5), p(0.3, 0.9))", "c([1.0, 0.0], [4.0, 3.0])"),
    "NegativeBinomial of logits": ("D.NegativeBinomial(3.0, logits=p(0.3, -1.9))", "c([1.0, 0.0], [4.0, 3.0])"),
    "Poisson": ("D.Poisson(p(0.3, 4.5))", "c([1.0, 0.0], [4.0, 3.0])"),
    "Categorical": ("D.Categorical(p([0.1, 0.3, 0.6], [2.0, 1.0, 1.0]))", "i([0, 1], [2, 1])"),
    "Categorical of logits": ("D.Categorical(logits=p([0.1, -0.3, 0.6], [2.0, 1.0, 1.0]))", "i([0, 1], [2, 1])"),
    "MixtureSameFamily": (
        "D.MixtureSameFamily(D.Categorical(p([0.2, 0.8], [1.0, 1.0])), D.Normal(p([0.1, 1.0], [-1.0, 2.0]), p(0.5, 1.5)))",
        "c([0.5, -0.7], [2.0, 0.1])",
    ),
    "TransformedDistribution": (
        "D.TransformedDistribution(D.Normal(p(0.3, -1.0), p(1.2, 0.5)), [D.TanhTransform(), D.AffineTransform(1.0, p(-2.0, 3.0))])",
        "c([0.5, 0.7], [1.2, 0.1])",
    ),
}  # fmt: skip
MULTIVARIATE = {
    "OneHotCategorical": ("D.OneHotCategorical(p([0.1, 0.3, 0.6], [2.0, 1.0, 1.0]))", "c([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])"),
    "OneHotCategoricalStraightThrough": (
        "D.OneHotCategoricalStraightThrough(logits=p([0.1, -0.3, 0.6], [2.0, 1.0, 1.0]))",
        "c([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])",
    ),
    "Multinomial": ("D.Multinomial(4, p([0.1, 0.3, 0.6], [2.0, 1.0, 1.0]))", "c([1.0, 0.0, 3.0], [2.0, 1.0, 1.0])"),
    "RelaxedOneHotCategorical": (
        "D.RelaxedOneHotCategorical(p(0.7)[0], p([0.1, 0.3, 0.6], [2.0, 1.0, 1.0]))",
        "c([0.2, 0.3, 0.5], [0.6, 0.3, 0.1])",
    ),
    "ExpRelaxedCategorical": (
        "D.relaxed_categorical.ExpRelaxedCategorical(p(0.7)[0], logits=p([0.1, 0.3, 0.6], [2.0, 1.0, 1.0]))",
        "c([0.2, 0.3, 0.5], [0.6, 0.3, 0.1])",
    ),
    "Dirichlet": ("D.Dirichlet(p([0.7, 1.3, 0.6], [2.0, 3.0, 1.0]))", "c([0.2, 0.3, 0.5], [0.6, 0.3, 0.1])"),
    "LogisticNormal": ("D.LogisticNormal(p([0.7, 1.3], [2.0, 3.0]), p(1.2, 0.5))", "c([0.2, 0.3, 0.5], [0.6, 0.3, 0.1])"),
    "Independent": ("D.Independent(D.Normal(p([0.7, 1.3], [2.0, 3.0]), p(1.2, 0.5)), 1)", "c([0.5, -0.7], [2.0, 0.1])"),
    "MultivariateNormal": (
        "D.MultivariateNormal(p(0.3, -1.0), p([2.0, 0.5], [0.5, 1.0]))", "c([0.5, -0.7], [2.0, 0.1])",
    ),
    "MultivariateNormal of precision": (
        "D.MultivariateNormal(p([0.3, -1.0], [0.1, 0.2]), precision_matrix=p([2.0, 0.5], [0.5, 1.0]))",
        "c([0.5, -0.7], [2.0, 0.1])",
    ),
    "MultivariateNormal of triangle": (
        "D.MultivariateNormal(p(0.3, -1.0), scale_tril=p([[2.0, 0.0], [0.5, 1.0]], [[0.3, 0.0], [-0.5, 1.0]]))",
        "c([0.5, -0.7], [2.0, 0.1])",
    ),
    "LowRankMultivariateNormal": (
        "D.LowRankMultivariateNormal(p(0.3, -1.0, 0.1), p([2.0], [0.5], [1.0]), p(0.3, 0.4, 0.5))",
        "c([0.5, -0.7, 0.2], [2.0, 0.1, 0.0])",
    ),
    "Wishart": ("D.Wishart(p(3.5, 4.0), p([2.0, 0.5], [0.5, 1.0]))", "c([[2.0, 0.3], [0.3, 1.0]], [[1.0, 0.0], [0.0, 3.0]])"),
    "LKJCholesky": ("D.LKJCholesky(3, p(0.7, 1.5))", "L()"),
    "TransformedDistribution of vectors": (
        "D.TransformedDistribution(D.Normal(p(0.3, -1.0), p(1.2, 0.5)), [D.StickBreakingTransform(), "
        "D.AffineTransform(1.0, p(-2.0, 3.0, 1.0), event_dim=1)])",
        "c([0.4, 1.6, 1.6], [-0.2, 1.9, 1.1])",
    ),
    "MixtureSameFamily of vectors": (
        "D.MixtureSameFamily(D.Categorical(p(0.2, 0.8)), D.Independent(D.Normal(p([0.1, 1.0], [-1.0, 2.0]), p(0.5, 1.5)), 1))",
        "c([0.5, -0.7], [2.0, 0.1])",
    ),
}  # fmt: skip
DISTRIBUTIONS = {**UNIVARIATE, **MULTIVARIATE}

MOMENTS = ("mean", "mode", "variance", "stddev")
OF_ITSELF = ("entropy", "perplexity", "enumerate_support")


class Scope(dict):
    """Names for an expression: it collects the parameters that the expression makes."""

    def __init__(self, tg, dtype="float64"):
        self.parameters = []
        self.dtype = getattr(tg, dtype)
        super().__init__(
            tg=tg, D=tg.distributions, p=self.parameter, c=self.constant, i=self.integers, L=self.triangles
        )
        self.tg = tg

    def constant(self, *rows):
        return self.tg.tensor(list(rows), dtype=self.dtype)

    def parameter(self, *rows):
        tensor = self.constant(*rows).requires_grad_()
        self.parameters.append(tensor)
        return tensor

    def integers(self, *rows):
        return self.tg.tensor(list(rows))

    def triangles(self):
        """Cholesky factors of correlation matrices."""
        rows = np.array(
            [[[1.0, 0, 0], [0.6, 0.8, 0], [0.48, 0.64, 0.6]], [[1.0, 0, 0], [-0.28, 0.96, 0], [0, 0.8, 0.6]]]
        )
        return self.constant(*rows.tolist())


def derivatives(tg, out, leaves, key):
    """First and second derivatives of a weighted sum, by name."""
    first = tg.autograd.grad(out.sum(), leaves, create_graph=True, allow_unused=True)
    found = {f"{key} d{i}": g.detach() for i, g in enumerate(first) if g is not None}
    squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
    if squares:
        second = tg.autograd.grad(sum(squares), leaves, allow_unused=True, retain_graph=True)
        found |= {f"{key} dd{i}": g for i, g in enumerate(second) if g is not None}
    return found


#: PyTorch's GeneralizedPareto takes no float64.
DTYPES = {"GeneralizedPareto": "float32"}


def densities(tg, name):
    """The density and what is like it, with derivatives."""
    text, values = DISTRIBUTIONS[name]
    scope = Scope(tg, DTYPES.get(name, "float64"))
    distribution = eval(text, scope)
    value = eval(values, scope)
    leaves = list(scope.parameters)
    if value.dtype.is_floating_point and "Matrix" not in name:
        value = value.requires_grad_()
        leaves.append(value)
    out = {}
    log_prob = distribution.log_prob(value)
    out["log_prob"] = log_prob.detach()
    out |= derivatives(tg, log_prob, leaves, "log_prob")
    return out


def _asked(function):
    try:
        return function()
    except NotImplementedError:
        return None


def answers(tg, name):
    """Moments, entropy, cumulative distribution, quantiles, and the same of an expanded distribution."""
    text, values = DISTRIBUTIONS[name]
    scope = Scope(tg, DTYPES.get(name, "float64"))
    distribution = eval(text, scope)
    value = eval(values, scope)
    out = {}
    for key in MOMENTS:
        out[key] = _asked(lambda key=key: getattr(distribution, key))
    for key in OF_ITSELF:
        out[key] = _asked(lambda key=key: getattr(distribution, key)())
    out["cdf"] = _asked(lambda: distribution.cdf(value))
    out["icdf"] = _asked(lambda: distribution.icdf(scope.constant([0.1, 0.9], [0.5, 0.3])))
    wide = distribution.expand((3, *distribution.batch_shape))
    out["wide"] = wide.log_prob(value[:1])
    out["wide mean"] = _asked(lambda: wide.mean)
    out["shapes"] = np.array([*distribution.batch_shape, -1, *distribution.event_shape, -2, *wide.batch_shape, -1])
    return {key: x.detach() if hasattr(x, "detach") else x for key, x in out.items() if x is not None}


def samples(tg, name, dtype="float64"):
    """What a seed gives; gradients of samples that have them."""
    dtype = DTYPES.get(name, dtype)
    text, _ = DISTRIBUTIONS[name]
    scope = Scope(tg, dtype)
    distribution = eval(text, scope)
    tg.manual_seed(5)
    out = {"sample": distribution.sample(), "samples": distribution.sample((2, 9))}
    if distribution.has_rsample and name != "Wishart":  # whose gradient raises an error in PyTorch
        drawn = distribution.rsample((3,))
        out["rsample"] = drawn.detach()
        grads = tg.autograd.grad((drawn * drawn).sum(), scope.parameters, allow_unused=True)
        out |= {f"rsample d{i}": g for i, g in enumerate(grads) if g is not None}
    out["after"] = tg.rand(2)
    return out


def family(name):
    """The class that a case is of."""
    return name.split()[0]


def make(tg):
    """All arrays, by ``case/what``."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in DISTRIBUTIONS:
            parts = {**densities(tg, name), **answers(tg, name)}
            parts |= samples(tg, name)
            parts |= {f"{key} of float32": x for key, x in samples(tg, name, "float32").items()}
            found |= {f"{name}/{key}": np.asarray(x) for key, x in parts.items()}
    return found
