"""Special functions, element by element. Integers are computed in the default floating type, as in PyTorch.

Numbers come from the formulas in ``formulas/``, by numpy or as C. Formulas compute in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arithmetic import sign
from ..comparison import eq, where
from ..core import NO_GRADIENT, NoGradient, NotImplementedRule, Rule
from ..elementary import exp, floating_only, log, log1p, sigmoid
from ..formulas.catalogue import FORMULAS
from ..logic import logical_and, logical_or
from ..pointwise import Op, floating_domain, pointwise
from ..trigonometry import cos, sin
from ..types import DType
from .real import exp2

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _special(
    name: str,
    rules: Mapping[str, Rule | NoGradient] | Rule | NoGradient,
    backward_name: str | None = None,
    domain: Callable[[DType], DType] = floating_domain,
) -> Op:
    """The function that the formula called `name` defines; one rule alone is that of its only operand."""
    formula = FORMULAS[name]
    inputs = ("x", "y", "z")[: len(formula.inputs)]
    return pointwise(
        name,
        inputs=inputs,
        c=f"tg_special_{name}{{f}}({', '.join(f'{{{i}}}' for i in inputs)})",
        eval=formula.evaluate,
        vjp=rules if isinstance(rules, (Mapping, NoGradient)) else {"x": rules},
        domain=domain,
        backward_name=backward_name,
    )


# ------------------------------------------------------------------------------------------------- gamma functions

lgamma = _special("lgamma", lambda g, x: g * digamma(x))
digamma = _special("digamma", lambda g, x: g * trigamma(x))
trigamma = _special("trigamma", lambda g, x: g * (-2 * zeta(3.0, x)), "PolygammaBackward0")
zeta = _special(
    "zeta",
    {
        "x": NotImplementedRule("the derivative for 'zeta' is not implemented."),
        "y": lambda g, x, y: g * -x * zeta(x + 1, y),
    },
    "SpecialZetaBackward0",
)


def _gamma_slope(x: Any, y: Any) -> Any:
    """How P(x, y) grows with y."""
    return exp((x - 1) * log(y) - y - lgamma(x))


igamma = _special(
    "igamma",
    {
        "x": NotImplementedRule("the derivative for 'igamma: input' is not implemented."),
        "y": lambda g, x, y: g * _gamma_slope(x, y),
    },
    domain=floating_only("igamma_cpu"),
)
igammac = _special(
    "igammac",
    {
        "x": NotImplementedRule("the derivative for 'igammac: input' is not implemented."),
        "y": lambda g, x, y: -g * _gamma_slope(x, y),
    },
    domain=floating_only("igammac_cpu"),
)

# ------------------------------------------------------------------------------- error functions, normal distribution

erfc = _special("erfc", lambda g, x: g * (-_TWO_OVER_ROOT_PI * exp(-(x * x))))
erfinv = _special("erfinv", lambda g, x: g * (0.5 * math.sqrt(math.pi) * exp(erfinv(x) * erfinv(x))))
erfcx = _special("erfcx", lambda g, x, out: g * (2 * x * out - _TWO_OVER_ROOT_PI), "SpecialErfcxBackward0")
ndtr = _special("ndtr", lambda g, x: g * (math.sqrt(0.5 / math.pi) * exp(-0.5 * (x * x))), "MulBackward0")
log_ndtr = _special(
    "log_ndtr", lambda g, x: g / erfcx(x * -math.sqrt(0.5)) * math.sqrt(2 / math.pi), "SpecialLogNdtrBackward0"
)
ndtri = _special("ndtri", lambda g, out: g * (math.sqrt(2 * math.pi) * exp(0.5 * (out * out))), "SpecialNdtriBackward0")

# ----------------------------------------------------------------------------------- modified Bessel functions


def _over(y: Any, x: Any) -> Any:
    """y / x for an odd y with slope 0.5 at 0."""
    at_0 = eq(x, 0)
    return where(at_0, 0.5, y / where(at_0, 1.0, x))


i0 = _special("i0", lambda g, x: g * i1(x))
i0e = _special("i0e", lambda g, x, out: g * (i1e(x) - sign(x) * out), "SpecialI0EBackward0")
i1 = _special("i1", lambda g, x, out: g * (i0(x) - _over(out, x)), "SpecialI1Backward0")
i1e = _special("i1e", lambda g, x, out: g * (i0e(x) - sign(x) * out - _over(out, x)), "SpecialI1EBackward0")

# --------------------------------------------------------------------------------------------- logarithms' products

entr = _special("entr", lambda g, x: g * (-1 - log(x)), "SpecialEntrBackward0")
xlog1py = _special(
    "xlog1py",
    {
        "x": lambda g, x, y: g * where(logical_and(eq(x, 0), y <= -1), 0, log1p(y)),
        "y": lambda g, x, y: g * x / (y + 1),
    },
    "SpecialXlog1PyBackward0",
)


def _xlogy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where((x == 0) & (y == y), x.dtype.type(0), x * np.log(y))


xlogy = pointwise(
    "xlogy",
    inputs=("x", "y"),
    domain=floating_domain,
    c="(({x} == 0) & ({y} == {y})) ? {x} - {x} : {x} * tg_log{f}({y})",
    eval=_xlogy,
    vjp={
        "x": lambda g, x, y: g * where(logical_and(eq(x, 0), y <= 0), 0, log(y)),
        "y": lambda g, x, y: g * x / y,
    },
)
logit = _special("logit", lambda g, x: where(logical_or(x < 0, x > 1), math.nan, g / (x * (1 - x))), "LogitBackward0")
logaddexp2 = _special(
    "logaddexp2",
    {"x": lambda g, x, y: g / (1 + exp2(y - x)), "y": lambda g, x, y: g / (1 + exp2(x - y))},
    domain=floating_only("logaddexp2_cpu"),
)

# `logaddexp` with a derivative that can be differentiated where the operands are far apart, too: for sums of many.
log_of_sum = pointwise(
    "log_of_sum",
    inputs=("x", "y"),
    c="tg_logaddexp{f}({x}, {y})",
    eval=np.logaddexp,
    vjp={"x": lambda g, x, y: g * sigmoid(x - y), "y": lambda g, x, y: g * sigmoid(y - x)},
    domain=floating_only("logcumsumexp_out_cpu"),
)


def _sinc_slope(g: Any, x: Any) -> Any:
    """(pi x cos(pi x) - sin(pi x)) / (pi x**2), 0 at 0."""
    at_0, angle = eq(x, 0), x * math.pi
    slope = (angle * cos(angle) - sin(angle)) / (angle * where(at_0, 1.0, x))
    return g * where(at_0, 0.0, slope)


sinc = _special("sinc", _sinc_slope)


# ------------------------------------------------------------------- functions whose derivative PyTorch does not have

bessel_j0, bessel_j1, bessel_y0, bessel_y1, spherical_bessel_j0, airy_ai = (
    _special(name, NO_GRADIENT)
    for name in ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0", "airy_ai")
)
modified_bessel_k0, modified_bessel_k1, scaled_modified_bessel_k0, scaled_modified_bessel_k1 = (
    _special(f"{scale}modified_bessel_k{order}", NO_GRADIENT) for scale in ("", "scaled_") for order in (0, 1)
)
#: Orthogonal polynomials of x, of degree y.
POLYNOMIALS = {name: _special(name, NO_GRADIENT) for name in FORMULAS if "_polynomial_" in name}

# ---------------------------------------------------------------------- how random numbers move with parameters

standard_gamma_grad = _special(
    "standard_gamma_grad",
    dict.fromkeys("xy", NotImplementedRule("the derivative for '_standard_gamma_grad' is not implemented.")),
)
dirichlet_grad = _special(
    "dirichlet_grad",
    dict.fromkeys("xyz", NotImplementedRule("the derivative for '_dirichlet_grad' is not implemented.")),
)
