"""Tensors beside numpy's arrays and Python's protocols: the answers are PyTorch's (expected/numpy_*.py)."""

import json
import operator
import re

import numpy as np
import pytest
from expected import numpy_calls, numpy_operators
from expected.compare import STORE, load

import tracegrad as tg
from tracegrad.tensors import data as data_module
from tracegrad.tensors import literals as literals_module

STORED_CALLS = json.loads((STORE / "numpy_calls.json").read_text(encoding="utf-8"))
#: What PyTorch computes in types that tensors do not have here: TypeError, or the next wider type.
MISSING_TYPES = re.compile(r"Tensor (uint16|uint32|uint64|complex32)")
LACKING = "numpy's type has none among the types of tensors"
MORE_IS_TAKEN = "PyTorch refuses what has one meaning only; here it is taken"
DIFFERENT = {
    "tg.tensor(np.array([1,2],'u2'))": LACKING,
    "tg.from_numpy(np.array([1,2],'u2'))": LACKING,
    "tg.from_numpy(np.array([1,2],'u4'))": LACKING,
    "tg.from_numpy(np.array([1,2],'u8'))": LACKING,
    "np.array(x,copy=False)": "numpy is told that no copy is needed; PyTorch does not know the argument",
    "tg.tensor([np.array(1.),2])": MORE_IS_TAKEN,
    "tg.tensor(HasArray())": MORE_IS_TAKEN,
    "tg.tensor([HasArray()])": MORE_IS_TAKEN,
    "tg.asarray(HasArray())": MORE_IS_TAKEN,
    "x.base": "the tensor that a view shows; PyTorch calls it _base",
}


def is_deviation(label, expected):
    """Whether PyTorch's answer is one that tracegrad does not give, and docs say why."""
    if "scalar(complex64)" in label:  # PyTorch takes it for a real number and loses the imaginary part
        return True
    if MISSING_TYPES.match(expected) or "eq" in label and re.search(r"\(uint(16|32|64)\)", label):
        return True
    # complex32 in PyTorch, which then lacks most operations
    return "float16" in label and "bfloat16" not in label and ("1j" in label or "scalar(complex128)" in label)


def same(found, expected):
    if found == expected:
        return True
    kinds = [text.partition(" [")[0] for text in (found, expected)]
    if kinds[0] != kinds[1] or "complex" not in kinds[0]:
        return False
    texts = [text.split(" ", 2)[2] for text in (found, expected)]
    numbers = [eval(text, {"nan": np.nan, "inf": np.inf}) for text in texts]
    return np.allclose(*numbers, rtol=1e-4, equal_nan=True)  # one digit more than what is stored


FAST = ("bool", "int64", "bfloat16", "float32", "complex64")


@pytest.mark.parametrize(
    "dtype", [name if name in FAST else pytest.param(name, marks=pytest.mark.long) for name in numpy_operators.TENSORS]
)
def test_operators(tg, dtype):
    stored = numpy_operators.stored_outcomes(tg, load("numpy_operators"))
    wrong, deviations = {}, 0
    for label, case in numpy_operators.cases(tg, [dtype]):
        found, expected = numpy_operators.outcome(case), stored[label]
        if same(found.replace("tracegrad.", "torch."), expected):
            continue
        deviations += is_deviation(label, expected)
        if not is_deviation(label, expected):
            wrong[label] = (found, expected)
    assert wrong == {}
    assert deviations <= 180  # of 3648 cases


def of_other_versions():
    """The calls to which this numpy has another answer than that of the stored ones, 2.4."""
    version = np.lib.NumpyVersion(np.__version__)
    calls = {"np.cross(v,v)"} if version >= "2.5.0" else set()
    if version < "2.3.0":
        calls |= {"np.count_nonzero(x)", "np.fix(x)", "np.result_type(x)"}
    if hasattr(np.bool_, "__index__"):  # of NumPy's own
        calls |= {"assigned(x,np.bool_(True),1.)", "x[np.bool_(True)]"}
    return calls


def test_calls(tg):
    assert len(STORED_CALLS) > 700
    found = numpy_calls.make(tg)
    wrong = {text for text in STORED_CALLS if found[text] != STORED_CALLS[text]}
    wrong -= of_other_versions()
    assert {text: (found[text], STORED_CALLS[text]) for text in wrong - DIFFERENT.keys()} == {}
    assert DIFFERENT.keys() <= wrong


COMPILED_OPERATORS = [name for name in numpy_operators.OPERATORS if name not in ("matmul", "lshift", "rshift")]
COMPILED_OPERANDS = {
    label: make
    for label, make in numpy_operators.operands()
    if re.fullmatch(r"(array|0-d|scalar)\((bool_|int32|int64|float32|float64)\)|True|3|2\.5|\[1, 2\]", label)
}


@pytest.mark.parametrize("dtype", [pytest.param("int64", marks=pytest.mark.long), "float32"])
@pytest.mark.parametrize("label", COMPILED_OPERANDS)
def test_operators_in_compiled_functions(tg, dtype, label):
    make = COMPILED_OPERANDS[label]

    def results(x):
        found = []
        for name in COMPILED_OPERATORS:
            for reflected in (False, True):
                for prefix in ("", "i"):
                    apply = getattr(operator, prefix + name.rstrip("_") if prefix else name, None)
                    if apply is None or (prefix and name in ("lt", "le", "gt", "ge", "eq", "ne")):
                        continue
                    mine, other = x.clone(), make()
                    try:
                        found.append(apply(other, mine) if reflected else apply(mine, other))
                    except (TypeError, RuntimeError) as error:
                        found.append(type(error).__name__)
        return found

    compiled = tg.compile(results)
    for k in range(4):
        x = tg.tensor([3 + k, 1], dtype=getattr(tg, dtype))
        with np.errstate(all="ignore"):
            expected = [numpy_operators.described(value) for value in results(x)]
            assert [numpy_operators.described(value) for value in compiled(x)] == expected


def test_memory_is_shared_both_ways(tg):
    a = np.arange(4.0)
    for x in (tg.from_numpy(a), tg.as_tensor(a), tg.asarray(a), tg.frombuffer(a, dtype=tg.float64)):
        x[0] = 7.0
        assert a[0] == 7.0 and np.shares_memory(np.asarray(x), a) and np.shares_memory(x.numpy(), a)
        a[0] = 0.0
        assert x[0] == 0.0


def test_a_read_only_array_makes_a_read_only_tensor(tg):
    a = np.arange(2.0)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        x = tg.from_numpy(a)
    with pytest.raises((RuntimeError, ValueError), match="read-only|not writable|writ"):
        x += 1
    assert a.tolist() == x.tolist() == [0.0, 1.0]


def test_numbers_of_tensors_that_require_grad(tg):
    x = tg.ones(2, requires_grad=True)
    for call in (x.numpy, x.__array__, lambda: np.sin(x), lambda: np.stack([x]), lambda: x + np.ones(2)):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach"):
            call()
    assert x.numpy(force=True).tolist() == [1, 1]


def _outcome_of(data):
    try:
        made = tg.tensor(data)
        return made.dtype, made.tolist()
    except Exception as error:
        return type(error), str(error)


def test_rows_of_numbers_are_what_their_elements_are(monkeypatch):
    """A row whose numbers are of exact types is looked at by its types alone."""
    numbers = [True, 3, 2.5, 2**70, *[np.dtype(code).type(1) for code in "?bBhHiIlLqQefdFD"]]
    pairs = [[[first, second], [second, second]] for first in numbers for second in numbers]
    pairs += [[[[first, first]], [[first, 1j]]] for first in numbers]
    by_rows = [_outcome_of(data) for data in pairs]
    monkeypatch.setattr(data_module, "EXACT_NUMBERS", frozenset())
    monkeypatch.setattr(literals_module, "EXACT_NUMBERS", frozenset())
    assert by_rows == [_outcome_of(data) for data in pairs]
