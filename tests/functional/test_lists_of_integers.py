"""Lists of sizes, axes and distances: what PyTorch's C takes for one, asked of all functions that have one."""

import inspect

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.nn import functional as F
from tracegrad.tensors.calling.conventions import Conventions
from tracegrad.tensors.calling.scalars import Integers, scalars_of

X = tg.ones(2, 2)
#: What is no list, or holds what is no integer.
WRONG = {
    "a truth value first": (True,),
    "numpy's truth value first": (np.bool_(True),),
    "a float": (1.0,),
    "a float behind": (1, 1.0),
    "numpy's float": (np.float64(1),),
    "a float tensor": [tg.tensor(1.0)],
    "None": [1, None],
    "lists": [[1, 1]],
    "an array": np.array([1, 1]),
    "an array of floats": np.array([1.0]),
    "a range": range(2),
    "a set": {0, 1},
    "a tensor": tg.tensor([0, 1]),
    "a text": "a",
    "a float alone": 1.0,
    "a generator": (n for n in (0, 1)),
}
#: Functions that look at other arguments first, or have a class's method of the same parameters.
LATER = {"histogramdd", "Tensor.set_", "randint", "normal", "sparse_coo_tensor"}
PLACES = {"": tg, "Tensor": tg.Tensor, "nn.functional": F, "linalg": tg.linalg, "fft": tg.fft, "special": tg.special}


def parameters():
    """(path, function, parameter) for each list of integers of each public function that PyTorch has in C."""
    for place, module in PLACES.items():
        for name, function in sorted(vars(module).items()):
            path = f"{place}.{name}".lstrip(".")
            if name.startswith("_") or not inspect.isfunction(function) or path in LATER:
                continue
            own = inspect.signature(function).parameters
            conventions = Conventions(function, path, own.values())
            if conventions.in_c or conventions.lists_in_c:
                yield from ((path, function, n) for n, s in scalars_of(own).items() if isinstance(s, Integers))


CASES = list(parameters())


def test_most_functions_are_asked():
    assert len(CASES) > 150
    assert {"sum dim", "roll shifts", "nn.functional.conv2d stride", "fft.fftn s", "linalg.norm dim", "full size"} <= {
        f"{path} {name}" for path, _, name in CASES
    }


@pytest.mark.parametrize("function, name", [pytest.param(f, n, id=f"{path} {n}") for path, f, n in CASES])
def test_what_is_no_list_of_integers_is_refused(function, name):
    first = next(iter(inspect.signature(function).parameters))
    for wrong in WRONG.values():
        with pytest.raises(TypeError, match=rf"argument '{name}'.* (must|type must) be tuple of ints"):
            function(X if first != "size" or name == first else (2, 2), **{name: wrong})


@pytest.mark.parametrize("call, same", [
    ("X.sum((0, True))", "X.sum((0, 1))"),
    ("X.amax((0, True))", "X.amax((0, 1))"),
    ("X.var((0, True))", "X.var((0, 1))"),
    ("X.var(False)", "X.var(unbiased=False)"),
    ("X.amin(None)", "X.amin()"),
    ("X.sum([np.int64(0), tg.tensor(1)])", "X.sum()"),
    ("X.sum(np.int64(0))", "X.sum(0)"),
    ("X.roll([np.int32(1)], (np.array(0),))", "X.roll(1, 0)"),
    ("X.flip((0, True))", "X.flip(0, 1)"),
    ("tg.zeros((2, True))", "tg.zeros(2, 1)"),
    ("X.reshape((4, True))", "X.reshape(4, 1)"),
    ("F.max_pool2d(X[None], (1, True))", "X[None]"),
    ("F.pad(X, [np.int64(1), 0])", "F.pad(X, (1, 0))"),
    ("tg.fft.fftn(X, s=(2, True))", "tg.fft.fftn(X, s=(2, 1))"),
    ("X.sum(X.shape[2:])", "X.sum()"),
    ("X.split([1, True])[0]", "X[:1]"),
])  # fmt: skip
def test_what_pytorch_takes_for_a_list_of_integers_is_taken(call, same):
    got, expected = (
        eval(text, {"X": tg.tensor([[1.0, 2.0], [3.0, 5.0]]), "tg": tg, "F": F, "np": np}) for text in (call, same)
    )
    assert got.shape == expected.shape and tg.equal(got, expected)


def gathering():
    """Functions of a tensor and integers one by one as methods, of one list as functions."""
    for name, function in sorted(vars(tg).items()):
        if not inspect.isfunction(function) or name.startswith("_"):
            continue
        own = inspect.signature(function).parameters.values()
        integers = [p for p in own if p.kind is p.VAR_POSITIONAL and p.annotation == "int | Sequence[int]"]
        if integers and "input" in inspect.signature(function).parameters:
            yield name


def test_functions_of_one_list_are_found():
    assert {"broadcast_to", "expand_copy", "flip", "permute", "permute_copy", "reshape", "tile"} <= {*gathering()}


@pytest.mark.parametrize("name", gathering())
def test_a_list_stands_in_one_argument(name):
    x, method = tg.ones(1, 1), getattr(tg.Tensor, name, None)
    if name not in ("permute", "permute_copy", "flip"):  # whose integers are axes
        assert getattr(tg, name)(x, (1, 1)).shape == getattr(tg, name)(x, [np.int64(1), tg.tensor(1)]).shape == (1, 1)
        assert method is None or method(x, 1, 1).shape == (1, 1)
    wrong = [(1, 1), (0,), (np.int64(0),), (tg.tensor(0),), (tg.tensor([0, 0]),), (np.array([0, 0]),), (True,), (None,)]
    for given in [*wrong, ("a",), (1.0,), ((0.0,),), ((True, 0),), (range(2),), ([0], [0])]:
        with pytest.raises(TypeError, match=name):
            getattr(tg, name)(x, *given)


@pytest.mark.parametrize("call", [
    "tg.zeros({})", "tg.rand({})", "X.reshape(4, {})", "X.view({})", "X.expand(2, {})", "X.repeat(1, {})", "X.tile({})",
    "X.new_ones({})", "X.sum_to_size({})", "tg.empty(2, {})",
])  # fmt: skip
def test_truth_values_in_tensors_are_no_sizes(call):
    with pytest.raises(RuntimeError, match="integers"):
        eval(call.format("tg.tensor(True)"), {"tg": tg, "X": X})


@pytest.mark.parametrize("call", [
    "X.narrow(0, True, 1)", "X.narrow(0, 1.0, 1)", "X.tensor_split(True)", "X.softmax(0, 'a')", "X.log_softmax(0, 1.0)",
    "tg.broadcast_shapes((1.0,))",
])  # fmt: skip
def test_what_is_no_integer_and_no_type_is_refused(call):
    with pytest.raises(TypeError):
        eval(call, {"tg": tg, "X": X})


def test_lists_are_data_in_compiled_functions():
    """Numbers that a recording holds in place of integers stay themselves within lists."""
    step = tg.compile(lambda x, n, axes: (F.pad(x, (n, 0)).sum(axes), x.roll([n], (0,))))
    for n in (1, 2, 3, 1):
        expected = F.pad(X, (n, 0)).sum((0, 1)), X.roll([n], (0,))
        for got, own in zip(step(X, n, (0, 1)), expected, strict=True):
            assert tg.equal(got, own)
