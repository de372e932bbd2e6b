"""Samples of each operator of PyTorch's operator database, in each of six dtypes that it has and one other, without
PyTorch: values, dtypes and shapes; in usual floating types also compiled. The database itself is asked in
database/test_database.py, where PyTorch is installed."""

import functools
import json
import warnings

import numpy as np
import pytest
from expected import database_samples as cases
from expected.compare import load

#: Relative to the largest number; as in database/comparison.py. Other types are exact.
TOLERANCE = {
    "float16": 1e-3,
    "bfloat16": 1.6e-2,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float64": 1e-9,
    "complex128": 1e-9,
}
STORED = load("database_samples")
CALLS = json.loads(STORED["calls"].tobytes())
DATA = STORED["numbers"].tobytes()


def tensors_in(value, kind):
    if isinstance(value, kind):
        return [value]
    return [x for item in value for x in tensors_in(item, kind)] if isinstance(value, (list, tuple)) else []


def called(tg, key):
    """The function, its arguments and keywords, and PyTorch's results."""
    path, args, kwargs, answers = CALLS[key]
    function = functools.reduce(getattr, path.split(".")[1:], tg)
    keywords = {name: cases.read(x, DATA, tg) for name, x in kwargs.items()}
    return function, cases.read(args, DATA, tg), keywords, cases.read(answers, DATA, tg)


def assert_like(got, expected):
    name = str(expected.dtype).rpartition(".")[2]
    assert str(got.dtype) == str(expected.dtype) and tuple(got.shape) == tuple(expected.shape)
    both = (got.detach().resolve_conj(), expected.detach().resolve_conj())
    own, theirs = (x.float().numpy() if name == "bfloat16" else x.numpy() for x in both)
    bound = TOLERANCE.get(name, 0)
    finite = np.abs(theirs[np.isfinite(theirs)])
    np.testing.assert_allclose(own, theirs, rtol=bound, atol=bound * float(finite.max(initial=0)) + bound / 100)


@pytest.mark.parametrize("key", CALLS)
def test_samples(tg, key):
    function, args, keywords, answers = called(tg, key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tensors_in(function(*args, **keywords), tg.Tensor)
    assert len(found) == len(answers)
    for got, expected in zip(found, answers, strict=True):
        assert_like(got, expected)


def test_nearly_all_operators_have_one():
    names = {key.partition("|")[0] for key in CALLS}
    dtypes = {key.partition("|")[2] for key in CALLS}
    assert len(names) > 450 and dtypes == set(cases.DTYPES) and len(CALLS) > 2500
    assert all(sum(key.endswith(f"|{dtype}") for key in CALLS) > 200 for dtype in cases.EACH)


#: Types in which a compiled function computes by itself; in others it runs Python, which is what `test_samples` asks.
COMPILED = ("float32", "float64")
FLOATING = [key for key in CALLS if key.endswith(COMPILED)]


@pytest.mark.long(every=13)
@pytest.mark.parametrize("key", FLOATING)
def test_samples_compiled(tg, key):
    function, args, keywords, answers = called(tg, key)
    step = tg.compile(lambda: function(*args, **keywords))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            tg.manual_seed(0)
            found = tensors_in(step(), tg.Tensor)
            for got, expected in zip(found, answers, strict=True):
                assert_like(got, expected)
