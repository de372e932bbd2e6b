"""Truth values, integers and numbers among arguments are taken as PyTorch's functions in C take them."""

import inspect
import json
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.nn import functional as F

SCALARS = json.loads((Path(__file__).parents[1] / "expected" / "scalar_parameters.json").read_text())
#: What is no value of a kind, although numpy or Python would take it for one.
WRONG = {
    "bool": [1, 0.0, None, np.bool_(True), "yes"],
    "int": [1.0, "1", None, True],
    "float": ["1", None, np.ones(2), [1.0]],
    "Number": ["1", None, np.ones(2), [1.0]],
}
#: Functions that look at other arguments first, or at all of them by themselves.
LATER = frozenset(
    "cat concat concatenate cumulative_trapezoid full_like isin linspace logspace lu_unpack polygamma "
    "special.polygamma stack Tensor.cauchy_ Tensor.exponential_ Tensor.geometric_ Tensor.index_add_ Tensor.log_normal_ "
    "Tensor.normal_ Tensor.requires_grad_ Tensor.uniform_ trapezoid trapz".split()
)
X = tg.ones(2, 2)


def cases():
    for path, scalars in SCALARS.items():
        function = attrgetter(path)(tg) if path not in LATER and _exists(path) else None
        parameters = inspect.signature(function).parameters if inspect.isfunction(function) else {}
        for name, kind in scalars.items():
            if name in parameters and (parameters[name].default is not None or kind == "bool"):
                yield pytest.param(function, name, kind, parameters[name], id=f"{path} {name}")


def _exists(path):
    try:
        attrgetter(path)(tg)
    except AttributeError:
        return False
    return True


CASES = list(cases())


def test_the_table_is_used():
    assert len(CASES) > 200


@pytest.mark.parametrize("function, name, kind, parameter", CASES)
def test_what_is_of_another_kind_is_refused(function, name, kind, parameter):
    for wrong in WRONG[kind]:
        if wrong is None and "None" in str(parameter.annotation):  # here None is what is not given
            continue
        wanted = "(float|Number)" if kind in ("float", "Number") else kind
        with pytest.raises(TypeError, match=f"argument '{name}'( .position .*)? must be {wanted}"):
            function(X, **{name: wrong})


#: Calls, and what they are the same as.
TAKEN = {
    "x.chunk(np.int64(2))": "x.chunk(2)",
    "x.chunk(tg.tensor(2))": "x.chunk(2)",
    "x.sum(np.int32(0))": "x.sum(0)",
    "x.unsqueeze(tg.tensor(0))": "x[None]",
    "tg.topk(x, tg.tensor([1]))": "tg.topk(x, 1)",
    "tg.topk(x, np.array(1))": "tg.topk(x, 1)",
    "x.narrow(0, np.array(0), 1)": "x[:1]",
    "tg.add(x, x, alpha=tg.tensor(2.0))": "x * 3",
    "tg.add(x, x, alpha=np.float32(2))": "x * 3",
    "tg.var_mean(x, correction=np.int64(0))": "tg.var_mean(x, correction=0)",
    "tg.addmm(x, x, x, beta=True)": "x + x @ x",
    "tg.div(x, 2, rounding_mode=b'floor')": "x // 2",
    "tg.linalg.matrix_power(x, np.int64(2))": "x @ x",
    "tg.arange(end=2)": "tg.arange(2)",
    "tg.max(x, other=x.T)": "tg.maximum(x, x.T)",
    "x.min(other=x.T)": "tg.minimum(x, x.T)",
    "tg.median(x, 0, out=(tg.empty(0), tg.empty(0, dtype=tg.int64)))": "x.median(0)",
    "tg.expand_copy(x, (2, 2, 2), out=tg.empty(0))": "x.expand(2, 2, 2)",
    "F.cross_entropy(x, tg.tensor([1, 0], dtype=tg.uint8))": "F.cross_entropy(x, tg.tensor([1, 0]))",
    "tg.softmax(x, 0, tg.float64)": "x.double().softmax(0)",
    "x.log_softmax(0, tg.float64)": "x.double().log_softmax(0)",
    "tg.squeeze(x[:1], np.int64(0))": "x[0]",
    "tg.linalg.vector_norm(x, np.int64(2), np.int64(0))": "tg.linalg.vector_norm(x, 2, 0)",
    "x.sort(stable=None)": "x.sort()",
    "tg.normal(x, np.float32(0))": "x",
    "tg.randint(high=1, size=(2,))": "tg.zeros(2, dtype=tg.int64)",
    "tg.randint_like(x, high=1, generator=None)": "tg.zeros(2, 2)",
    "tg.vsplit(x, sections=2)": "x.chunk(2)",
    "x.hsplit(indices=[1])": "x.chunk(2, 1)",
    "F.nll_loss(x[0], tg.tensor(1, dtype=tg.uint8))": "-x[0, 1]",
}


@pytest.mark.parametrize("call", TAKEN)
def test_what_pytorch_takes_is_taken(call):
    names = {"tg": tg, "np": np, "F": F, "x": tg.tensor([[1.0, 2.0], [3.0, 5.0]])}
    got, same = (eval(text, names) for text in (call, TAKEN[call]))
    several = isinstance(got, tuple)
    for a, b in zip(got if several else (got,), same if several else (same,), strict=True):
        assert a.dtype is b.dtype and a.shape == b.shape and tg.allclose(a, b)


def test_a_number_that_asks_for_gradients_is_no_number():
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        tg.add(X, X, alpha=tg.tensor(2.0, requires_grad=True))


def test_nothing_to_count_up_is_an_error():
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        tg.arange()


RESULTS = {
    "cumprod over one": lambda x: x.cumprod(0),
    "cumsum over one": lambda x: x.cumsum(0),
    "cummax over one": lambda x: x.cummax(0).values,
    "logcumsumexp over one": lambda x: x.logcumsumexp(0),
    "interpolate by one": lambda x: F.interpolate(x, scale_factor=1),
    "interpolate to the same size": lambda x: F.interpolate(x, size=3, mode="linear"),
    "roll by nothing": lambda x: x.roll(0, 0),
    "flip one": lambda x: x.flip(0),
    "pad by something": lambda x: F.pad(x, (1, 0)),
    "repeat once": lambda x: x.repeat(1, 1, 1),
}


@pytest.mark.parametrize("of", RESULTS)
def test_results_have_memory_of_their_own_where_nothing_changes(of):
    x = tg.ones(1, 1, 3)
    RESULTS[of](x).zero_()
    assert x.tolist() == [[[1.0, 1.0, 1.0]]]


def test_a_view_that_asks_for_gradients_gets_those_of_its_strided_views():
    x = tg.arange(20.0)[4:14].requires_grad_()
    y = x.as_strided((2, 2), (1, 2), 5)
    y.sum().backward()
    assert y.tolist() == [[5.0, 7.0], [6.0, 8.0]]
    assert x.grad.tolist() == [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
