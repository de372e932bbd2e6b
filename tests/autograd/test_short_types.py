"""Operations on types of 8 and 16 bits against stored results of PyTorch (expected/short_types.py), and compiled."""

import json
import warnings

import numpy as np
import pytest
from expected.compare import STORE
from expected.short_types import DTYPES, draws, gradient, operands, outcome

TABLE = json.loads((STORE / "short_types.json").read_text(encoding="utf-8"))
FLOATS = ("float16", "bfloat16")
#: The spacing of numbers from 1 on.
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
#: A result that is rounded once may come out on the other side of a tie: one place; float32 results of functions may
#: be some places apart. These PyTorch rounds several times, its numbers are right to places of the largest one only.
SEVERAL = {
    "F.normalize(x)": 3,
    "x.log_softmax(1)": 1,
    # PyTorch's product is rounded, too, in rows as short as these; in vectors it is not, and never here.
    "x.sub(y, alpha=3)": 1,
}


#: How many elements there are is looked at; values beside the indices are not used.
NOT_REPLAYED = ("x[m]", "x.masked_select(m)", "x.max(1).indices")


def is_close(name, found, expected, several=0):
    """Whether numbers are equal, or floats close."""
    found, expected = np.array(found, np.float64), np.array(expected, np.float64)
    if found.shape != expected.shape:
        return False
    if name not in EPSILON:
        return bool(np.array_equal(found, expected))
    size = np.maximum(np.abs(expected), 2.0**-14) if not several else np.abs(expected).max()
    places = several or (1 if EPSILON[name] > 2.0**-20 else 8)
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= places * EPSILON[name] * size
    return bool(np.all(near | (found == expected) | (np.isnan(found) & np.isnan(expected))))


def differs(found, expected, several):
    if found[0] != expected[0]:
        return True
    if isinstance(expected[1], str):
        return found[1] != expected[1]
    return not is_close(found[0], found[1], expected[1], several)


@pytest.mark.parametrize("dtype", DTYPES)
def test_results(tg, dtype):
    table = TABLE["results"][dtype]
    assert len(table) > 180
    found = {e: outcome(tg, e, operands(tg, dtype)) for e in table}
    wrong = {e: (found[e], table[e]) for e in table if differs(found[e], table[e], SEVERAL.get(e, 0))}
    assert wrong == {}


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_numbers(tg, dtype):
    table = TABLE["draws"][dtype]
    found = draws(tg, dtype)
    assert found.keys() == table.keys() and len(table) >= 6
    assert {e: (found[e], table[e]) for e in table if differs(found[e], table[e], 0)} == {}


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients(tg, dtype):
    """Within three roundings of numbers around 1 (or the largest): PyTorch rounds between the steps of a backward pass,
    too, but not at the same places, and subtracts what is rounded."""
    table = TABLE["gradients"][dtype]
    assert len(table) > 20
    wrong = {}
    for expression, (name, expected) in table.items():
        found = gradient(tg, expression, dtype)
        largest = max(np.abs(np.array(expected)).max(), 1.0)
        error = np.abs(np.array(found[1]) - np.array(expected)).max()
        if found[0] != name or not error <= 3 * EPSILON[name] * largest:
            wrong[expression] = (found, expected)
    assert wrong == {}


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("dtype", DTYPES)
def test_compiled_is_eager(tg, dtype):
    """All expressions in one program, called with other numbers after it was made."""
    known = operands(tg, dtype)
    computed = [
        e
        for e, (name, value) in TABLE["results"][dtype].items()
        if name != "raised" and not isinstance(value, str) and e not in NOT_REPLAYED
    ]
    assert len(computed) > 130
    m, i = known["m"], known["i"]

    def run(x, y):
        names = {"x": x, "y": y, "m": m, "i": i, "tg": tg, "F": tg.nn.functional}
        return [eval(expression, names) for expression in computed]

    source = "def run(x, y):\n    return [" + ", ".join(computed) + "]\n"
    space = {"tg": tg, "F": tg.nn.functional, "m": m, "i": i}
    exec(compile(source, f"<{dtype}>", "exec"), space)
    step = tg.compile(space["run"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shift in range(4):
            x, y = known["x"].roll(shift, 1), known["y"].roll(shift, 0)
            for expression, found, expected in zip(computed, step(x, y), run(x, y), strict=True):
                assert found.dtype is expected.dtype, expression
                values = found.tolist(), expected.tolist()
                assert is_close(found.dtype.name, *values), (expression, shift, found, expected)
    assert step.way == "replay"


#: Forms with a number, and what they are in float32 before they are rounded, as PyTorch's kernels have it.
WITH_NUMBERS = {
    "x * 0.1": lambda x: x * np.float32(0.1),
    "0.1 * x": lambda x: x * np.float32(0.1),
    "x * 100000": lambda x: x * np.float32(1e5),
    "x / 0.3": lambda x: x / np.float32(0.3),
    "x / 1e5": lambda x: x / np.float32(1e5),
    "x * tg.tensor(0.1)": lambda x: x * np.float32(0.1),
    "x * tg.tensor(3)": lambda x: x * np.float32(3),
    "x.clone().mul_(1e5)": lambda x: x * np.float32(1e5),
    "x.clone().div_(0.3)": lambda x: x / np.float32(0.3),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("form", WITH_NUMBERS)
def test_factors_keep_the_digits_and_the_range_of_float32(tg, form, dtype):
    values = tg.linspace(-0.6, 0.6, 41).to(getattr(tg, dtype))
    wide = np.array(values.float().tolist(), np.float32)
    expected = tg.tensor(WITH_NUMBERS[form](wide)).to(values.dtype).tolist()
    step = tg.compile(lambda x: eval(form, {"tg": tg, "x": x}))
    assert [eval(form, {"tg": tg, "x": values}).tolist(), *(step(values).tolist() for _ in range(3))] == [expected] * 4
    x = values.clone().requires_grad_()
    eval(form, {"tg": tg, "x": x}).sum().backward()  # the same factor beside the gradient, which is one
    one = WITH_NUMBERS[form](np.float32(1))
    assert x.grad.tolist() == tg.full_like(values, 0).float().add(float(one)).to(values.dtype).tolist()


def _rounded(tg, values, dtype):
    return np.array(tg.tensor(np.asarray(values, np.float32)).to(dtype).float().tolist(), np.float32)


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("form", ["x.add(y, alpha=0.3)", "x.sub(y, alpha=0.3)", "tg.rsub(y, x, alpha=0.3)"])
def test_sums_with_a_factor_are_rounded_once(tg, form, dtype):
    """The factor and numbers are operands of 16 bits; the product is not rounded (PyTorch's vectors)."""
    of = getattr(tg, dtype)
    x, y = tg.linspace(-3, 3, 301).to(of), tg.linspace(-2, 3, 301).to(of)
    sign = 1 if "add" in form else -1
    factor = sign * _rounded(tg, [0.3], of)
    step = tg.compile(lambda x, y: eval(form, {"tg": tg, "x": x, "y": y}))
    for other in (y, 1.7, tg.tensor(1.7)):
        beside = _rounded(tg, other.tolist() if isinstance(other, tg.Tensor) else other, of)
        if form.startswith("tg.rsub") and other is not y:
            continue
        expected = _rounded(tg, _rounded(tg, x.tolist(), of) + factor * beside, of)
        for run in (lambda x, y: eval(form, {"tg": tg, "x": x, "y": y}), step, step):
            assert np.array_equal(np.array(run(x, other).tolist(), np.float32), expected)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("dtype", FLOATS)
def test_rounded_quotients_by_one_number(tg, dtype):
    """Rounded down the divisor has float32's digits; rounded towards 0 the quotient keeps them, unless each element
    has a divisor of its own (PyTorch)."""
    of = getattr(tg, dtype)
    x = tg.linspace(-3, 3, 1000).to(of)
    wide, divisor = _rounded(tg, x.tolist(), of), np.float32(0.3)
    short = _rounded(tg, [0.3], of)
    for form, expected in {
        "x // 0.3": np.floor_divide(wide, divisor),
        "x // tg.tensor(0.3)": np.floor_divide(wide, divisor),
        "x // tg.tensor(0.3).to(x.dtype)": np.floor_divide(wide, short),
        "x.div(0.3, rounding_mode='floor')": np.floor_divide(wide, divisor),
        "x.div(0.3, rounding_mode='trunc')": np.trunc(wide / divisor),
        "x.div(tg.tensor(0.3).to(x.dtype), rounding_mode='trunc')": np.trunc(wide / short),
        "x.div(tg.full_like(x, 0.3), rounding_mode='trunc')": np.trunc(_rounded(tg, wide / short, of)),
        "x % 0.3": np.mod(wide, short),
    }.items():
        step = tg.compile(lambda x, form=form: eval(form, {"tg": tg, "x": x}))
        expected = _rounded(tg, expected, of)
        for run in (lambda x, form=form: eval(form, {"tg": tg, "x": x}), step, step):
            assert np.array_equal(np.array(run(x).tolist(), np.float32), expected), form


#: What stores or compares a number in the tensor's type, which has to hold it.
STORED = """
x.clone().fill_(V) | tg.full((2,), V, dtype=x.dtype) | tg.full_like(x, V) | x.new_full((2,), V) | x.clamp(-V, V)
x.clamp(max=V) | x.clamp_min(V) | x.masked_fill(x > 1, V) | x.clone().masked_fill_(x > 1, V)
x.index_fill(0, tg.tensor([0]), V) | F.pad(x, (1, 1), value=V) | x.scatter(0, tg.tensor([0]), V)
tg.nn.init.constant_(x.clone(), V) | x.expand(2, 2).clone().fill_diagonal_(V) | tg.add(x, x, alpha=V)
F.threshold(x, V, 0.0) | F.threshold(x, 0.0, V) | F.hardshrink(x, V)
"""
#: The same where what is too large is infinite.
INFINITE = (
    "assigned(x, 0, V) | assigned(x, x > 1, V) | assigned(x, slice(None), V) | tg.where(x > 1, x, V) | x + V | x * V"
)
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}


def _assigned(x, key, value):
    x = x.clone()
    x[key] = value
    return x


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers_beyond_the_type(tg, dtype):
    """PyTorch: "value cannot be converted to type c10::Half without overflow", or infinity, form by form."""
    names = {
        "tg": tg,
        "F": tg.nn.functional,
        "x": tg.tensor([1.0, 2.0], dtype=getattr(tg, dtype)),
        "assigned": _assigned,
    }
    for form in [part.strip() for line in STORED.strip().splitlines() for part in line.split("|")]:
        for number in (LARGEST[dtype] * 1.01, -1e39):
            with pytest.raises(RuntimeError, match="without overflow"):
                eval(form, {**names, "V": number})
        for number in (LARGEST[dtype], float("inf")):
            eval(form, {**names, "V": number})
    for form in INFINITE.split(" | "):
        assert float("inf") in eval(form, {**names, "V": LARGEST[dtype] * 1.01}).tolist(), form


#: Products and quotients with numbers are one operation in PyTorch's graph, for short types too.
NAMED = {
    "x * 2": "MulBackward0", "2.5 * x": "MulBackward0", "x / 3": "DivBackward0", "x * tg.tensor(2.0)": "MulBackward0",
    "x.clone().mul_(2)": "MulBackward0", "x.clone().div_(2)": "DivBackward0", "x.add(x, alpha=2)": "AddBackward0",
    "x.sub(x, alpha=2)": "SubBackward0", "x // 0.3": "NotImplemented",
    "x.div(0.3, rounding_mode='floor')": "DivBackward2",
    "x.div(0.3, rounding_mode='trunc')": "DivBackward2",
}  # fmt: skip


@pytest.mark.parametrize("dtype", [*FLOATS, "float32"])
@pytest.mark.parametrize("form", NAMED)
def test_names_of_products_with_numbers(tg, form, dtype):
    x = tg.ones(3, dtype=getattr(tg, dtype), requires_grad=True)
    node = eval(form, {"tg": tg, "x": x}).grad_fn
    assert type(node).__name__ == NAMED[form]
    operands = [type(next_node).__name__ for next_node, _ in node.next_functions if next_node is not None]
    assert set(operands) <= {"AccumulateGrad", "CloneBackward0"} and operands


#: Functions of several ops that are computed in float32, whose result alone is rounded.
ONE_KERNEL = """
F.group_norm(a, 2, u, u) | tg.logcumsumexp(x, 1) | F.bilinear(x, x, w, u)
F.embedding_bag(i, x, mode="sum", per_sample_weights=p)
"""


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "form", [part.strip() for line in ONE_KERNEL.strip().splitlines() for part in line.split(" | ")]
)
def test_results_are_rounded_once(tg, form, dtype):
    tg.manual_seed(0)
    shapes = {"x": (5, 6), "a": (3, 6, 4), "u": (6,), "w": (6, 6, 6), "p": (2, 3)}
    known = {name: tg.randn(*shape).to(getattr(tg, dtype)) for name, shape in shapes.items()}
    names = {"tg": tg, "F": tg.nn.functional, "i": tg.tensor([[0, 2, 1], [3, 3, 4]])}
    wide = eval(form, {**names, **{name: value.float() for name, value in known.items()}})
    found = eval(form, {**names, **known})
    assert found.dtype is known["x"].dtype
    assert found.tolist() == wide.to(found.dtype).tolist()


#: Functions that are several kernels in PyTorch: what each gives is rounded, but for what a fold adds up.
SEVERAL_KERNELS = {
    "F.softsign(x)": "x / (1 + x.abs())",
    "F.tanhshrink(x)": "x - x.tanh()",
    "F.binary_cross_entropy(p, q, reduction='none')": "(q - 1) * (-p).log1p() - q * p.log()",
    "F.binary_cross_entropy(p, q)": "((q - 1) * (-p).log1p() - q * p.log()).mean()",
    "F.poisson_nll_loss(x, q)": "(x.exp() - q * x).mean()",
    "F.margin_ranking_loss(x, p, q)": "(-q * (x - p)).clamp(0).mean()",
    "F.l1_loss(x, p)": "(x - p).abs().mean()",
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("form", SEVERAL_KERNELS)
def test_results_are_rounded_at_each_kernel(tg, form, dtype):
    tg.manual_seed(0)
    known = {"x": tg.randn(40), "p": tg.rand(40) * 0.9 + 0.05, "q": tg.rand(40)}
    names = {"F": tg.nn.functional, **{name: value.to(getattr(tg, dtype)) for name, value in known.items()}}
    assert eval(form, names).tolist() == eval(SEVERAL_KERNELS[form], names).tolist()
