"""Values and two derivatives of elementwise functions where they are easily wrong: NaN, infinities, zeros, kinks."""

import numpy as np

NAN, INF = float("nan"), float("inf")
UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor frac log log10 log1p log2 neg positive "
    "reciprocal relu round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc nan_to_num"
).split()
BINARY = ("add sub mul div maximum minimum remainder fmod atan2 hypot logaddexp xlogy float_power pow").split()
FUNCTIONAL = (
    "relu relu6 leaky_relu elu selu celu gelu silu mish softplus logsigmoid hardtanh hardsigmoid hardswish softsign "
    "tanhshrink"
).split()
OTHERS = [
    "x ** 0.5", "x ** -0.5", "x ** 2", "x ** 3", "x ** -1", "x ** -2", "x ** 0", "x ** 1", "x ** 1.5", "x ** 0.3",
    "2.0 ** x", "0.0 ** x", "0.5 ** x", "1 / x", "2.0 / x", "x / 2", "x * 3", "x % 2", "x % -1.5", "F.elu(x, 0.5)",
    "F.celu(x, 2.0)", "F.leaky_relu(x, 0.2)", "F.leaky_relu(x, -0.5)", "F.softplus(x, 2.0, 3.0)",
    "F.hardtanh(x, -2.0, 0.5)", "F.threshold(x, 0.5, 2.0)", "F.gelu(x, approximate='tanh')", "x.clamp(-1, 1)",
    "x.clamp(min=-1)", "x.clamp(max=1)", "tg.where(x > 0, x, x * 2)", "F.prelu(x, tg.tensor([0.25], dtype=x.dtype))",
    "tg.fmod(x, 2.0)", "tg.nan_to_num(x, 1.0, 2.0, 3.0)",
]  # fmt: skip
POINTS = {
    "float32": [NAN, INF, -INF, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 6.0, 20.0, 25.0, -25.0, 100.0,
                -100.0, 1e-40, -1e-40, 1e-20, -1e-20, 1e20, -1e20, 3e38, -3e38],
}  # fmt: skip
_WIDE = [1e-310, -1e-310, 1e-200, -1e-200, 1e200, -1e200, 1.5e308, -1.5e308, 800.0, -800.0]
POINTS["float64"] = [*POINTS["float32"], *_WIDE]
PAIR = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e30, -1e30, 1e-30]


def expressions():
    """{label: number of operands}"""
    table = {f"tg.{name}(x)": 1 for name in UNARY}
    table |= {f"F.{name}(x)": 1 for name in FUNCTIONAL}
    table |= dict.fromkeys(OTHERS, 1)
    return table | {f"tg.{name}(x, y)": 2 for name in BINARY}


def points(count, dtype):
    """The operands' numbers."""
    if count == 1:
        return [np.array(POINTS[dtype], dtype)]
    first, second = np.meshgrid(np.array(PAIR, dtype), np.array(PAIR, dtype), indexing="ij")
    return [first.ravel(), second.ravel()]


def derivatives(tg, expression, xs):
    """Value, first and second derivatives of an expression at tensors, by name; those that there are."""
    known = dict(zip("xy", xs, strict=False))
    out = eval(expression, {"tg": tg, "F": tg.nn.functional, **known})
    found = {"value": out.detach()}
    first = tg.autograd.grad(out.sum(), xs, create_graph=True, allow_unused=True) if out.requires_grad else ()
    for name, g in zip("xy", first, strict=False):
        if g is None:
            continue
        found[f"d{name}"] = g.detach() + 0  # PyTorch's zeros of no memory become numbers
        if g.requires_grad:
            found |= _second(tg, name, g, xs)
    return found


def _second(tg, name, g, xs):
    try:
        second = tg.autograd.grad(g.sum(), xs, retain_graph=True, allow_unused=True)
    except RuntimeError:  # PyTorch has no second derivative of hardsigmoid and of a remainder
        return {}
    return {f"d{name}{other}": h + 0 for other, h in zip("xy", second, strict=False) if h is not None}


def results(tg, expression, count, dtype, at_once=None):
    """The derivatives at all points, as numpy arrays; of `at_once` points at a time."""
    whole = points(count, dtype)
    parts = []
    for start in range(0, whole[0].size, at_once or whole[0].size):
        xs = [tg.tensor(p[start : start + (at_once or p.size)]).requires_grad_() for p in whole]
        parts.append(derivatives(tg, expression, xs))
    return {name: np.concatenate([part[name].numpy() for part in parts]) for name in parts[0]}


def make(tg):
    """What is stored: all results, keyed `expression|dtype|name`.

    At NaN PyTorch's vector loops over many numbers give other derivatives of hardtanh, elu and hardswish than its loops
    over single ones. These count.
    """
    return {
        f"{expression}|{dtype}|{name}": array
        for expression, count in expressions().items()
        for dtype in POINTS
        for name, array in results(tg, expression, count, dtype, 1).items()
    }
