"""What may be assigned to elements: kinds of values x forms of keys x dtypes, as PyTorch takes and refuses them."""

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

KEYS = {
    "number": 0,
    "slice": slice(0, 1),
    "all": slice(None),
    "element": (0, 1),
    "column": (slice(None), 0),
    "ellipsis": Ellipsis,
    "new axis": None,
    "true": True,
    "false": False,
    "list": [0, 1],
    "truths": [True, False],
    "numpy": np.array([0]),
    "nothing": (),
}
#: Keys of tensors, by the numbers in them.
TENSORS = {"index": [0, 1], "mask": [True, False], "whole mask": [[True, False], [False, True]]}
TAKEN = [1.0, True, 2, np.float64(1), np.int64(1), np.int8(1), np.uint64(1), -1]
REFUSED = [
    *([1.0], [1.0, 2.0], (1.0, 2.0), [], (), None, "1", b"1", {}, {1: 2}, set(), object(), range(2), slice(None)),
    *(Fraction(1, 2), Decimal(1), float, Ellipsis, memoryview(b"ab"), bytearray(b"ab"), iter([1])),
    *(np.float32(1), np.float16(1), np.bool_(True), np.complex64(1), np.str_("a"), np.datetime64("2020")),
    *(np.array(1.0), np.array(True), np.array([1.0]), np.array([1.0, 2.0]), np.zeros(0), np.array([[1, 2]])),
]
DTYPES = ("float32", "int64", "bool", "complex64", "uint8", "float16")
CASES = list(itertools.product([*KEYS, *TENSORS], DTYPES))


def key_of(library, name):
    return library.tensor(TENSORS[name]) if name in TENSORS else KEYS[name]


def assign(library, name, dtype, value):
    x = library.zeros(2, 2, dtype=getattr(library, dtype))
    x[key_of(library, name)] = value
    return x


@pytest.mark.parametrize("name, dtype", CASES)
def test_only_tensors_and_numbers_of_python_are_assigned(tg, name, dtype):
    kind = getattr(tg, dtype)
    title = {"float32": "Float", "int64": "Long", "complex64": "ComplexFloat", "uint8": "Byte", "float16": "Half"}
    for value in (*REFUSED, tg.Size([1, 2]), tg.float32, [tg.tensor(1.0)]):
        with pytest.raises(TypeError, match=rf"can't assign a \S+ to a tracegrad\.{title.get(dtype, 'Bool')}Tensor"):
            assign(tg, name, dtype, value)
    for value in (*TAKEN, tg.tensor(1, dtype=kind)):
        assign(tg, name, dtype, value)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        assign(tg, name, dtype, 2**70)


@pytest.mark.parametrize("name, dtype", CASES)
def test_as_pytorch(tg, name, dtype):
    torch = pytest.importorskip("torch")
    for value in (*TAKEN, *REFUSED, 1j, float("nan"), "tensor(1.0)", "tensor(1)", "tensor(1j)", "tensor([1.0])"):
        outcomes = []
        for library in (torch, tg):
            is_tensor = isinstance(value, str) and value.startswith("tensor")
            given = eval(value, vars(library)) if is_tensor else value
            try:
                outcomes.append(assign(library, name, dtype, given).tolist())
            except Exception as error:
                outcomes.append(type(error))
        assert str(outcomes[0]) == str(outcomes[1]) or (name == "false" and value != value), (value, outcomes)


@pytest.mark.parametrize("value", [[1.0, 2.0], np.array([1.0]), np.float32(1)], ids=["list", "array", "float32"])
def test_compiled_functions_refuse_the_same(tg, value):
    @tg.compile
    def step(x):
        y = x * 2
        y[0] = value
        return y

    for _ in range(2):
        with pytest.raises(TypeError, match="can't assign a"):
            step(tg.ones(2))


def test_filling_functions_take_numbers_and_tensors(tg):
    x = tg.ones(2)
    for value in (np.zeros(2), np.array(1.0), [1.0], "1", object(), None):
        for fill in (
            lambda value: x.masked_fill(x > 0, value),
            lambda value: x.clone().masked_fill_(x > 0, value),
            lambda value: x.index_fill(0, tg.tensor([0]), value),
            lambda value: tg.full((2,), value),
            lambda value: tg.full_like(x, value),
        ):
            with pytest.raises(TypeError):
                fill(value)
    assert x.masked_fill(x > 0, np.float32(2)).tolist() == [2.0, 2.0]
    assert tg.full((1,), tg.tensor(3)).tolist() == [3]
