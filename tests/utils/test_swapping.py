"""``utils.swap_tensors``: who holds one of two tensors has the other."""

import pytest

import tracegrad as tg


def test_memory_class_attributes_and_gradients_change_places():
    x, y = tg.zeros(2), tg.nn.Parameter(tg.ones(3))
    x.mark = "of x"
    y.sum().backward()
    tg.utils.swap_tensors(x, y)
    assert type(x) is tg.nn.Parameter and type(y) is tg.Tensor
    assert x.tolist() == [1, 1, 1] and x.grad.tolist() == [1, 1, 1] and x.requires_grad
    assert y.tolist() == [0, 0] and y.grad is None and y.mark == "of x" and not hasattr(x, "mark")


def test_history_changes_places():
    w = tg.ones(2, requires_grad=True)
    x, y = w * 3, w.detach() * 5
    tg.utils.swap_tensors(x, y)
    assert x.grad_fn is None and y.grad_fn.name() == "MulBackward0"
    y.sum().backward()
    assert w.grad.tolist() == [3, 3]


def test_a_graph_that_is_there_reaches_the_leaf_where_it_is_now():
    w, other = tg.ones(2, requires_grad=True), tg.zeros(2)
    loss = (w * 3).sum()
    tg.utils.swap_tensors(w, other)
    loss.backward()
    assert other.grad.tolist() == [3, 3] and w.grad is None


@pytest.mark.parametrize("trains", [False, True])
def test_compiled_calls_see_the_new_parameter(trains):
    model = tg.nn.Linear(2, 1, bias=False)
    optimizer = tg.optim.SGD(model.parameters(), 0.1)

    def run(x):
        if trains:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        return model(x)

    step, x = tg.compile(run), tg.ones(1, 2)
    for _ in range(3):
        step(x)
    held = model.weight
    tg.utils.swap_tensors(held, tg.nn.Parameter(tg.full((1, 2), 5.0)))
    assert model.weight is held
    expected = 10.0 - (0.2 if trains else 0)
    assert step(x).item() == pytest.approx(expected)
    assert step(x).item() == pytest.approx(expected - (0.2 if trains else 0))


def test_a_tensor_that_keeps_its_gradient_stays():
    x = tg.ones(2, requires_grad=True) * 2
    x.retain_grad()
    with pytest.raises(RuntimeError, match="Cannot swap"):
        tg.utils.swap_tensors(x, tg.ones(2))
