"""PyTorch's conventions of calling hold for every public function: names, old overloads, ``out=``, aliases."""

import functools
import inspect
import warnings
from types import FunctionType

import pytest

import tracegrad
from tracegrad.tensors.calling import conventions
from tracegrad.tensors.calling import out as outs


def call(tg, text):
    """The value of an expression, or the name of its exception's class."""
    x, y, m = tg.tensor([1.0, 2.0]), tg.tensor([3.0, 5.0]), tg.tensor([[1.0, 2.0], [3.0, 4.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(text, {"tg": tg, "x": x, "y": y, "m": m, "F": tg.nn.functional})
        except Exception as error:
            return type(error).__name__
    return [v.tolist() for v in value] if isinstance(value, tuple) else value.tolist()


SPELLINGS = {
    "tg.exp(input=x)": "tg.exp(x)",
    "tg.exp(x=x)": "tg.exp(x)",
    "tg.exp(a=x)": "tg.exp(x)",
    "tg.exp(x1=x)": "tg.exp(x)",
    "tg.floor(input=x)": "tg.floor(x)",
    "tg.eq(input=x, other=y)": "tg.eq(x, y)",
    "tg.eq(x, other=y)": "tg.eq(x, y)",
    "tg.add(x1=x, x2=y)": "x + y",
    "tg.add(x, x2=y, alpha=2)": "x + 2 * y",
    "x.mul(x2=y)": "x * y",
    "x.mul(other=y)": "x * y",
    "tg.maximum(input=x, other=y)": "tg.maximum(x, y)",
    "tg.sum(m, axis=0)": "m.sum(0)",
    "m.sum(axis=0, keepdims=True)": "m.sum(0, True)",
    "tg.mean(x=m, axis=1)": "m.mean(1)",
    "tg.std(m, axis=0, keepdims=True)": "tg.std(m, 0, keepdim=True)",
    "tg.stack([x, y], axis=1)": "tg.stack([x, y], 1)",
    "tg.cat([x, y], axis=0)": "tg.cat([x, y])",
    "tg.cumsum(m, axis=1)": "m.cumsum(1)",
    "m.cumsum_(axis=1)": "m.cumsum(1)",
    "tg.softmax(m, axis=0)": "m.softmax(0)",
    "tg.logsumexp(m, axis=(0, 1))": "m.logsumexp((0, 1))",
    "tg.max(m, axis=1)": "m.max(1)",
    "tg.unsqueeze(x, axis=0)": "x[None]",
    "F.gelu(x=x)": "F.gelu(x)",
    "tg.split(tensor=m, split_size_or_sections=1)": "tg.split(m, 1)",
    "m.split(split_size=1)": "m.split(1)",
    "tg.swapaxes(m, axis0=0, axis1=1)": "m.T",
    "m.swapaxes(axis0=0, axis1=1)": "m.T",
    "x.view(size=(2, 1))": "x.view(2, 1)",
    "x.expand(size=(2, 2))": "x.expand(2, 2)",
    "m.permute(dims=(1, 0))": "m.T",
    "x.reshape(shape=(2, 1))": "x.view(2, 1)",
    "x.repeat(repeats=(2,))": "x.repeat(2)",
    "tg.add(x, 2, y)": "x + 2 * y",
    "x.add(2, y)": "x + 2 * y",
    "x.clone().add_(2, y)": "x + 2 * y",
    "tg.sub(x, 2, y)": "x - 2 * y",
    "tg.addcmul(x, 2, y, y)": "x + 2 * y * y",
    "x.clone().addcdiv_(2, y, y)": "x + 2.0",
    "tg.addmm(2, m, 3, m, m)": "2 * m + 3 * (m @ m)",
    "tg.addmm(2, m, m, m)": "2 * m + m @ m",
    "m.addmm(2, 3, m, m)": "2 * m + 3 * (m @ m)",
    "tg.addmv(2, x, 3, m, y)": "2 * x + 3 * (m @ y)",
    "tg.baddbmm(2, m[None], 3, m[None], m[None])": "(2 * m + 3 * (m @ m))[None]",
    "tg.arccosh(x)": "tg.acosh(x)",
    "tg.arcsinh(x)": "tg.asinh(x)",
    "tg.fix(x)": "tg.trunc(x)",
    "tg.swapdims(m, 0, 1)": "m.T",
    "x.arctan2(y)": "x.atan2(y)",
    "x.greater_equal(y)": "x >= y",
    "x.less_equal_(y)": "(x <= y).to(x.dtype)",
    "x.not_equal(y)": "x != y",
    "m.swapaxes_(0, 1)": "m.T",
    "tg.exp_(x)": "x.exp()",
    "tg.relu_(input=x)": "x.relu()",
    "tg.clamp_(x, min=1.5)": "x.clamp(min=1.5)",
}
REFUSED = [
    "tg.exp(self=x)", "tg.exp(x, foo=1)", "tg.exp()", "tg.add(x, y, foo=5)", "x.add(y, out=x)", "x.exp(input=x)",
    "F.softmax(x, axis=0)", "F.softmax(x, 0, out=x)", "tg.norm(x, axis=0)", "tg.transpose(m, axis0=0, axis1=1)",
    "tg.where(m > 0, x=m, y=m)", "tg.sum(x, dim=0, axis=0)", "tg.add(x, y, x2=y)", "tg.split(m, split_size=1)",
    "tg.max(m, 1, out=x)", "tg.flip(x, axis=0)", "tg.addmm(m, 2, m, m)", "tg.relu(x, out=x)", "tg.isnan(x, out=x)",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_other_spellings_mean_the_same(tg, spelling):
    value = call(tg, spelling)
    assert not isinstance(value, str) and value == call(tg, SPELLINGS[spelling])


@pytest.mark.parametrize("text", REFUSED)
def test_what_pytorch_refuses_is_a_type_error(tg, text):
    assert call(tg, text) == "TypeError"


OUT = [
    "tg.add(x, y, out=tg.empty(2))",
    "tg.add(x, y, out=tg.empty(0))",
    "tg.add(x, y, out=tg.empty(3))",
    "tg.add(x, y, out=tg.empty(0, dtype=tg.float64))",
    "tg.add(x, y, out=x)",
    "tg.add(x, y, out=tg.empty(2, 2).t()[0])",
    "tg.exp(x * 0, out=tg.empty(3)[::2])",
    "tg.add(x, y, out=None)",
    "tg.sum(m, 1, out=tg.empty(2, dtype=tg.float64))",
    "tg.sum(m, 1, out=tg.empty(2, dtype=tg.int64))",
    "tg.cat([x, y], out=tg.empty(0, dtype=tg.float64))",
    "tg.max(m, 1, out=(tg.empty(2), tg.empty(2, dtype=tg.int64)))",
    "tg.max(m, 1, out=[tg.empty(2), tg.empty(2, dtype=tg.int64)])",
    "tg.sort(x, out=(tg.empty(0), tg.empty(0, dtype=tg.int64)))",
    "tg.zeros(2, out=tg.ones(2, dtype=tg.int64))",
    "tg.arange(3, out=tg.empty(0, dtype=tg.float64))",
    "tg.eye(2, out=tg.empty(0, dtype=tg.float64))",
    "tg.matmul(m, m, out=tg.empty(2, 2))",
    "tg.eq(x, y, out=tg.empty(2, dtype=tg.bool))",
    "tg.eq(x.requires_grad_(), y, out=tg.empty(2, dtype=tg.bool))",
    "F.linear(x, m, out=tg.empty(0))",
    "tg.linalg.norm(x * 0, out=tg.empty(0))",
    "tg.add(x, y, out=tg.empty(2, dtype=tg.int64))",
    "tg.mm(m, m, out=tg.empty(2, 2, dtype=tg.float64))",
    "tg.gather(m, 0, m.long() * 0, out=tg.empty(2, 2, dtype=tg.float64))",
    "tg.add(x.requires_grad_(), y, out=tg.empty(2))",
    "tg.add(x, y, out=tg.empty(2, requires_grad=True))",
    "tg.zeros(2, out=tg.empty(2, dtype=tg.int64), dtype=tg.float32)",
    "tg.exp(x, out=tg.empty(1).expand(2))",
    "tg.mul(x, 2, out=x[:1])",
]
#: What PyTorch 2.13 gives: numbers, or the class of its exception.
PYTORCH = [
    [4.0, 7.0], [4.0, 7.0], [4.0, 7.0], [4.0, 7.0], [4.0, 7.0], [4.0, 7.0], [1.0, 1.0],
    [4.0, 7.0], [3.0, 7.0], [3, 7], [1.0, 2.0, 3.0, 5.0], [[2.0, 4.0], [1, 1]], [[2.0, 4.0], [1, 1]],
    [[1.0, 2.0], [0, 1]], [0, 0], [0.0, 1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], [[7.0, 10.0], [15.0, 22.0]],
    [False, False], [False, False], [5.0, 11.0], 0.0, *["RuntimeError"] * 8,
]  # fmt: skip


@pytest.mark.parametrize("text, expected", list(zip(OUT, PYTORCH, strict=True)))
def test_out(tg, text, expected):
    value = call(tg, text)
    assert value == expected


def test_out_is_the_object_given_and_a_refusal_writes_nothing(tg):
    x, place = tg.tensor([1.0, 2.0]), tg.zeros(2, dtype=tg.int64)
    values, indices = tg.empty(()), tg.empty((), dtype=tg.int64)
    found = tg.max(x, 0, out=(values, indices))
    assert found[0] is values and found.indices is indices and values.item() == 2.0
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        tg.exp(x, out=place)
    assert place.tolist() == [0, 0]
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        tg.cat([x, x], out=place.double()[:1].clone())
    with pytest.raises(RuntimeError, match=r"add\(\): functions with out=... arguments don't support automatic"):
        tg.add(x.clone().requires_grad_(), x, out=x)


def test_out_counts_as_a_write(tg):
    w = tg.ones(2, requires_grad=True)
    place = tg.ones(2)
    product = w * place
    tg.exp(tg.zeros(2), out=place)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


@pytest.mark.parametrize("start", [(2, 2), (0,), (3,)])
def test_out_in_compiled_functions(start):
    tg = tracegrad

    def step(x, place):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = tg.add(x, 1, out=tg.empty(0))
            found = tg.mul(mine, x, out=place)
            best = tg.max(x, 1, out=(tg.empty(2), tg.empty(2, dtype=tg.int64)))
        return found.sum(), mine, best.values, found is place

    compiled = tg.compile(step)
    for call_number in range(5):
        x = tg.tensor([[1.0, 2.0], [3.0, 4.0]]) * (call_number + 1)
        places = tg.zeros(start), tg.zeros(start)
        expected, got = step(x, places[0]), compiled(x, places[1])
        assert [v.tolist() for v in got[:3]] == [v.tolist() for v in expected[:3]] and got[3] is True
        assert places[0].tolist() == places[1].tolist() == (x * (x + 1)).tolist()


def test_every_public_function_of_that_name_takes_out():
    missing = []
    for path in sorted(outs.TAKES_OUT):
        *within, name = path.split(".")
        module = tracegrad
        for part in within:
            module = getattr(module, part)
        function = getattr(module, name, None)
        if isinstance(function, FunctionType):
            try:
                function(out=tracegrad.empty(0))
            except Exception as refused:
                if "'out'" in str(refused):
                    missing.append(path)
    assert missing == []


def test_the_tables_name_what_there_is():
    public = {name for name in dir(tracegrad) if isinstance(getattr(tracegrad, name), FunctionType)}
    assert set(conventions.OLD_OVERLOADS) - {"addr", "addbmm"} <= public
    for path, names in conventions.OTHER_NAMES.items():
        function = functools.reduce(getattr, path.split("."), tracegrad)
        known = set(inspect.signature(function).parameters)
        for name in names.values():
            assert {name} <= known if isinstance(name, str) else set(name) <= known, path
