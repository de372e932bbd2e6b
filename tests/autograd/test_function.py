"""autograd.Function: user-defined operations with their own derivative."""

import collections

import pytest
from expected.compare import assert_close


@pytest.fixture
def scaled_exp(tg):
    class ScaledExp(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            result = x.exp() * scale
            ctx.scale = scale
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad_output):
            (result,) = ctx.saved_tensors
            return grad_output * result, None

    return ScaledExp


def test_forward_and_backward(tg, call, scaled_exp):
    def run(x):
        y = scaled_exp.apply(x, 2.0)
        y.sum().backward()
        return y.detach(), x.grad

    y, gradient = call(run, lambda: [tg.tensor([0.0, 1.0], requires_grad=True)])
    assert_close(y, [2.0, 5.4365637])
    assert_close(gradient, [2.0, 5.4365637])


def test_node_is_named_after_the_class(tg, scaled_exp):
    y = scaled_exp.apply(tg.ones(1, requires_grad=True), 1.0)
    assert type(y.grad_fn).__name__ == "ScaledExpBackward"
    assert "grad_fn=<ScaledExpBackward>" in repr(y)


def test_forward_is_not_tracked_and_sees_no_graph(tg):
    seen = []

    class Probe(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((x * 2).requires_grad)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(tg.is_grad_enabled())
            return g * 2

    Probe.apply(tg.ones(1, requires_grad=True)).backward()
    assert seen == [False, False]


def test_untracked_inputs_make_an_untracked_result(tg, scaled_exp):
    assert not scaled_exp.apply(tg.ones(1), 1.0).requires_grad


def test_saved_tensors_are_freed_after_backward(tg, scaled_exp):
    y = scaled_exp.apply(tg.ones(1, requires_grad=True), 1.0)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_needs_input_grad(tg):
    seen = []

    class Product(tg.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append(ctx.needs_input_grad)
            return (g * b if ctx.needs_input_grad[0] else None), (g * a if ctx.needs_input_grad[1] else None)

    x, constant = tg.tensor([2.0], requires_grad=True), tg.tensor([5.0])
    Product.apply(constant, x).backward()
    assert seen == [(False, True)]
    assert x.grad.tolist() == [5.0] and constant.grad is None


def test_several_outputs_and_missing_cotangents(tg):
    class SumAndDifference(tg.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b, a - b

        @staticmethod
        def backward(ctx, g_sum, g_difference):
            return g_sum + g_difference, g_sum - g_difference

    a, b = tg.tensor([1.0], requires_grad=True), tg.tensor([2.0], requires_grad=True)
    total, _ = SumAndDifference.apply(a, b)
    (total * 3).backward()
    assert a.grad.tolist() == [3.0] and b.grad.tolist() == [3.0]


def test_mark_non_differentiable(tg):
    class SortWithIndex(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            values, index = x * 2, x.argmax()
            ctx.mark_non_differentiable(index)
            return values, index

        @staticmethod
        def backward(ctx, g, _):
            return g * 2

    x = tg.tensor([1.0, 3.0], requires_grad=True)
    values, index = SortWithIndex.apply(x)
    assert values.requires_grad and not index.requires_grad and index.item() == 1
    values.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_mark_non_differentiable_of_an_input(tg):
    class Passing(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x * 2, x

        @staticmethod
        def backward(ctx, g, _):
            return g * 2

    x = tg.tensor([1.0, 3.0], requires_grad=True)
    doubled, passed = Passing.apply(x)
    assert doubled.requires_grad and not passed.requires_grad and x.requires_grad
    assert passed.data_ptr() == x.data_ptr()


def test_backward_must_return_one_gradient_per_input(tg):
    class Wrong(tg.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g

    y = Wrong.apply(tg.ones(1, requires_grad=True), tg.ones(1))
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of gradients \(expected 2, got 1\)"):
        y.backward()


def test_straight_through_estimator_in_a_model(tg, call):
    class Round(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    def gradient(x):
        (Round.apply(x * 3) * x).sum().backward()
        return x.grad

    # d/dx: straight through 3 x, plus the rounded factor itself.
    assert_close(call(gradient, lambda: [tg.tensor([0.5, 1.2], requires_grad=True)]), [3.5, 7.6])


def test_double_backward_through_tensor_operations(tg):
    class Cube(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = tg.tensor([2.0], requires_grad=True)
    (first,) = tg.autograd.grad(Cube.apply(x), x, create_graph=True)
    (second,) = tg.autograd.grad(first, x)
    assert first.item() == 12.0 and second.item() == 12.0


def test_setup_context_form(tg):
    class Square(tg.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = tg.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    assert x.grad.item() == 6.0


def test_a_sparse_matrix_is_saved_as_a_tensor_is(tg):
    """As graph networks with hand-written derivatives do; what is no tensor is refused."""

    class Product(tg.autograd.Function):
        @staticmethod
        def forward(ctx, indices, values, b):
            a = tg.sparse_coo_tensor(indices, values, (2, 2))
            ctx.save_for_backward(a, b)
            return tg.matmul(a, b)

        @staticmethod
        def backward(ctx, grad_output):
            a, b = ctx.saved_tensors
            rows, columns = a._indices()
            return None, grad_output.matmul(b.t())[rows, columns], a.t().matmul(grad_output)

    indices, values = tg.tensor([[0, 1, 1], [1, 0, 1]]), tg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = tg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    Product.apply(indices, values, b).sum().backward()
    assert_close(values.grad, [7.0, 3.0, 7.0])
    assert_close(b.grad, [[2.0, 2.0], [4.0, 4.0]])


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("kind", [tuple, collections.namedtuple("Pair", "first second")._make])
def test_results_are_a_tuple_of_no_class_of_its_own(tg, requires_grad, kind):
    class Two(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return kind((x * 2, x * 3))

        @staticmethod
        def backward(ctx, *gradients):
            return sum(gradients)

    assert type(Two.apply(tg.ones(2, requires_grad=requires_grad))) is tuple


@pytest.mark.parametrize("dirty", [False, True])
@pytest.mark.parametrize("tracked", ["x", "y", "xy"])
def test_a_saved_input_that_is_returned_has_its_own_history(tg, tracked, dirty):
    """As the input that it is, unless it was written to and is the output itself."""

    class First(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            if dirty:
                ctx.mark_dirty(x.mul_(1))
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            found.append((x.requires_grad, x.grad_fn))
            return g, g

    found = []
    x, y = (tg.ones(2, requires_grad=name in tracked) * 1 for name in "xy")
    before = x.grad_fn
    out = First.apply(x, y)
    out.sum().backward()
    assert found == ([(True, out.grad_fn)] if dirty else [("x" in tracked, before)])
