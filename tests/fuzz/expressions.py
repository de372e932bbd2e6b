"""What a statement may compute. Each writer gives ``(expression, exact)``, or None where no variable fits."""

from __future__ import annotations

from collections.abc import Callable

import tracegrad as tg

from .author import Author

Written = tuple[str, bool] | None
Writer = Callable[[Author], Written]
WRITERS: list[Writer] = []
WEIGHTS: list[int] = []

# Continuous with moderate derivatives: a rounding stays a rounding. Kinks lie at odd places (see author.py).
SMOOTH = """
tg.tanh({x})|{x}.sin()|tg.cos({x})|{x}.sigmoid()|tg.exp(-{x} * {x})|F.softplus({x})|F.gelu({x})|F.silu({x})
tg.sqrt({x} * {x} + 0.5)|tg.log({x} * {x} + 1.0)|{x}.square() * 0.3|tg.atan({x})|1 / (1 + {x} * {x})|tg.erf({x})
tg.rsqrt({x} ** 2 + 0.7)|F.relu({x} - 0.2173)|{x}.clamp(-0.6317, 0.5831)|F.leaky_relu({x} + 0.1337, 0.2)
F.elu({x} + 0.1337)|tg.expm1(tg.tanh({x}))|F.hardtanh({x} * 0.5317)|F.logsigmoid({x})|({x} * 0.3) ** 3|F.mish({x})
2.0 ** tg.tanh({x})|{x}.clamp(min=-0.4177)|tg.clamp({x}, max=0.3871)|{x}.sub(0.2573).abs()|tg.log1p({x} * {x})
{x}.reciprocal().tanh()|tg.where({x} > 0.3119, {x}, {x} * 0.5)|{x}.masked_fill({x} < -0.2739, 0.25)|F.tanhshrink({x})
F.hardswish({x} + 0.1171)|{x}.mul({k}).add({k})|{k} * {x} + {k}|{x} / {k}|({k}) - {x}|F.selu({x} + 0.0791)|{x}.cosh().log()
tg.lerp({x}, tg.sin({x}), 0.3)|tg.addcmul({x}, {x}, {x}, value=0.1)|F.threshold({x}, 0.1379, -0.25)|{x}.float()|{x}.double()
F.dropout({x}, 0.5)|F.dropout({x}, 0.25, training=False)|tg.tan({x} * 0.1)|tg.logaddexp({x}, {x} * 0.5)|tg.acos({x}.tanh() * 0.7)
"""
# Exact for exact operands, and asked of these only where there is a kink.
PLAIN = "-{x}|{x} * 0.5|{x} + 1|1 - {x}|{x}.clone()|{x}.detach()|{x} - 0.25|2 * {x}|{x}.contiguous()|{x}.neg().add(0.5)|+{x}"
KINKED = """
{x}.abs()|F.relu({x})|{x}.clamp(-0.5, 0.75)|{x}.sign()|{x}.round()|{x}.floor()|{x}.trunc()|{x}.frac()|tg.where({x} > 0, {x}, 0.5)
{x}.ceil()|tg.sign({x}) * {x}|{x}.masked_fill({x} == 0, 0.5)|({x} > 0).to({x}.dtype)|tg.nan_to_num({x})
"""
VIEWS = """
{x}.reshape(-1)|{x}.flatten()|{x}.unsqueeze(0)|{x}.unsqueeze(-1)|{x}[None]|{x}[...]|{x}[..., None]|{x}.squeeze()|{x}.view(-1)
{x}.ravel()|{x}.view_as({x})|{x}.expand_as({x})|{x}.view({x}.shape)|{x}.reshape(1, -1)|{x}.reshape(-1, 1)
"""
VIEWS_1 = """
{x}[0]|{x}[-1]|{x}[1:]|{x}[:-1]|{x}[::2]|{x}[1::2]|{x}.select({d}, 0)|{x}.narrow({d}, 0, 1)|{x}.chunk(2, {d})[0]|{x}.split(1, {d})[-1]
{x}.unbind({d})[0]|{x}.unbind({d})[-1]|{x}.flip({d})|{x}.roll(1, {d})|tg.cat([{x}, {x}], {d})|{x}.repeat_interleave(2, {d})|{x}[..., 0]
{x}[..., -1:]|{x}.unsqueeze(0).expand(2, *{x}.shape)|tg.stack([{x}, {x}], {d})|{x}.chunk(2, {d})[-1]|{x}.movedim(0, -1)|{x}.unsqueeze({d})
{x}.unfold({d}, 1, 1)|{x}.tensor_split(2, {d})[0]|tg.atleast_3d({x})|{x}.as_strided(({x}.numel(),), (1,))|tg.diagflat({x})|{x}.flip(())
{x}.tile(2)|F.pad({x}, (1, 0))|F.pad({x}, (0, 1), value=0.5)|{x}[[0, -1]]|{x}[tg.tensor([0, 0])]|tg.squeeze({x}, {d})|{x}[..., ::2]
"""
VIEWS_2 = """
{x}.t()|{x}.T|{x}.mT|{x}.transpose(0, 1)|{x}.transpose(-1, -2)|{x}[:, 0]|{x}[:, 1:]|{x}[:, ::2]|{x}[1:, :-1]|{x}.permute(1, 0)|{x}.tril()
{x}.triu()|{x}.diagonal()|{x}.swapaxes(0, 1)|{x}.flatten(0, 1)|{x}[0, :]|{x}[:, -1]|{x}[:, None]|{x}.movedim(-1, 0)|{x}[:, [0, 0]]|{x}.flatten(-2)
F.pad({x}, (1, 0, 0, 1))|{x}[0, 0]|tg.diag({x})|{x}.permute(2, 0, 1)|{x}.transpose(0, 2)|{x}[:, 0, ::2]|{x}.t().contiguous()|{x}.t().reshape(-1)
"""
FOLDS = "{x}.sum()|{x}.sum({d})|{x}.sum({d}, keepdim=True)|tg.cumsum({x}, {d})|{x}.sum((0, -1))"
SMOOTH_FOLDS = """
{x}.mean()|{x}.mean({d})|{x}.mean({d}, keepdim=True)|{x}.softmax({d})|F.log_softmax({x}, {d})|tg.logsumexp({x}, {d})|F.softmin({x}, {d})
{x}.var({d}, unbiased=False)|({x}.var({d}, unbiased=False) + 0.5).sqrt()|{x}.prod({d})|({x} * 0.5).cumprod({d})|tg.logsumexp({x}, {d}, True)
F.normalize({x}, dim={d}, eps=0.7)|F.layer_norm({x}, {x}.shape[-1:], eps=0.1)|F.rms_norm({x}, {x}.shape[-1:], eps=0.1)|{x}.mean((0, -1))
({x} * {x} + 0.3).norm()|({x} * {x} + 0.3).norm(dim={d})|tg.softmax({x}, {d}).log()|F.glu(tg.cat([{x}, {x}], {d}), {d})|tg.outer({x}, {x})
"""
CHOICES = "{x}.amax({d})|{x}.max({d}).values|{x}.min({d})[0]|{x}.max()|{x}.amin({d}, keepdim=True)|{x}.sort({d}).values|{x}.topk(1, {d})[0]|{x}.median({d})[0]|tg.sort({x}, {d}, descending=True)[0]"
INDICES = "{x}.argmax({d})|{x}.argmin({d})|{x}.argmax()|tg.argsort({x}, {d})|{x}.max({d}).indices|{x}.sort({d})[1]|tg.count_nonzero({x}, {d})|{x}.argmax({d}, keepdim=True)|{x}.topk(1, {d}).indices"
CONDITIONS = "{x} > 0|{x} <= 0.5|{x} == 0|({x} > -1) & ({x} < 1)|({x} > 0).logical_not()|{x} != {x}|tg.isfinite({x})|({x} > 0).any({d})|({x} > -1).all()|({x} >= 0).logical_xor({x} < 1)"
INTEGERS = "{x} + 1|{x} * 2|{x} % 3|{x} // 2|-{x}|{x}.float()|{x}.double()|{x} == 1|{x} & 3|{x}.sum()|{x}.clamp(0, 2)|{x}.to(tg.float64)|{x}.abs()|{x} / 2|{x} * 0.5|{x} > 0|{x}.long()|{x}.int()|tg.cumsum({x}, {d})|{x} ** 2"
BOOLEANS = (
    "~{x}|{x}.float()|{x}.long()|{x}.any()|{x}.all()|{x} & {x}|{x} * 1.5|{x}.sum()|{x}.logical_not()|{x}.double()"
)
PAIRS_SMOOTH = "{a} * {b}|{a} / (1 + {b} * {b})|tg.hypot({a} + 0.3, {b})|tg.atan2({a}, {b} * {b} + 1)|tg.logaddexp({a}, {b})|{a}.lerp({b}, 0.3)|tg.addcdiv({a}, {b}, {a} * {a} + 1)|tg.maximum({a}, {b} + 0.2171)|tg.where({a} > 0.1731, {a}, {b})|tg.einsum('...i,...i->...', {a}, {b})|F.mse_loss({a}, {b})|F.smooth_l1_loss({a}, {b} + 0.1973)|tg.where({b} < 0.2231, 0.5, {a})"
PAIRS_PLAIN = "{a} + {b}|{a} - {b}|{a}.add({b}, alpha=2)|{a} * {b}"
PAIRS_KINKED = "tg.maximum({a}, {b})|tg.minimum({a}, {b})|tg.where({a} > {b}, {a}, {b})|{a} == {b}|{a} < {b}|{a} >= {b}|tg.where({a} != {b}, {a}, 0.5)"
FRESH = "tg.zeros({s})|tg.ones({s}, dtype=tg.float64)|tg.full({s}, 0.25)|tg.arange({n})|tg.eye({n})|tg.rand({s})|tg.randint(0, 3, {s})|tg.randperm({n})|tg.arange({n}) * 0.5|tg.tensor([0.5, -0.25, 1.0])|tg.tensor(0.75, dtype=tg.float64)|tg.zeros({s}, dtype=tg.bool)"
FRESH_SMOOTH = "tg.randn({s})|tg.randn({s}, dtype=tg.float64)|tg.linspace(0, 1, {n})|tg.normal(0.0, 1.0, {s})|tg.rand({s}, dtype=tg.float64)"
LIKE = "tg.zeros_like({x})|tg.ones_like({x})|tg.full_like({x}, 0.5)|tg.rand_like({x})|tg.bernoulli(tg.full_like({x}, 0.5))|{x}.new_zeros({s})"
MATRIX = "{a} @ {b}|tg.matmul({a}, {b})|{a}.matmul({b}).tanh()|{a}.tanh() @ {b}|({a} @ {b}).relu()|{a} @ (-{b})"
LOSSES = "F.cross_entropy({x}, {y})|F.nll_loss(F.log_softmax({x}, -1), {y})|F.cross_entropy({x}, {y}, reduction='sum') * 0.2|F.cross_entropy({x}, {y}, label_smoothing=0.1)|F.cross_entropy({x}, {y}, reduction='none')"


def options(text: str) -> list[str]:
    return [part.strip() for line in text.strip().split("\n") for part in line.split("|")]


def writer(weight: int) -> Callable[[Writer], Writer]:
    def register(function: Writer) -> Writer:
        WRITERS.append(function)
        WEIGHTS.append(weight)
        return function

    return register


def filled(a: Author, templates: str, x: str) -> str:
    """One of `templates` for the variable `x`: {d} an axis of it, {k} a number, {s} a shape."""
    axis = str(a.axis(x)) if a[x].ndim else "0"
    template = a.choice(options(templates))
    while "{k}" in template:
        template = template.replace("{k}", a.number(), 1)
    return template.replace("{x}", x).replace("{d}", axis).replace("{s}", str(a.shape()))


def one_operand(templates: str, min_ndim: int = 0, exact: bool = False, keeps: bool = False) -> Writer:
    """Of one floating variable. `exact`: an exact one only; `keeps`: the result is as exact as the operand."""

    def write(a: Author) -> Written:
        x = a.floating(min_ndim, exact)
        return None if x is None else (filled(a, templates, x), keeps and a.exact(x))

    return write


def of_dtypes(templates: str, *dtypes: object) -> Writer:
    def write(a: Author) -> Written:
        x = a.of_type(*dtypes)
        return None if x is None else (filled(a, templates, x), True)

    return write


def two_operands(templates: str, exact: bool = False, keeps: bool = False) -> Writer:
    def write(a: Author) -> Written:
        x = a.floating(0, exact)
        y = x and a.fitting(x)
        if x is None or y is None or (exact and not a.exact(y)):
            return None
        return a.choice(options(templates)).replace("{a}", x).replace("{b}", y), keeps and a.exact(x, y)

    return write


for _weight, _writer in (
    (12, one_operand(SMOOTH)),
    (4, one_operand(PLAIN, keeps=True)),
    (5, one_operand(KINKED, exact=True, keeps=True)),
    (3, one_operand(VIEWS, keeps=True)),
    (8, one_operand(VIEWS_1, 1, keeps=True)),
    (6, one_operand(VIEWS_2, 2, keeps=True)),
    (4, one_operand(FOLDS, 1, keeps=True)),
    (8, one_operand(SMOOTH_FOLDS, 1)),
    (4, one_operand(CHOICES, 1, exact=True, keeps=True)),
    (4, one_operand(INDICES, 1, exact=True, keeps=True)),
    (4, one_operand(CONDITIONS, 0, exact=True, keeps=True)),
    (4, of_dtypes(INTEGERS, tg.int64, tg.int32)),
    (2, of_dtypes(BOOLEANS, tg.bool_)),
    (2, one_operand(LIKE, keeps=True)),
    (8, two_operands(PAIRS_SMOOTH)),
    (6, two_operands(PAIRS_PLAIN, keeps=True)),
    (3, two_operands(PAIRS_KINKED, exact=True, keeps=True)),
):
    writer(_weight)(_writer)


@writer(3)
def fresh(a: Author) -> Written:
    exact = a.chance(0.7)
    text = a.choice(options(FRESH if exact else FRESH_SMOOTH))
    return text.replace("{s}", str(a.shape())).replace("{n}", str(a.choice(a.extents))), exact


@writer(10)
def product(a: Author) -> Written:
    x = a.floating(1)
    if x is None:
        return None
    inner = a[x].shape[-1]
    straight = a.pick(lambda t, m: t.dtype is a[x].dtype and t.ndim > 0 and t.shape[-2 if t.ndim > 1 else 0] == inner)
    turned = a.pick(lambda t, m: t.dtype is a[x].dtype and t.ndim > 1 and t.shape[-1] == inner)
    other = (
        a.choice([n for n in (straight, turned and f"{turned}.mT", f"{x}.mT" if a[x].ndim > 1 else None) if n])
        if straight or turned
        else None
    )
    if other is None:
        return None
    return a.choice(options(MATRIX)).replace("{a}", x).replace("{b}", other), False


@writer(3)
def linear(a: Author) -> Written:
    x = a.floating(1)
    w = x and a.pick(lambda t, m: t.ndim == 2 and t.dtype is a[x].dtype and t.shape[-1] == a[x].shape[-1])
    if not x or not w:
        return None
    b = a.pick(lambda t, m: t.dtype is a[x].dtype and tuple(t.shape) == (a[w].shape[0],))
    return (f"F.linear({x}, {w}, {b})" if b else f"F.linear({x}, {w})"), False


@writer(3)
def joined(a: Author) -> Written:
    x = a.floating(1)
    same = x and a.pick(lambda t, m: t.shape == a[x].shape and t.is_floating_point())
    if not x or not same:
        return None
    how = a.choice(["tg.cat([{x}, {y}], {d})", "tg.stack([{x}, {y}], {d})", "tg.cat([{x}, {y}.detach(), {x}], {d})",
                    "tg.hstack([{x}, {y}])", "tg.vstack([{y}, {x}])"])  # fmt: skip
    return how.replace("{x}", x).replace("{y}", same).replace("{d}", str(a.axis(x))), a.exact(x, same)


@writer(6)
def indexed(a: Author) -> Written:
    """Reads by an integer tensor whose numbers are valid indices."""
    x = a.pick(lambda t, m: t.is_floating_point() and t.ndim > 0 and t.shape[0] > 0)
    if x is None:
        return None
    rows = a[x].shape[0]
    index = a.pick(lambda t, m: m.exact and t.dtype is tg.int64 and t.ndim > 0)
    y = f"{index} % {rows}" if index and a.chance(0.6) else f"tg.randint(0, {rows}, ({a.choice([1, 2, 3])},))"
    text = a.choice([
        "{x}[{y}]", "tg.index_select({x}, 0, ({y}).reshape(-1))", "F.embedding({y}, {x})", "{x}.take({y})",
        "tg.gather({x}, 0, ({y}).reshape(-1))", "tg.take_along_dim({x}, ({y}).reshape({r}), 0)", "{x}[..., {y}]",
        "F.one_hot({y}, 4).double()", "tg.zeros(4, dtype={x}.dtype).index_add(0, tg.arange({n}), {x})",
        "{x}.index_add(0, ({y}).reshape(-1)[:1], {x}[:1])", "{x}.scatter_add(0, ({y}).reshape({r})[:1], {x})",
        "{x}.index_fill(0, ({y}).reshape(-1), 0.5)", "tg.gather({x}, 0, ({y}).reshape({r}).expand(-1, *{x}.shape[1:]))",
        "{x}.scatter_reduce(0, ({y}).reshape({r})[:1], {x}[-1:], 'sum')", "{x}.put(({y}).reshape(-1)[:1], {x}.reshape(-1)[:1])",
        "{x}.scatter_reduce(0, ({y}).reshape({r})[:1], {x}[:1], 'amax', include_self=False)", "{x}.index_put(({y},), {x}[0])",
        "{x}.select_scatter({x}[0] * 0.5, 0, -1)", "{x}.slice_scatter({x}[:1], 0, -1)", "tg.isin({y}, tg.arange(2)).double()",
        "tg.searchsorted(tg.arange(3), {y}).double()", "{x}.scatter(0, ({y}).reshape({r})[:1], 0.25)", "{x}.index_copy(0, ({y}).reshape(-1)[:1], {x}[-1:])",
    ])  # fmt: skip
    ones = str((-1, *(1 for _ in a[x].shape[1:])))
    return text.replace("{x}", x).replace("{y}", y).replace("{r}", ones).replace("{n}", str(rows)), a.exact(x)


@writer(1)
def either(a: Author) -> Written:
    """One of two computations, without looking; its condition is asked of exact numbers."""
    x, y = a.pick(lambda t, m: m.exact and t.numel() > 0), a.floating()
    if x is None or y is None:
        return None
    return a.choice([
        f"tg.cond(({x}).sum() > 0, lambda p: p * 0.5, lambda p: p.tanh(), ({y},))",
        f"tg.cond(({x} != 0).all(), lambda: {y} * 2, lambda: {y} - {y}.sin())",
        f"tg.while_loop(lambda n, p: n < 2, lambda n, p: (n + 1, p.tanh()), (tg.tensor(0), {y}))[1]",
    ]), False  # fmt: skip


@writer(3)
def class_loss(a: Author) -> Written:
    x = a.pick(lambda t, m: t.is_floating_point() and t.ndim == 2 and min(t.shape) > 0)
    if x is None:
        return None
    rows, classes = a[x].shape
    y = a.pick(lambda t, m: m.exact and t.dtype is tg.int64 and tuple(t.shape) == (rows,))
    target = f"{y} % {classes}" if y else f"tg.randint(0, {classes}, ({rows},))"
    return a.choice(options(LOSSES)).replace("{x}", x).replace("{y}", target), False


@writer(4)
def chosen(a: Author) -> Written:
    """By a boolean tensor."""
    x = a.floating()
    if x is None:
        return None
    shape = a[x].shape
    mask = a.pick(lambda t, m: t.dtype is tg.bool_ and t.ndim <= len(shape) and all(
        s in (1, o) for s, o in zip(reversed(t.shape), reversed(shape), strict=False)))  # fmt: skip
    if mask is None:
        return None
    how = a.choice(["tg.where({m}, {x}, 0.5)", "{x}.masked_fill({m}, -0.25)", "tg.where({m}, {x}, -{x})",
                    "{x} * {m}", "tg.where({m}, {x}, tg.zeros_like({x}))"])  # fmt: skip
    return how.replace("{x}", x).replace("{m}", mask), a.exact(x)


@writer(1)
def drawn(a: Author) -> Written:
    """From weights that are tensors."""
    x = a.pick(lambda t, m: t.is_floating_point() and t.ndim in (1, 2) and m.exact and t.numel() > 0)
    if x is None:
        return None
    return a.choice([
        f"tg.multinomial({x} * {x} + 0.5, 2, replacement=True)", f"tg.bernoulli({x}.clamp(0, 1))",
        f"tg.multinomial({x} * {x} + 0.5, 1)", f"F.dropout({x}, 0.5)",
    ]), True  # fmt: skip


def expression(a: Author) -> Written:
    return a.rng.choices(WRITERS, WEIGHTS)[0](a)
