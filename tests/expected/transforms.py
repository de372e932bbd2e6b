"""Transforms, constraints and the registries that lead from one to the other; texts of what is refused, and of `repr`."""

import re
import warnings

import numpy as np

from .distributions import DISTRIBUTIONS, Scope, derivatives

#: A transform and its inputs.
TRANSFORMS = {
    "exp": ("D.ExpTransform()", "p([0.3, -1.2], [0.1, 2.0])"),
    "power": ("D.PowerTransform(p(0.5, 2.0))", "p([0.3, 1.2], [0.1, 2.0])"),
    "power of a number": ("D.PowerTransform(-1.5)", "p([0.3, 1.2], [0.1, 2.0])"),
    "sigmoid": ("D.SigmoidTransform()", "p([0.3, -1.2], [0.1, 2.0])"),
    "tanh": ("D.TanhTransform()", "p([0.3, -1.2], [0.1, 2.0])"),
    "softplus": ("D.SoftplusTransform()", "p([0.3, -1.2], [0.1, 2.0])"),
    "abs": ("D.AbsTransform()", "p([0.3, -1.2], [0.1, 2.0])"),
    "affine": ("D.AffineTransform(p(0.5, 2.0), p(-0.5, 2.0))", "p([0.3, -1.2], [0.1, 2.0])"),
    "affine of numbers": ("D.AffineTransform(0.5, -2)", "p([0.3, -1.2], [0.1, 2.0])"),
    "affine of vectors": ("D.AffineTransform(p(0.5, 2.0), p(-0.5, 2.0), event_dim=1)", "p([0.3, -1.2], [0.1, 2.0])"),
    "cumulative": (
        "D.CumulativeDistributionTransform(D.Normal(p(0.5, 2.0), p(0.5, 2.0)))", "p([0.3, -1.2], [0.1, 2.0])",
    ),
    "softmax": ("D.SoftmaxTransform()", "p([0.3, -1.2], [0.1, 2.0])"),
    "stick breaking": ("D.StickBreakingTransform()", "p([0.3, -1.2, 0.5], [0.1, 2.0, 0.0])"),
    "correlation": ("D.CorrCholeskyTransform()", "p([0.3, -1.2, 0.5], [0.1, 2.0, 0.0])"),
    "triangle": ("D.LowerCholeskyTransform()", "p([[0.3, -1.2], [0.5, 0.1]], [[2.0, 0.0], [0.4, -1.0]])"),
    "positive definite": ("D.PositiveDefiniteTransform()", "p([[0.3, -1.2], [0.5, 0.1]], [[2.0, 0.0], [0.4, -1.0]])"),
    "inverse": ("D.SigmoidTransform().inv", "p([0.3, 0.2], [0.1, 0.9])"),
    "composition": (
        "D.ComposeTransform([D.AffineTransform(p(0.5)[0], 2.0), D.StickBreakingTransform(), D.ExpTransform()])",
        "p([0.3, -1.2, 0.5], [0.1, 2.0, 0.0])",
    ),
    "inverse of composition": ("D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)]).inv", "p(1.5, 4.0)"),
    "identity": ("D.identity_transform", "p(1.5, 4.0)"),
    "independent": ("D.IndependentTransform(D.TanhTransform(), 1)", "p([0.3, -1.2], [0.1, 2.0])"),
    "reshape": ("D.ReshapeTransform((2, 3), (6,))", "p([[0.3, -1.2, 0.1], [2.0, 0.4, 0.6]])"),
    "cat": (
        "D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1, lengths=[1, 2])", "p([0.3, -1.2, 0.1], [2.0, 0.4, 0.6])",
    ),
    "cat of vectors": (
        "D.CatTransform([D.IndependentTransform(D.ExpTransform(), 1), D.IndependentTransform(D.TanhTransform(), 1)], "
        "dim=0, lengths=[1, 2])",
        "p([0.3, -1.2], [2.0, 0.4], [0.1, 0.2])",
    ),
    "stack": ("D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=1)", "p([0.3, -1.2], [2.0, 0.4])"),
}  # fmt: skip
_C = "D.constraints."
#: A constraint and values to check; ``n`` stands for NaN.
CONSTRAINTS = {
    "boolean": ("boolean", "c(0.0, 1.0, 0.5, n)"),
    "one_hot": ("one_hot", "c([0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.5])"),
    "integer_interval": ("integer_interval(-1, 3)", "c(-1.0, 3.0, 3.5, 4.0, 0.5, n)"),
    "nonnegative_integer": ("nonnegative_integer", "c(-1.0, 3.0, 3.5, 0.0)"),
    "positive_integer": ("positive_integer", "c(-1.0, 3.0, 3.5, 0.0)"),
    "real": ("real", "c(-1.0, 3.0, n)"),
    "real_vector": ("real_vector", "c([-1.0, 3.0], [n, 0.0])"),
    "positive": ("positive", "c(-1.0, 0.0, 3.0, n)"),
    "nonnegative": ("nonnegative", "c(-1.0, 0.0, 3.0, n)"),
    "greater_than": ("greater_than(1.5)", "c(-1.0, 1.5, 3.0)"),
    "greater_than_eq": ("greater_than_eq(c(1.5, 2.0, 3.5))", "c(-1.0, 2.0, 3.0)"),
    "less_than": ("less_than(1.5)", "c(-1.0, 1.5, 3.0)"),
    "interval": ("interval(1.5, 3)", "c(1.0, 1.5, 3.0, n)"),
    "unit_interval": ("unit_interval", "c(1.0, 1.5, 0.0, n)"),
    "half_open_interval": ("half_open_interval(1.5, 3)", "c(1.0, 1.5, 3.0, n)"),
    "simplex": ("simplex", "c([0.5, 0.5], [0.5, 0.50001], [1.5, -0.5], [0.5, 0.5000001])"),
    "multinomial": ("multinomial(4)", "c([1.0, 3.0], [1.0, 4.0], [-1.0, 2.0])"),
    "lower_triangular": ("lower_triangular", "c([[1.0, 0.0], [2.0, -1.0]], [[1.0, 1.0], [2.0, 1.0]])"),
    "lower_cholesky": ("lower_cholesky", "c([[1.0, 0.0], [2.0, 1.0]], [[1.0, 0.0], [2.0, -1.0]])"),
    "corr_cholesky": ("corr_cholesky", "c([[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.81]])"),
    "square": ("square", "c([[1.0, 0.0], [0.6, 0.8]])"),
    "not square": ("square", "c([[1.0, 0.0, 1.0], [0.6, 0.8, 0.0]])"),
    "symmetric": ("symmetric", "c([[1.0, 0.5], [0.5, 0.8]], [[1.0, 0.1], [0.6, 0.81]])"),
    "positive_definite": ("positive_definite", "c([[1.0, 0.5], [0.5, 0.8]], [[1.0, 2.0], [2.0, 1.0]])"),
    "positive_definite, not symmetric": ("positive_definite", "c([[1.0, 0.5], [0.5, 0.8]], [[1.0, 0.0], [0.5, 1.0]])"),
    "positive_semidefinite": ("positive_semidefinite", "c([[1.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]])"),
    "independent": ("independent(D.constraints.positive, 1)", "c([1.0, 2.0], [1.0, -1.0])"),
    "cat": ("cat([D.constraints.real, D.constraints.positive], 0, [1, 2])", "c(-1.0, -2.0, 1.0)"),
    "stack": ("stack([D.constraints.real, D.constraints.positive], 1)", "c([-1.0, 1.0], [n, -2.0])"),
    "mixture": ("MixtureSameFamilyConstraint(D.constraints.interval(c(0.0, 1.0), c(2.0, 3.0)))", "c(0.5, 1.5, 2.5)"),
}  # fmt: skip
REGISTERED = (
    "positive nonnegative greater_than(1.5) greater_than_eq(-1.5) less_than(2.0) interval(-1.0,2.0) unit_interval "
    "half_open_interval(0.0,3.0) simplex real real_vector corr_cholesky lower_cholesky positive_definite boolean one_hot "
    "positive_semidefinite independent(D.constraints.positive,1) dependent multinomial(2) "
    "cat([D.constraints.real,D.constraints.positive],-1,[1,2]) stack([D.constraints.real,D.constraints.positive],-1)"
).split()
#: What raises an error or shows a text, beside the `repr` of everything above.
TEXTS = """
D.Normal(0.0, -1.0)
D.Normal(c(0.0, 1.0), c(1.0, -1.0))
D.Normal(0.0, 1.0).log_prob(2.0)
D.Normal(0.0, 1.0).log_prob(c(n)[0])
D.Normal(c(0.0, 1.0), 1.0).log_prob(c(0.0, 1.0, 2.0))
D.Normal(0.0, 1.0).cdf(c(n)[0])
D.Normal(0.0, 'a')
D.Normal(c(0.0, 1.0), c(1.0, 1.0, 1.0))
D.Normal(0.0, 1.0).enumerate_support()
D.Normal(c(0.0), c(1.0))
D.Categorical(c(1.0)[0])
D.Categorical(logits=c(1.0)[0])
D.Categorical()
D.Categorical(c(0.5, 0.5), c(0.5, 0.5))
D.Categorical(c(-0.5, 1.5))
D.Categorical(c(1.0, 1.0, 1.0)).log_prob(i(3)[0])
D.Categorical(logits=c(0.0, n))
D.OneHotCategorical(c(1.0, 1.0)).log_prob(c(1.0, 1.0))
D.OneHotCategorical(c(1.0, 1.0))
D.Dirichlet(c(1.0, 1.0, 1.0)).log_prob(c(0.5, 0.5))
D.Dirichlet(c(1.0, 1.0)).log_prob(c(0.5, 0.6))
D.Dirichlet(c(1.0)[0])
D.Uniform(1.0, 0.0)
D.Uniform(0.0, 1.0).log_prob(c(1.5)[0])
D.Uniform(c(0.0, 1.0), 2.0).cdf(c(0.5, 0.5))
D.Bernoulli(1.5)
D.Bernoulli()
D.Bernoulli(0.5, 0.5)
D.Bernoulli(0.5).log_prob(c(0.5))
D.Bernoulli(0.5).rsample()
D.Bernoulli(0.5).cdf(c(0.0))
D.Bernoulli(logits=c(1.0, 2.0))
D.Geometric(0.0)
D.Geometric(c(0.0, 0.5))
D.Geometric(-1.0)
D.Binomial(-1, c(0.5)[0])
D.Binomial(3, c(0.5, 0.2))
D.Binomial(c(3.0, 4.0), c(0.5, 0.2)).enumerate_support()
D.Binomial(c(3.0, 4.0), c(0.5, 0.2)).entropy()
D.Binomial(3, c(0.5)[0]).log_prob(c(4.0)[0])
D.NegativeBinomial(3.0, c(1.0)[0])
D.Multinomial(2.5, c(1.0, 1.0))
D.Multinomial(2, c(1.0, 1.0)).log_prob(c(2.0, 1.0))
D.Multinomial(2, c(1.0, 1.0)).mode
D.Multinomial(2, c(1.0, 1.0))
D.Poisson(-1.0)
D.Poisson(1.0).log_prob(c(0.5)[0])
D.Poisson(1.0).entropy()
D.Gamma(-1.0, 1.0)
D.Gamma(1.0, 1.0).log_prob(c(-1.0)[0])
D.Chi2(-1.0)
D.Chi2(2.0)
D.InverseGamma(-1.0, 2.0)
D.Beta(-1.0, 1.0)
D.Beta(1.0, 1.0)
D.Beta(1.0, 1.0).log_prob(c(1.5)[0])
D.Kumaraswamy(-1.0, 2.0)
D.StudentT(2.0)
D.VonMises(0.0, -1.0)
D.HalfNormal(-1.0)
D.HalfNormal(1.0).log_prob(c(-1.0)[0])
D.HalfNormal(1.0).cdf(c(-1.0)[0])
D.HalfCauchy(-1.0)
D.LogNormal(0.0, -1.0)
D.LogNormal(0.0, 1.0)
D.LogNormal(0.0, 1.0).log_prob(c(-1.0)[0])
D.LogNormal(0.0, 1.0).cdf(c(-1.0)[0])
D.Gumbel(0.0, -1.0)
D.Gumbel(0.0, 1.0)
D.Weibull(-1.0, 1.0)
D.Weibull(1.0, 1.0)
D.Pareto(1.0, -1.0)
D.Pareto(1.0, 2.0)
D.Pareto(1.0, 2.0).log_prob(c(0.5)[0])
D.GeneralizedPareto(0.0, -1.0, 1.0)
D.ContinuousBernoulli(c(1.5), validate_args=True)
D.ContinuousBernoulli(0.25)
D.RelaxedBernoulli(c(1.0)[0], 2.0)
D.RelaxedBernoulli(c(1.0)[0], 0.5)
D.RelaxedBernoulli(c(1.0)[0], 0.5).log_prob(c(1.5)[0])
D.RelaxedOneHotCategorical(c(1.0)[0], c(1.0, 1.0)).log_prob(c(1.5, 0.1))
D.LogisticNormal(c(0.0, 1.0), c(1.0, -1.0))
D.MultivariateNormal(c(1.0)[0], tg.eye(2))
D.MultivariateNormal(c(1.0, 1.0))
D.MultivariateNormal(c(1.0, 1.0), tg.eye(2), tg.eye(2))
D.MultivariateNormal(c(1.0, 1.0), c(1.0, 1.0))
D.MultivariateNormal(c(1.0, 1.0), scale_tril=c(1.0, 1.0))
D.MultivariateNormal(c(1.0, 1.0), c([1.0, 1.0], [1.0, 1.0]))
D.MultivariateNormal(c(1.0, 1.0), scale_tril=c([1.0, 1.0], [1.0, 1.0]))
D.MultivariateNormal(c(1.0, 1.0), c([1.0, 0.0], [0.0, 1.0]))
D.LowRankMultivariateNormal(c(1.0, 1.0), c([1.0], [1.0], [1.0]), c(1.0, 1.0))
D.LowRankMultivariateNormal(c(1.0, 1.0), c([1.0], [1.0]), c(1.0, 1.0, 1.0))
D.LowRankMultivariateNormal(c(1.0, 1.0), c(1.0, 1.0), c(1.0, 1.0))
D.LowRankMultivariateNormal(tg.ones(4, 2), tg.ones(3, 2, 1), tg.ones(2))
D.Wishart(c(1.0)[0], tg.eye(2))
D.Wishart(c(3.0)[0])
D.Wishart(c(3.0)[0], c(1.0, 1.0))
D.Wishart(3.0, tg.eye(2))
D.LKJCholesky(1)
D.LKJCholesky(3, -1.0)
D.LKJCholesky(3, 1.0)
D.Independent(D.Normal(c(0.0, 1.0), 1.0), 2)
D.Independent(D.Normal(c(0.0, 1.0), 1.0), 1)
D.Independent(D.Bernoulli(c(0.5, 0.1)), 1).enumerate_support()
D.TransformedDistribution(D.Normal(0.0, 1.0), 3)
D.TransformedDistribution(D.Normal(0.0, 1.0), [3])
D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())
D.TransformedDistribution(D.Normal(0.0, 1.0), [D.ExpTransform()])
D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0))
D.MixtureSameFamily(D.Categorical(c(1.0, 1.0)), 3)
D.MixtureSameFamily(D.Categorical(tg.ones(3, 2)), D.Normal(tg.zeros(2, 2), 1.0))
D.MixtureSameFamily(D.Categorical(c(1.0, 1.0)), D.Normal(c(0.0, 0.0, 0.0), 1.0))
D.MixtureSameFamily(D.Categorical(logits=c(1.0, 1.0)), D.Normal(c(0.0, 0.0), 1.0))
D.kl_divergence(D.Normal(0.0, 1.0), D.Bernoulli(0.5))
D.kl_divergence(D.LogNormal(0.0, 1.0), D.HalfNormal(0.5))
D.kl_divergence(D.Bernoulli(0.5), D.Gamma(0.5, 1.0))
D.kl_divergence(D.MultivariateNormal(tg.zeros(2), tg.eye(2)), D.MultivariateNormal(tg.zeros(3), tg.eye(3)))
D.Distribution.set_default_validate_args(3)
D.Distribution(validate_args=False).log_prob(1)
D.Distribution(validate_args=False).mean
D.Distribution(validate_args=False).mode
D.Distribution(validate_args=False).expand((2,))
D.Distribution(validate_args=False)
D.utils.vec_to_tril_matrix(tg.ones(5))
D.utils.tril_matrix_to_vec(tg.ones(3, 3), 3)
D.utils.broadcast_all(1, 'a')
D.ExpTransform(cache_size=2)
D.AbsTransform().log_abs_det_jacobian(tg.ones(1), tg.ones(1))
D.CorrCholeskyTransform().event_dim
D.AbsTransform().sign
D.ReshapeTransform((2,), (3,))
D.ReshapeTransform((2,), (2, 1)).forward_shape((3,))
D.CorrCholeskyTransform().forward_shape((5,))
D.CorrCholeskyTransform().inverse_shape((5, 4))
D.StickBreakingTransform().forward_shape(())
D.IndependentTransform(D.ExpTransform(), 1)(c(1.0)[0])
D.StackTransform([D.ExpTransform()])(tg.ones(3))
D.CatTransform([D.ExpTransform()])(tg.ones(3))
D.CatTransform([3])
D.constraints.cat([3])
D.constraints.dependent.check(tg.ones(1))
D.constraints.dependent.event_dim
D.constraints.dependent(event_dim=1).event_dim
D.constraints.dependent(is_discrete=True).is_discrete
D.constraints.real_vector.check(c(1.0)[0])
D.constraints.is_dependent(D.constraints.dependent)
D.constraints.is_dependent(D.constraints.real)
D.biject_to.register(3, lambda c: c)
D.ExpTransform() == D.ExpTransform()
D.AffineTransform(0.0, 1.0) == D.AffineTransform(0.0, 1.0)
D.AffineTransform(0.0, 1.0) == D.AffineTransform(0.0, 2.0)
D.PowerTransform(c(2.0)) == D.PowerTransform(c(2.0))
D.ExpTransform().inv == D.ExpTransform().inv
D.ExpTransform().inv.inv == D.ExpTransform()
D.ComposeTransform([D.ExpTransform()]) == D.ComposeTransform([D.ExpTransform()])
""".strip().splitlines()


def transformed(tg, name):
    """Value, inverse, Jacobian with derivatives, and shapes."""
    scope = Scope(tg)
    transform, x = (eval(text, scope) for text in TRANSFORMS[name])
    y = transform(x)
    out = {"y": y.detach(), "x": transform.inv(y.detach()).detach()}
    out |= derivatives(tg, y * y, scope.parameters, "y")
    try:
        jacobian = transform.log_abs_det_jacobian(x, y)
        out["jacobian"] = jacobian.detach()
        if jacobian.requires_grad:
            out |= {k: g for k, g in derivatives(tg, jacobian, scope.parameters, "jacobian").items() if "dd" not in k}
    except NotImplementedError:
        pass
    out["shapes"] = np.array([*transform.forward_shape(x.shape), -1, *transform.inverse_shape(y.shape)])
    return out


def checked(tg, name):
    """Where a constraint holds."""
    scope = {**Scope(tg), "n": float("nan")}
    text, values = CONSTRAINTS[name]
    constraint = eval(_C + text, scope)
    return {
        "holds": constraint.check(eval(values, scope)),
        "dims": np.array([constraint.event_dim, constraint.is_discrete]),
    }


def parametrised(tg, registry, text):
    """What the registered transform makes of numbers, and whether it satisfies the constraint."""
    scope = Scope(tg)
    constraint = eval(_C + text, scope)
    try:
        transform = getattr(tg.distributions, registry)(constraint)
    except NotImplementedError:
        return {"absent": np.array(True)}
    x = scope.constant([[0.3, -1.2, 0.5], [0.1, 2.0, 0.0], [0.7, 0.2, -0.3]])
    x = x[..., :2] if text.startswith("stack") else x
    y = transform(x)
    return {"y": y, "holds": constraint.check(y)}


def make(tg):
    """All arrays, by ``kind/case/what``."""
    found = {}
    for kind, names, function in (("transform", TRANSFORMS, transformed), ("constraint", CONSTRAINTS, checked)):
        found |= {f"{kind}/{name}/{key}": np.asarray(x) for name in names for key, x in function(tg, name).items()}
    for registry in ("biject_to", "transform_to"):
        for text in REGISTERED:
            parts = parametrised(tg, registry, text)
            found |= {f"{registry}/{text}/{key}": np.asarray(x) for key, x in parts.items()}
    return found


def told(tg, text):
    """The text that an expression shows or raises, in words that both libraries share."""
    scope = {**Scope(tg), "n": float("nan")}
    try:
        shown = repr(eval(text, scope))
    except Exception as error:
        mro = [kind.__name__.lstrip("_") for kind in type(error).__mro__]
        shown = f"{mro[0]}: {error}"
    shown = re.sub(r"\btracegrad\b", "torch", shown)
    shown = re.sub(r"torch\.distributions\.\w+(\.\w+)*\.(\w+)", r"\2", shown)  # where a class lies
    return re.sub(r"\s+", " ", re.sub(r", grad_fn=<\w+>", "", shown))


def all_texts():
    """The expressions of `TEXTS`, and those whose `repr` is compared."""
    shown = [text for text, _ in TRANSFORMS.values()] + [_C + text for text, _ in CONSTRAINTS.values()]
    return [*TEXTS, *shown, *(text for text, _ in DISTRIBUTIONS.values())]


def make_texts(tg):
    """The texts, by expression."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {text: told(tg, text) for text in all_texts()}
