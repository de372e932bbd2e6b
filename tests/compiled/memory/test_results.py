"""What a compiled function returns: identity, structure, shared memory, history."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from side_by_side import Program, batch, ramp, weight

PROGRAMS = []
Pair = namedtuple("Pair", "first second")


def program(make):
    PROGRAMS.append(make)
    return make


def returning(name, function, *shape):
    def make(tg):
        return Program(lambda x: function(tg, x), lambda i: (ramp(tg, *(shape or (3,))) * (i + 1),))

    make.__name__ = name
    PROGRAMS.append(make)


returning("nothing", lambda tg, x: None)
returning("python_values", lambda tg, x: (x.sum(), 1, "two", None, 3.0, x.shape, len(x), x.dtype))
returning("nested", lambda tg, x: {"a": [x + 1, (x * 2, None)], "b": Pair(x.sum(), x.mean())})
returning("ordered", lambda tg, x: OrderedDict(z=x + 1, a=x))
returning("empty", lambda tg, x: ([], (), {}))
returning("constant", lambda tg, x: (tg.ones(2), tg.tensor([1.0, 2.0]), tg.arange(3)))
returning("booleans", lambda tg, x: (x > 0, (x > 0).all(), x.argmax()))
returning("new_leaf", lambda tg, x: tg.zeros(3, requires_grad=True))
returning("of_no_elements", lambda tg, x: x[:0])


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_structure(agree, make):
    agree(make)


def shares(a, b):
    return np.shares_memory(a.detach().numpy(), b.detach().numpy())


def outputs(tg, function, calls=4):
    """The results of later calls, each with its argument."""
    step = tg.compile(function)
    out = []
    for i in range(calls):
        x = ramp(tg, 2, 3) * (i + 1)
        out.append((x, step(x)))
    return out[1:]


def test_argument_keeps_its_identity(tg):
    for x, (one, other, three) in outputs(tg, lambda x: (x, x + 1, x.add_(1))):
        assert one is x and three is x and other is not x


def test_same_result_twice_is_one_object(tg):
    def step(x):
        y = x * 2
        return y, {"y": y}

    for _, (one, more) in outputs(tg, step):
        assert one is more["y"]


def test_captured_tensor_keeps_its_identity(tg):
    w = ramp(tg, 3)
    for _, (one, _) in outputs(tg, lambda x: (w, x)):
        assert one is w


def test_results_are_fresh_memory(tg):
    results = [y for _, y in outputs(tg, lambda x: x * 2)]
    assert len({id(y) for y in results}) == 3 and not shares(results[0], results[1])
    for number, y in enumerate(results):
        np.testing.assert_allclose(y.numpy(), ramp(tg, 2, 3).numpy() * 2 * (number + 2), rtol=1e-6)


@pytest.mark.parametrize(
    "view",
    [lambda x: x[0], lambda x: x.t(), lambda x: x.reshape(-1), lambda x: x.detach(), lambda x: x.expand(4, 2, 3)],
)
def test_view_of_an_argument_shares_its_memory(tg, view):
    for x, y in outputs(tg, view):
        assert shares(x, y)
        np.testing.assert_array_equal(y.numpy(), view(x).numpy())


def test_view_of_a_parameter_shares_its_memory_and_history(tg):
    w = ramp(tg, 3, 2).requires_grad_()
    for _, (row, cut) in outputs(tg, lambda x: (w[0], w[1].detach())):
        assert shares(row, w) and shares(cut, w) and row.requires_grad and not cut.requires_grad
        w.grad = None
        (row * 2).sum().backward()
        assert w.grad.tolist() == [[2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]


def test_results_that_share_memory(tg):
    def step(x):
        y = x * 2
        return y[0], y, y.t()

    for x, (row, whole, turned) in outputs(tg, step):
        assert shares(row, whole) and shares(turned, whole) and not shares(whole, x)
        whole.zero_()
        assert row.tolist() == [0.0] * 3 and turned.tolist() == [[0.0, 0.0]] * 3


def test_parts_without_their_whole(tg):
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        y = x * w
        return y[0], y[0:], y.detach()[1]

    for x, (row, rest, cut) in outputs(tg, step):
        assert shares(row, rest) and shares(cut, rest) and not cut.requires_grad
        w.grad = None
        (row.sum() + rest.sum()).backward()
        np.testing.assert_allclose(w.grad.numpy(), (2 * x[0] + x[1]).numpy(), rtol=1e-6)


def test_returned_gradient_is_the_gradient(tg):
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        w.grad = None
        (x * w).sum().backward()
        return w.grad, w.grad[1:]

    for _, (grad, part) in outputs(tg, step):
        assert grad is w.grad or not shares(grad, w.grad)  # of this call, or kept from an earlier one
        assert shares(grad, part)


def test_accumulated_gradient_is_returned(tg):
    w = ramp(tg, 3).requires_grad_()

    @tg.compile
    def step(x):
        (x * w).sum().backward()
        return w.grad

    for i in range(6):
        if i == 4:
            w.grad = ramp(tg, 3)
        assert step(ramp(tg, 3)) is w.grad


def test_history_of_a_used_result(tg):
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        loss = (w * x).pow(2).sum()
        loss.backward()
        return loss

    for _, loss in outputs(tg, step):
        assert loss.requires_grad and loss.grad_fn is not None
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()


def test_strides_are_the_eager_ones(agree):
    """Whatever the strides of the argument and of a captured tensor are. (Re-recorded calls give contiguous memory.)"""

    def make(tg):
        captured, kept = ramp(tg, 4, 4), []

        def args(i):
            x = ramp(tg, 4, 4)
            return ((x.t(), x[:, ::2].t(), x, x.t(), x[::2])[i % 5],)

        def between(i):
            captured.data = captured.data.t()

        def step(x):
            return x * 2, (x + 1).t(), x.exp()[:, :2], x.sum(0), captured * 2

        def after(i, out):
            kept.append([(tensor.stride(), tensor.is_contiguous()) for tensor in out])

        return Program(step, args, lambda: kept, between, after=after)

    assert agree(make, calls=20).way == "replay"


def test_strides_of_what_can_be_differentiated(agree):
    def make(tg):
        w, kept = weight(tg, 3, 2), []

        def after(i, out):
            out.sum().backward()
            kept.append(out.stride())

        return Program(lambda x: (x * w).t(), lambda i: (batch(tg, i, 3, 2),), lambda: (kept, w), after=after)

    assert agree(make).way == "replay"


@pytest.mark.parametrize("axes", [0, 1, (0, 1)])
@pytest.mark.parametrize("shape", [(100_000, 2), (2, 100_000), (400, 500)])
def test_long_sums_do_not_drift(tg, axes, shape):
    """One float32 accumulator over 200,000 numbers of 0.1 would be off by a percent."""
    step = tg.compile(lambda x: (x + 0).sum(axes))
    x = tg.full(shape, 0.1)
    for _ in range(3):
        result = step(x)
    exact = np.full(shape, np.float32(0.1), np.float64).sum(axes)
    np.testing.assert_allclose(result.numpy(), exact, rtol=1e-5)  # a hundred roundings; the drift was 1e-2


@pytest.mark.parametrize("text", ["x[1:]", "x[1:][:1]", "x.t()", "x.split(1)[0]", "x.split(1)[0][0]", "x.unbind()[1]"])
def test_views_remember_how_they_were_made(tg, text):
    """What an in-place write outside refuses of a result, it refuses of a replayed one."""
    view = eval(f"lambda x: {text}", {})

    @tg.compile
    def step(x):
        with tg.set_grad_enabled("split" in text or "unbind" in text):
            return view(x)

    w = tg.ones(1, requires_grad=True)
    for i in range(5):
        result = step(tg.ones(3, 2) * i)
        result.mul_(2)
        with pytest.raises(RuntimeError, match="is being modified inplace"):
            result.add_(w)
    assert step.way == "replay"
