"""Forward mode by dual tensors: tangents of results, of views and after writes, and the errors.

The tangents expected are those of `func.jvp`, which differentiates the whole function twice, or are written down.
"""

import copy
import threading

import pytest

import tracegrad as tg
import tracegrad.autograd.forward_ad as fwAD
from tracegrad.testing import assert_close

X = [[0.3, -1.2, 0.7], [1.5, 0.2, -0.4]]
T = [[1.0, 0.5, -2.0], [0.25, 3.0, 1.0]]


def numbers(rows):
    return tg.tensor(rows, dtype=tg.float64)


def tangent_of(function, *primals, along=None):
    """The tangent of ``function(*primals)``, by dual tensors."""
    along = [tg.ones_like(x) for x in primals] if along is None else along
    with fwAD.dual_level():
        duals = [fwAD.make_dual(x, t) for x, t in zip(primals, along, strict=True)]
        return fwAD.unpack_dual(function(*duals)).tangent


def writes_to_rows(x):
    y = x.clone()
    y[0].mul_(x[1])
    y[:, 1] = x[0, 0] * 3
    y.t()[2].exp_()
    return y


def writes_to_constants(x):
    table = tg.zeros(3, 4, dtype=tg.float64)
    row = table[1]
    table[0] = x.sum()
    row[1:].copy_(x[1])
    row.add_(1)
    table[2, 3] = 5.0
    return table * 2


def overwrites(x):
    y = x * x
    y[0].fill_(2.0)
    y[1, :2].zero_()
    return y


def several_times(x):
    places, rows = tg.tensor([1, 1, 0]), tg.tensor([[0, 0, 1], [1, 1, 1]])
    y = x.scatter(0, rows[:1], x[1:])
    y[:, places] = x * 2
    return y.put_(tg.tensor([3, 3]), x[0, :2]) * tg.zeros(2, 3, dtype=tg.float64).scatter(1, rows, x)


def turned_in_place(x):
    y = x.clone()
    y.transpose_(0, 1).unsqueeze_(0)
    y[0, 1] *= 3
    return y


def of_places(x):
    y = x.clone()
    y[tg.tensor([0, 1]), tg.tensor([2, 0])] *= x[0, 0]
    y[x > 0] += 1
    y.index_add_(0, tg.tensor([0]), x[1:])
    y.scatter_(1, tg.tensor([[0], [1]]), x[:, 1:2])
    return y


FUNCTIONS = {
    "pointwise": lambda x: (x.exp() * x.tanh()).sigmoid() / (2 + x.cos()),
    "broadcast": lambda x: x[0] * x[1].unsqueeze(-1) + x.sum(0),
    "products": lambda x: x @ x.t() @ x,
    "views": lambda x: x.t().reshape(-1)[1::2].view(1, 3).expand(2, 3).flip(1),
    "joined": lambda x: tg.cat([x, tg.ones(1, 3, dtype=tg.float64), x[:1]]).cumsum(0).roll(1, 1),
    "stacked": lambda x: tg.stack([*x.reshape(-1), *[tg.tensor(1.0, dtype=tg.float64)] * 30]),
    "softmax": lambda x: tg.nn.functional.layer_norm(x.softmax(1), (3,)).log_softmax(0),
    "loss": lambda x: tg.nn.functional.cross_entropy(x, tg.tensor([0, 2])),
    "convolution": lambda x: tg.nn.functional.conv1d(x.unsqueeze(0), x.reshape(1, 2, 3), padding=1),
    "pooling": lambda x: tg.nn.functional.max_pool1d(x, 2, 1),
    "extremes": lambda x: x.max(1).values + x.amin() + x.sort(1).values[:, 0],
    "numpy functions": lambda x: tg.linalg.svdvals(x) + tg.linalg.det(x @ x.t()) + tg.fft.rfft(x).abs().sum(),
    "inverse": lambda x: tg.linalg.inv(x @ x.t()),
    "broadcast operands": lambda x: (
        tg.xlogy(x[:1].exp(), x.exp()) + tg.linalg.solve(x @ x.t(), x.expand(4, 2, 3)).sum(0)
    ),
    "complex": lambda x: tg.view_as_real(tg.complex(x[0], x[1]).exp().conj() * x[0]),
    "piecewise": lambda x: x.round() + x.sign() + x.clamp(-0.5, 1) + x.relu(),
    "no gradients": tg.no_grad()(lambda x: x.sin() * x),
    "rows": writes_to_rows,
    "constants": writes_to_constants,
    "overwritten": overwrites,
    "turned in place": turned_in_place,
    "places": of_places,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents_are_those_of_differentiating_twice(name):
    function, x, t = FUNCTIONS[name], numbers(X), numbers(T)
    watched = tg.enable_grad()(function.__wrapped__) if name == "no gradients" else function
    expected = tg.func.jvp(watched, (x,), (t,))[1]
    assert_close(tangent_of(function, x, along=[t]), expected)
    assert_close(x, numbers(X), rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("grad", [True, False])
def test_recurrent_layers(kind, grad):
    tg.manual_seed(0)
    model = getattr(tg.nn, kind)(3, 4, num_layers=2).double()
    x, t = numbers(X).unsqueeze(1), numbers(T).unsqueeze(1)
    with tg.set_grad_enabled(grad):
        found = tangent_of(lambda x: model(x)[0], x, along=[t])
    assert_close(found, tg.func.jvp(lambda x: model(x)[0], (x,), (t,))[1])


def test_parameters_of_modules_may_be_dual():
    model = tg.nn.Sequential(tg.nn.Linear(3, 2), tg.nn.BatchNorm1d(2), tg.nn.Tanh()).double()
    x = numbers(X)
    given = {name: p.detach().clone() for name, p in model.named_parameters()}
    along = {name: tg.ones_like(p) for name, p in given.items()}
    expected = tg.func.jvp(lambda p: tg.func.functional_call(model, p, x), (given,), (along,))[1]
    with fwAD.dual_level():
        for name, p in given.items():
            owner, _, own_name = name.rpartition(".")
            module = model.get_submodule(owner)
            delattr(module, own_name)
            setattr(module, own_name, fwAD.make_dual(p, along[name]))
        found = fwAD.unpack_dual(model(x)).tangent
    assert_close(found, expected)


# ------------------------------------------------------------------------------------------------- both modes together


def test_reverse_over_forward():
    x, t = numbers(X).requires_grad_(), numbers(T).requires_grad_()
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        y = dual.clone()
        y[0].mul_(dual[1].sin())
        tangent = fwAD.unpack_dual((y.exp() * y).sum()).tangent
    found = tg.autograd.grad(tangent, (x, t))

    def change(x, t):
        def function(x):
            y = tg.cat([(x[0] * x[1].sin()).unsqueeze(0), x[1:]])
            return (y.exp() * y).sum()

        return tg.func.jvp(function, (x,), (t,))[1]

    assert_close(found, tg.func.grad(change, (0, 1))(x.detach(), t.detach()))


LOSSES = {
    "saved results": lambda x: (x.exp() * x.tanh()).sigmoid().sum(),
    "fused": lambda x: tg.nn.functional.gelu(tg.nn.functional.layer_norm(x, (3,))).softmax(1).pow(2).sum(),
    "in place": lambda x: writes_to_rows(x).pow(2).sum(),
    "numpy functions": lambda x: tg.linalg.inv(x @ x.t()).sum() + tg.linalg.det(x @ x.t()),
    "a checkpoint": lambda x: tg.utils.checkpoint.checkpoint(lambda x: x.exp() * x, x, use_reentrant=False).sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_forward_over_reverse(name):
    x, t = numbers(X), numbers(T)
    expected = tg.func.jvp(tg.func.grad(LOSSES[name]), (x,), (t,))[1]
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t).requires_grad_()
        (gradient,) = tg.autograd.grad(LOSSES[name](dual), dual)
        assert_close(fwAD.unpack_dual(gradient).tangent, expected)
        gradient = tg.func.grad(LOSSES[name])(fwAD.make_dual(x, t))
        found = fwAD.unpack_dual(gradient).tangent
    assert_close(found, expected)
    assert not found.requires_grad


def test_gradients_that_are_added_up_have_no_tangent():
    with fwAD.dual_level():
        x = fwAD.make_dual(numbers(X), numbers(T)).requires_grad_()
        (x * x).sum().backward()
        assert fwAD.unpack_dual(x.grad).tangent is None
    assert_close(x.grad, 2 * numbers(X))


def test_backward_after_the_level():
    x = numbers(X).requires_grad_()
    with fwAD.dual_level():
        y = (fwAD.make_dual(x, numbers(T)) ** 3).sum()
    y.backward()
    assert_close(x.grad, 3 * numbers(X) ** 2)


def test_vmap_of_dual_tensors():
    found = tangent_of(tg.func.vmap(lambda row: row.exp() * row.sum()), numbers(X), along=[numbers(T)])
    expected = tg.func.jvp(lambda x: x.exp() * x.sum(1, keepdim=True), (numbers(X),), (numbers(T),))[1]
    assert_close(found, expected)


def test_a_batch_of_tangents():
    x = numbers(X[0])
    columns = tg.func.vmap(lambda t: tangent_of(lambda x: x.exp() * x.sum(), x, along=[t]))(tg.eye(3, dtype=tg.float64))
    assert_close(columns.t(), tg.func.jacrev(lambda x: x.exp() * x.sum())(x))


# -------------------------------------------------------------------------------------------------- memory and aliases


def test_what_has_a_tangent():
    x, t = tg.ones(3), tg.tensor([1.0, 2.0, 3.0])
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        kept, tangent = fwAD.unpack_dual(dual)
        assert tangent is t and kept.data_ptr() == dual.data_ptr() == x.data_ptr()
        without = [x, kept, kept[1:], dual.detach(), dual.data, dual > 0, dual.int(), tg.zeros_like(dual)]
        assert [fwAD.unpack_dual(y).tangent for y in without] == [None] * len(without)
        assert fwAD.unpack_dual(copy.deepcopy(dual)).tangent is None
        for changed in (dual[1:], dual.view(1, 3)[:, 1:], dual.double()[1:]):
            assert fwAD.unpack_dual(changed).tangent.flatten().tolist() == [2.0, 3.0]
        with tg.inference_mode():
            assert fwAD.unpack_dual(dual * 2).tangent is None
    assert fwAD.unpack_dual(dual) == (dual, None)


def test_a_write_to_a_dual_tensor_changes_its_tangent_in_place():
    t, given = tg.ones(3), tg.ones(3)
    with fwAD.dual_level():
        dual = fwAD.make_dual(given, t)
        dual.mul_(2)
        dual[0] = 7.0
    assert t.tolist() == [0.0, 2.0, 2.0] and given.tolist() == [7.0, 2.0, 2.0]


def test_results_do_not_share_the_tangents_of_operands():
    t = tg.ones(3)
    with fwAD.dual_level():
        dual = fwAD.make_dual(tg.ones(3), t)
        for result in (dual + 1, dual.clone(), dual.expand(2, 3) + 0, dual.neg().neg()):
            result.mul_(5)
        assert fwAD.unpack_dual(dual).tangent.tolist() == [1.0, 1.0, 1.0]
    assert t.tolist() == [1.0, 1.0, 1.0]


def test_a_detached_alias_has_a_life_of_its_own():
    with fwAD.dual_level():
        y = fwAD.make_dual(tg.ones(2), tg.ones(2)) * 1
        apart = y.detach()
        apart.mul_(4)
        apart[0] = y[0]
        assert y.tolist() == [4.0, 4.0]
        assert fwAD.unpack_dual(y).tangent.tolist() == [1.0, 1.0]
        assert fwAD.unpack_dual(apart).tangent.tolist() == [1.0, 0.0]


def test_a_tangent_comes_to_the_base_of_a_view():
    base = tg.zeros(4)
    view = base[1:3]
    with fwAD.dual_level():
        view.copy_(fwAD.make_dual(tg.ones(2), tg.tensor([5.0, 6.0])))
        assert fwAD.unpack_dual(base).tangent.tolist() == [0.0, 5.0, 6.0, 0.0]
    with fwAD.dual_level():
        assert fwAD.unpack_dual(base).tangent is None


def test_printing():
    with fwAD.dual_level():
        dual = fwAD.make_dual(tg.ones(2), tg.tensor([0.0, 1.0]))
        assert repr(dual) == "tensor([1., 1.], tangent=tensor([0., 1.]))"
    assert repr(dual) == "tensor([1., 1.])"


# -------------------------------------------------------------------------------------------------------------- levels


def test_levels():
    assert fwAD.enter_dual_level() == 0
    with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
        fwAD.enter_dual_level()
    with pytest.raises(RuntimeError, match="was not the last one that was created"):
        fwAD.exit_dual_level(level=1)
    fwAD.exit_dual_level(level=0)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fwAD.exit_dual_level()
    with pytest.raises(KeyError), fwAD.dual_level():
        raise KeyError
    twice = fwAD.dual_level()(lambda x: fwAD.unpack_dual(fwAD.make_dual(x, x) * 2).tangent)
    assert twice(tg.ones(1)).item() == twice(tg.ones(1)).item() == 2


def test_a_level_outlives_the_function_that_has_entered_it():
    step = tg.compile(lambda x: x * 2)

    def begin():
        fwAD.enter_dual_level()

    begin()
    dual = fwAD.make_dual(tg.ones(2), tg.ones(2))
    assert fwAD.unpack_dual(step(dual)).tangent.tolist() == [2.0, 2.0]
    assert fwAD.unpack_dual(dual * 3).tangent.tolist() == [3.0, 3.0]
    fwAD.exit_dual_level()


def test_a_level_is_of_its_thread():
    found = []
    with fwAD.dual_level():
        thread = threading.Thread(target=lambda: found.append(tangent_of(tg.exp, tg.zeros(1))))
        thread.start()
        thread.join()
    assert found[0].item() == 1


ONE = tg.ones(3)
ERRORS = {
    "no level": (lambda: fwAD.make_dual(ONE, ONE), RuntimeError, "no level exists, make sure to enter_dual_level"),
    "integers": (
        fwAD.dual_level()(lambda: fwAD.make_dual(ONE.int(), ONE)),
        ValueError,
        "Expected primal to be floating point or complex, but got: tracegrad.int32",
    ),
    "an integer tangent": (
        fwAD.dual_level()(lambda: fwAD.make_dual(ONE, ONE.int())),
        ValueError,
        "Expected tangent to be floating point or complex, but got: tracegrad.int32",
    ),
    "another size": (
        fwAD.dual_level()(lambda: fwAD.make_dual(ONE, tg.ones(2))),
        RuntimeError,
        r"Tensor is of size \[3\] while the given forward gradient is of size \[2\]",
    ),
    "a dual tensor": (
        fwAD.dual_level()(lambda: fwAD.make_dual(fwAD.make_dual(ONE, ONE), ONE)),
        RuntimeError,
        "already has a forward gradient at the same level 0",
    ),
    "no tensor": (fwAD.dual_level()(lambda: fwAD.unpack_dual(3.0)), TypeError, "must be Tensor, not float"),
    "out": (
        fwAD.dual_level()(lambda: tg.add(fwAD.make_dual(ONE, ONE), 1, out=tg.ones(3))),
        NotImplementedError,
        "add_out that does not support it because it is an out= function",
    ),
    "a leaf": (
        fwAD.dual_level()(lambda: fwAD.make_dual(tg.ones(3, requires_grad=True), ONE).mul_(2)),
        RuntimeError,
        "a view of a leaf Variable that requires grad is being used in an in-place operation",
    ),
    "elements that have no tangent": (
        fwAD.dual_level()(lambda: fwAD.make_dual(tg.ones(5)[:3], ONE).as_strided((2,), (4,))),
        NotImplementedError,
        "as_strided",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    function, kind, message = ERRORS[name]
    with pytest.raises(kind, match=message):
        function()
    assert tangent_of(tg.exp, tg.zeros(1)).item() == 1  # no level is left open


# --------------------------------------------------------------------------------------------------- autograd.Function


class Square(tg.autograd.Function):
    """Its tangent is ten times the derivative of what forward computes, so that one that went another way shows."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None

    @staticmethod
    def jvp(ctx, t, n):
        (x,) = ctx.saved_tensors
        assert n is None and fwAD.unpack_dual(x).tangent is None
        return 10 * t * ctx.n * x ** (ctx.n - 1)


class WithSetup(Square):
    @staticmethod
    def forward(x, n):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)


@pytest.mark.parametrize("function", [Square, WithSetup])
@pytest.mark.parametrize("requires", [False, True])
def test_a_function_has_its_own_tangent(function, requires):
    x = numbers(X).requires_grad_(requires)
    found = tangent_of(lambda x: function.apply(x, 2) + 0, x, along=[numbers(T)])
    assert_close(found.detach(), 20 * numbers(X) * numbers(T))
    if requires:
        (g,) = tg.autograd.grad(found.sum(), x)
        assert_close(g, 20 * numbers(T))


def function_with(forward, jvp):
    return type("Own", (tg.autograd.Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)})


def two_results(ctx, x, y):
    ctx.mark_non_differentiable(places := x.argmax())
    return x * y, places


def written(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


FITTING = {
    "zeros for what has no tangent": (two_results, lambda ctx, a, b: (a + b, None), [1.0, 1.0]),
    "a view": (lambda ctx, x, y: x.view_as(x), lambda ctx, a, b: a.view_as(a), [1.0, 1.0]),
    "in place": (lambda ctx, x, y: written(ctx, x), lambda ctx, a, b: a.mul_(2), [2.0, 2.0]),
    "none": (lambda ctx, x, y: x * y, lambda ctx, a, b: None, None),
}


@pytest.mark.parametrize("name", FITTING)
def test_what_a_function_returns_gets_its_tangent(name):
    forward, jvp, expected = FITTING[name]
    with fwAD.dual_level():
        found = function_with(forward, jvp).apply(fwAD.make_dual(tg.ones(2), tg.ones(2)), tg.ones(2))
        tangent = fwAD.unpack_dual(found[0] if isinstance(found, tuple) else found).tangent
    assert (tangent if expected is None else tangent.tolist()) == expected


UNFITTING = {
    "too many": (lambda ctx, x: x * 2, lambda ctx, t: (t, t), r"invalid number of forward gradients \(expected 1 but"),
    "another size": (lambda ctx, x: x * 2, lambda ctx, t: t[:1], "different size than that of the original Tensor"),
    "a number": (lambda ctx, x: x * 2, lambda ctx, t: 3, r"expected Variable or None \(got int\) for grad output 0"),
    "no view": (lambda ctx, x: x.view_as(x), lambda ctx, t: t * 1, "the jvp is not returning a view"),
    "not in place": (written, lambda ctx, t: t * 2, "is not modifying the forward mode gradients inplace"),
    "integers": (
        lambda ctx, x: (x * 2, x.argmax()),
        lambda ctx, t: (t, t),
        "gradient at position 1, but the corresponding forward output is not a differentiable Tensor",
    ),
}


@pytest.mark.parametrize("name", UNFITTING)
def test_tangents_that_do_not_fit_are_refused(name):
    forward, jvp, message = UNFITTING[name]
    with fwAD.dual_level(), pytest.raises(RuntimeError, match=message):
        function_with(forward, jvp).apply(fwAD.make_dual(tg.ones(2), tg.ones(2)))


def test_a_function_without_a_tangent():
    function = type("Own", (tg.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with fwAD.dual_level(), pytest.raises(NotImplementedError, match="You must implement the jvp function for custom"):
        function.apply(fwAD.make_dual(tg.ones(2), tg.ones(2)))
    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        function_with(lambda ctx, x: ctx.save_for_forward(3), None).apply(tg.ones(2))
