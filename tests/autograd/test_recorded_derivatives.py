"""Derivatives that are recorded and differentiated again: of one node's composites, and by rules of arithmetic."""

import itertools

import pytest

import tracegrad as tg
from tracegrad.nn import functional as F
from tracegrad.ops.core import REGISTRY, current
from tracegrad.ops.elementwise.rule_code import has_arithmetic_rules

#: Composites whose node has derivatives in primitives of its own, of operands in these shapes.
ONE_NODE = {
    "affine": (lambda b, x, y: tg.addmm(b, x, y), ((3,), (2, 4), (4, 3))),
    "affine of a column": (lambda b, x, y: tg.addmm(b, x, y), ((2, 1), (2, 4), (4, 3))),
    "linear": (lambda x, w, b: F.linear(x, w, b), ((2, 4), (3, 4), (3,))),
    "linear of one": (lambda x, w, b: F.linear(x, w, b), ((4,), (3, 4), (3,))),
    "relu": (lambda x: F.relu(x), ((2, 3),)),
    "leaky": (lambda x: F.leaky_relu(x, 0.2), ((2, 3),)),
    "squares": (lambda x, y: F.mse_loss(x, y), ((2, 3), (2, 3))),
    "sum of squares": (lambda x, y: F.mse_loss(x, y, reduction="sum"), ((2, 3), (2, 3))),
    "softmax": (lambda x: F.softmax(x, 1), ((2, 3),)),
    "log softmax": (lambda x: F.log_softmax(x, 0), ((2, 3),)),
    "each square": (lambda x, y: F.mse_loss(x, y, reduction="none"), ((2, 3), (2, 3))),
}


def _operands(shapes, requiring):
    generator = tg.Generator().manual_seed(3)
    drawn = [tg.randn(shape, generator=generator, dtype=tg.float64) for shape in shapes]
    return [x.requires_grad_(wants) for x, wants in zip(drawn, requiring, strict=True)]


@pytest.mark.parametrize("name", ONE_NODE)
def test_second_and_third_derivatives_are_those_of_differences(name):
    function, shapes = ONE_NODE[name]
    for requiring in itertools.product((False, True), repeat=len(shapes)):
        if not any(requiring):
            continue
        xs = _operands(shapes, requiring)

        def bent(*xs):
            return function(*xs) ** 3

        assert tg.autograd.gradgradcheck(bent, xs)

        def slopes(*xs, bent=bent):
            given = [x for x in xs if x.requires_grad]
            return tg.autograd.grad(bent(*xs).sum(), given, create_graph=True)

        assert tg.autograd.gradgradcheck(slopes, xs)


class _Counted:
    """Counts the products of matrices that plain eager mode makes."""

    def __init__(self, monkeypatch):
        self.count = 0
        kind, apply = type(current()), type(current()).apply

        def counting(tape, primitive, operands, params):
            self.count += primitive.name == "dot"
            return apply(tape, primitive, operands, params)

        monkeypatch.setattr(kind, "apply", counting)


def test_a_recorded_derivative_computes_no_value_again(monkeypatch):
    x, w, b = _operands(((2, 4), (3, 4), (3,)), (True, True, True))
    out = F.linear(x, w, b).sum()
    products = _Counted(monkeypatch)
    tg.autograd.grad(out, (x, w, b), create_graph=True)
    assert products.count == 2  # of the input and of the weight, none of the value


@pytest.mark.parametrize("function", [F.relu, F.leaky_relu], ids=["relu", "leaky_relu"])
def test_a_gradient_depends_on_the_operand_by_an_edge_alone(function):
    x = tg.tensor([-1.0, 2.0], requires_grad=True)
    (slope,) = tg.autograd.grad(function(x).sum(), x, create_graph=True)
    assert slope.requires_grad and type(slope.grad_fn).__name__.endswith("BackwardBackward0")
    assert tg.autograd.grad(slope.sum(), x)[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax, F.relu], ids=["softmax", "log_softmax", "relu"])
def test_a_derivative_of_the_value_does_not_ask_what_became_of_the_operand(function):
    def slopes(is_written):
        w = tg.tensor([[0.1, -0.2, 0.7], [1.0, 0.5, -1.0]], requires_grad=True)
        x = w * 2
        out = function(x) if function is F.relu else function(x, 1)
        if is_written:
            with tg.no_grad():
                x.add_(5)
        (slope,) = tg.autograd.grad((out * tg.arange(6.0).view(2, 3)).sum(), w, create_graph=True)
        return slope.tolist(), tg.autograd.grad(slope.square().sum(), w)[0].tolist()

    assert slopes(True) == slopes(False)


ARITHMETIC = sorted(name for name, primitive in REGISTRY.items() if has_arithmetic_rules(primitive))


def test_rules_of_arithmetic_are_found():
    assert {"mul", "div", "tanh", "exp", "sigmoid", "log"} <= {*ARITHMETIC}
    assert not {"where", "abs", "pow", "maximum"} & {*ARITHMETIC}


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), ()), ((), (2,))], ids=str)
def test_rules_of_arithmetic_give_the_same_bits_of_arrays(name, shapes):
    """Without a graph of gradients they are computed of arrays, with one of tensors."""
    primitive = REGISTRY[name]
    generator = tg.Generator().manual_seed(1)
    xs = [tg.rand(shape, generator=generator) * 0.5 + 0.25 for shape in shapes[: len(primitive.inputs)]]
    op = getattr(tg, name, None)
    if op is None:
        pytest.skip("no public function")
    for turned, leaf in itertools.product((False, True), (xs, [x.double() for x in xs])):
        given = [x.clone().requires_grad_() for x in leaf]
        shown = [x.t() if turned and x.ndim == 2 else x for x in given]
        if turned and any(x.ndim == 1 for x in shown):
            continue
        out = op(*shown)
        weights = tg.rand(out.shape, generator=generator, dtype=out.dtype)
        for g in (weights, tg.ones((), dtype=out.dtype).expand(out.shape)):
            at_once = tg.autograd.grad(out, given, g, retain_graph=True)
            recorded = tg.autograd.grad(out, given, g, create_graph=True)
            for a, b in zip(at_once, recorded, strict=True):
                assert a.dtype is b.dtype and a.shape == b.shape and a.stride() == b.stride()
                assert a.numpy().tobytes() == b.detach().numpy().tobytes()


def test_rules_of_arithmetic_refuse_what_was_written_to():
    x = tg.ones(2, requires_grad=True)
    y = x * 1
    out = (y * x).sum()
    with tg.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
