"""Special functions, functions of how numbers are made, reductions and differences: values, gradients, and second
derivatives of PyTorch's.

The expressions run in both libraries (`programs.run_all`); a first derivative as value has the second as gradient.
"""

import numpy as np

_random = np.random.default_rng(5)


def _between(low, high, *shape):
    return _random.uniform(low, high, shape)


ARRAYS = {
    "x": _between(-3, 3, 3, 4),
    "y": _between(-3, 3, 3, 4),
    "p": _between(0.2, 6, 3, 4),
    "q": _between(0.3, 6, 3, 4),
    "s": _between(0.05, 0.95, 3, 4),
    "f": _between(-4, 4, 2, 3).astype(np.float32),
    "h": np.where(np.arange(12).reshape(3, 4) % 5 == 0, np.nan, _random.permutation(12).reshape(3, 4) * 1.5),
    "v": np.sort(_between(0, 4, 4)),
    "n": _random.integers(-20, 20, (3, 4)),
    "m": _random.integers(1, 20, (3, 4)),
    "t": np.array([[2, 1, 2, 1], [3, 3, 1, 3], [4, 5, 6, 7]]),
    "b": np.array([True, False, True]),
}

#: With a first and a second derivative.
SMOOTH = [
    "tg.lgamma(p)", "tg.digamma(p)", "tg.polygamma(2, p)", "tg.mvlgamma(p + 1, 3)", "tg.special.zeta(2.5, p)",
    "tg.igamma(q.detach(), p)", "tg.igammac(q.detach(), p)", "tg.erfc(x)", "tg.erfinv(s)", "tg.special.erfcx(x)",
    "tg.special.ndtr(x)", "tg.special.log_ndtr(x)", "tg.special.ndtri(s)", "tg.i0(x)", "tg.special.i0e(x)",
    "tg.special.i1(x)", "tg.special.i1e(x)", "tg.special.entr(p)", "tg.special.xlog1py(x, p)", "tg.xlogy(x, p)",
    "tg.logit(s)", "tg.logit(s, eps=0.3)", "tg.sinc(x)", "tg.exp2(x)", "tg.logaddexp2(x, y)", "tg.deg2rad(x)",
    "tg.rad2deg(x)", "tg.copysign(x, y)", "tg.fmax(x, y)", "tg.fmin(x, y)", "tg.frexp(x)[0]", "tg.sgn(x) * x",
    "tg.logcumsumexp(x, 1)", "tg.cov(x)", "tg.cov(x, correction=0, fweights=m[0], aweights=v.detach())",
    "tg.corrcoef(x)", "tg.dist(x, y, 3)", "tg.var(x, 1, correction=0.5)", "tg.std(x, correction=-1)",
    "tg.var_mean(x, 0, correction=2)[0]", "tg.std_mean(x, True)[0]",
]  # fmt: skip
#: With a first derivative, or none.
OTHERS = [
    "tg.lgamma(f)", "tg.digamma(n)", "tg.special.ndtri(f * 0.1 + 0.5)", "tg.special.i1(f)", "tg.erfc(f)",
    "tg.special.modified_bessel_i0(x)", "tg.special.modified_bessel_k0(p)", "tg.special.modified_bessel_k1(p)",
    "tg.special.scaled_modified_bessel_k0(p)", "tg.special.scaled_modified_bessel_k1(p)",
    "tg.special.spherical_bessel_j0(x)",
    *(
        f"tg.special.{name}(x, {degree})"
        for degree in (-1, 0, 1, 2, 7)
        for name in (
            *(f"{of}chebyshev_polynomial_{kind}" for of in ("", "shifted_") for kind in "tuvw"),
            "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
        )
    ),
    "tg.special.chebyshev_polynomial_t(0.5, m)",
    "tg.frexp(x)[1]", "tg.ldexp(x, n.double() / 2)", "tg.gcd(n, m)", "tg.lcm(n, m)", "tg.gcd(n, -m)",
    "tg.nextafter(x, y)", "tg.nextafter(f, -f)", "tg.signbit(x)", "tg.signbit(n)", "tg.signbit(b)", "tg.isposinf(x)",
    "tg.isneginf(1 / (x * 0))",
    "tg.isreal(x)", "tg.fmax(h, x)", "tg.fmin(h, x)", "tg.fmax(n, m)", "tg.copysign(n, -1)", "tg.exp2(n)", "tg.sgn(n)",
    "tg.aminmax(x)[0]", "tg.aminmax(x, dim=1, keepdim=True)[1]", "tg.aminmax(h)[0]", "tg.nansum(h)", "tg.nansum(h, 1)",
    "tg.nanmean(h, 0, keepdim=True)", "tg.nanmedian(h)", "tg.nanmedian(h, 1)[0]", "tg.nanmedian(h, 0)[1]",
    "tg.mode(t)[0]", "tg.mode(t)[1]", "tg.mode(t, 0, True)[1]", "tg.mode(x, 0)[0]", "tg.kthvalue(x, 2)[0]",
    "tg.kthvalue(x, 3, 0, True)[1]", "tg.kthvalue(t[2], 2)[1]", "tg.cummax(t, 1)[1]", "tg.cummax(h, 1)[0]",
    "tg.cummin(h, 0)[1]", "tg.cummin(x, 1)[0]", "tg.cummax(b, 0)[0]", "tg.diff(x)", "tg.diff(x, 2, 0)",
    "tg.diff(x, 9)", "tg.diff(b)", "tg.diff(n, prepend=m, append=m)", "tg.gradient(x)[0]", "tg.gradient(x)[1]",
    "tg.gradient(x, spacing=2.0, dim=1, edge_order=2)[0]", "tg.gradient(x, spacing=(v,), dim=1)[0]",
    "tg.gradient(x, spacing=(v,), dim=1, edge_order=2)[0]", "tg.gradient(n, spacing=[2.0, 3.0])[1]",
    "tg.trapezoid(x)", "tg.trapezoid(x, v)", "tg.trapezoid(x, y, dim=0)", "tg.trapz(n, dx=0.5)",
    "tg.cumulative_trapezoid(x, v)", "tg.cumulative_trapezoid(x, dx=2, dim=0)", "tg.dist(x, v, float('inf'))",
    "tg.var_mean(x, True)[1]", "tg.std_mean(x, 1, False, True)[0]", "tg.std(x, unbiased=False)", "tg.cov(n)",
    "tg.cov(v)", "tg.corrcoef(v)", "tg.tril_indices(3, 4, -1)", "tg.triu_indices(3, 4, 1)", "tg.fill(x, 2)",
    "tg.clamp(x.detach(), y.detach() * float('nan'), p.detach())", "tg.clamp_max(v, float('nan'))",
    "tg.hypot(x * float('inf'), h)",
    "tg.lgamma(p)[:0]", "tg.lgamma(p.t()[::2])", "tg.igamma(p[:, :1].detach(), q)", "tg.special.log_softmax(x, 1)",
]  # fmt: skip
#: By what first derivatives are taken, where it is not the first operand alone.
OPERANDS = {"tg.special.zeta(2.5, p)": "p", "tg.polygamma(2, p)": "p", "tg.igamma(q.detach(), p)": "p",
            "tg.igammac(q.detach(), p)": "p", "tg.special.xlog1py(x, p)": "x, p", "tg.xlogy(x, p)": "x, p",
            "tg.logaddexp2(x, y)": "x, y", "tg.dist(x, y, 3)": "x, y"}  # fmt: skip


def first_derivatives():
    """Each first derivative as an expression of its own."""
    for expression in SMOOTH:
        given = OPERANDS.get(expression) or next(name for name in "xps" if f"({name}" in expression)
        for operand in given.split(", "):
            yield f"tg.autograd.grad(({expression}).square().sum(), {operand}, create_graph=True)[0]"


EXPRESSIONS = [*SMOOTH, *first_derivatives(), *OTHERS]

#: PyTorch's own errors, where ours are smaller: trigamma's series is cut off at 5e-10; its polynomials of degree 7 and
#: more are cosines of multiples of acos(x).
RTOL = {"digamma": 1e-8, "lgamma": 1e-8, "polynomial": 1e-11}


def rtol(expression, dtype):
    """None for the usual one, which float32 has everywhere."""
    found = (value for part, value in RTOL.items() if part in expression)
    return next(found, None) if dtype == np.float64 else None
