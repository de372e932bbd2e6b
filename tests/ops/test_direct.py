"""Pointwise ops on tensors of one type, floating or int64, which plain eager mode gives to numpy at once, and the
general way.

The general way is what runs where an interpreter has been chosen. Everything must be the same to the last bit.
"""

import itertools

import numpy as np
import pytest

from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import REGISTRY, Pointwise, interpreted
from tracegrad.tape.tape import Tape
from tracegrad.tensors.tensor import make

UNARY = (
    "neg abs sign exp expm1 log log1p log2 log10 sigmoid erf sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh floor ceil trunc round logical_not isnan isinf isfinite "
    "reciprocal lgamma digamma erfc erfinv logit sinc exp2 i0 signbit"
).split()
BINARY = (
    "add sub mul div pow maximum minimum eq ne lt le gt ge remainder fmod floor_divide atan2 logical_and logical_or "
    "logical_xor bitwise_and bitwise_or bitwise_left_shift gcd hypot logaddexp logaddexp2 copysign fmax fmin nextafter "
    "igamma xlogy"
).split()


def values(shape, dtype):
    return np.linspace(-1.5, 2.5, int(np.prod(shape, dtype=int)), dtype="float64").reshape(shape).astype(dtype)


# Name -> what makes the operand.
OPERANDS = {
    "float32": lambda tg: tg.tensor(values((2, 3), "float32")),
    "float64": lambda tg: tg.tensor(values((2, 3), "float64")),
    "tracked": lambda tg: tg.tensor(values((2, 3), "float32"), requires_grad=True),
    "computed": lambda tg: tg.tensor(values((2, 3), "float32"), requires_grad=True) * 2,
    "view": lambda tg: (tg.tensor(values((3, 2), "float32"), requires_grad=True) * 2).t(),
    "parameter": lambda tg: tg.nn.Parameter(tg.tensor(values((3,), "float32"))),
    "row": lambda tg: tg.tensor(values((3,), "float32"), requires_grad=True),
    "misfit": lambda tg: tg.tensor(values((4,), "float32")),
    "number32": lambda tg: tg.tensor(values((), "float32"), requires_grad=True),
    "number64": lambda tg: tg.tensor(values((), "float64"), requires_grad=True),
    "empty": lambda tg: tg.tensor(values((0, 3), "float32")),
    "int64": lambda tg: tg.tensor(values((2, 3), "int64")),
    "number of int64": lambda tg: tg.tensor(3),
    "bool": lambda tg: tg.tensor(values((2, 3), "bool")),
    "number of bool": lambda tg: tg.tensor(True),
    "float": lambda tg: 1.1,
    "int": lambda tg: 3,
    "negative": lambda tg: -2,
    "lowest": lambda tg: -(2**63),
    "True": lambda tg: True,
    "large": lambda tg: 1e300,
    "huge": lambda tg: 2**70,
    "nan": lambda tg: float("nan"),
    "inf": lambda tg: float("-inf"),
    "minus zero": lambda tg: -0.0,
    "np.float64": lambda tg: np.float64(1.1),
    "np.float32": lambda tg: np.float32(1.1),
    "np.int64": lambda tg: np.int64(2),
}
TENSORS = list(OPERANDS)[: list(OPERANDS).index("float")]
#: Each pair of operands that is tried has one of these.
COMMON = {"float32", "tracked", "number32", "int64", "bool"}
PAIRS = [kinds for kinds in itertools.product(OPERANDS, repeat=2) if COMMON & set(kinds)]


def titles(node, depth=2):
    if node is None:
        return None
    return [type(node).__name__, *(titles(n, depth - 1) for n, _ in node.next_functions if depth)]


def outcome(tg, name, kinds):
    """What a function makes of operands: numbers, type, history and gradients; or the error."""
    made = [OPERANDS[kind](tg) for kind in kinds]
    leaves = [x for x in made if isinstance(x, tg.Tensor) and x.requires_grad and x.is_leaf]
    try:
        out = getattr(tg, name)(*made)
        found = [out.detach().numpy().tobytes(), out.dtype, tuple(out.shape), titles(out.grad_fn), out._version]
        if out.requires_grad:
            out.sum().backward()
            found += [None if x.grad is None else (x.grad.dtype, x.grad.numpy().tobytes()) for x in leaves]
    except Exception as error:
        return type(error).__name__, str(error)
    return found


def assert_same(tg, name, kinds):
    own = outcome(tg, name, kinds)
    general = interpreted(Tape(Evaluator(), make), outcome, tg, name, kinds)
    assert own == general, (name, kinds)


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(tg, name):
    for kind in TENSORS:
        assert_same(tg, name, (kind,))


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(tg, name):
    for kinds in PAIRS:
        assert_same(tg, name, kinds)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "**", "<", "=="])
def test_operators(tg, operator):
    calculate = eval(f"lambda x, y: x {operator} y")
    for kinds in PAIRS:
        assert_same(Calling(tg, calculate), "calculate", kinds)


@pytest.mark.parametrize("condition", ["bool", "number of bool", "row of bool", "view of bool", "int64"])
def test_choices(tg, condition):
    conditions = {
        "row of bool": lambda tg: tg.tensor([True, False, True]),
        "view of bool": lambda tg: tg.tensor([[True, False, True], [False, False, True]]).t().contiguous().t(),
    }
    made = conditions.get(condition) or OPERANDS[condition]
    for kinds in PAIRS:
        assert_same(Calling(tg, lambda x, y: tg.where(made(tg), x, y)), "calculate", kinds)


class Calling:
    """The library with one more function."""

    def __init__(self, tg, calculate):
        self.tg, self.calculate = tg, calculate

    def __getattr__(self, name):
        return getattr(self.tg, name)


#: Ops of integers, of which one stands for all, one of two incomplete gamma functions, one that is no method, and one
#: of complex numbers.
BITS = {"bitwise_xor", "bitwise_not", "bitwise_right_shift", "detach", "conj"}
BITS |= {"lcm", "igammac"}


def test_all_that_is_pointwise_is_named(tg):
    """The lists above hold every public pointwise op of one or two operands."""
    pointwise = [p for p in REGISTRY.values() if isinstance(p.lower, Pointwise) and len(p.inputs) <= 2]
    public = {p.name for p in pointwise if callable(getattr(tg, p.name, None))}
    assert public - set(UNARY) - set(BINARY) <= BITS


def test_no_grad_and_kinds_of_gradients(tg):
    x = tg.ones(2, requires_grad=True)
    with tg.no_grad():
        assert (x + x).grad_fn is None
    assert (x + 1).grad_fn is not None
    assert (x.detach() + 1).grad_fn is None
    assert (x > 0).grad_fn is None


def test_warnings_of_numpy_stay_as_they_are(tg):
    before = np.geterr()
    assert (tg.zeros(2) / 0).isnan().all()
    assert np.geterr() == before
    with np.errstate(all="raise"):
        assert (tg.ones(2) / 0).isinf().all()
